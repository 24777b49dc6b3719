"""A merge, rebase, cherry-pick or revert that is under way: what git says of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codur.lazy import regex
from codur.structs import Struct, replace
from codur.tools.git.git_repository import Repository, repository_around
from codur.tools.tool import ToolError

if TYPE_CHECKING:
    from codur.sandbox.launcher import Launcher

_MARKS: Mapping[str, str] = {
    "rebase-merge": "rebase",  # first: the commit that a rebase stopped at is picked, too
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
_BOTH = frozenset({"DD", "AA", "UU"})
_LOOK_S = 5.0
_MAX_BYTES = 5_000_000
_SUBJECT, SHOWN = 72, 20
_BEGINS, _ENDS = regex(rb"<{7,} "), regex(rb">{7,} ")


class UnderWay(Struct):
    """What git has begun and not finished."""

    kind: str  # merge, rebase, cherry-pick or revert
    about: str  # the first line of its message; empty if there is none
    unmerged: Mapping[str, str]  # by path from the workspace: how both sides changed it, in git's two letters
    marked: Mapping[str, str]  # those that hold conflict markers, and at which lines
    unclear: Sequence[str]  # those in which no marker can show that nothing was decided: deleted on one side, binary

    @property
    def finish(self) -> str:
        """The command line that finishes it once nothing is marked any more."""
        paths = " ".join(map(shlex.quote, self.unmerged)) if len(self.unmerged) <= SHOWN else "-u"
        done = "commit --no-edit" if self.kind == "merge" else f"{self.kind} --continue"
        return f"git add {paths} && git {done}" if self.unmerged else f"git {done}"

    @property
    def marks(self) -> str:
        """The files with conflict markers, with the lines."""
        return "; ".join(f"{path}: lines {lines}" for path, lines in list(self.marked.items())[:SHOWN])

    @property
    def told(self) -> str:
        """What git says, in a line."""
        rest = [path for path in self.unmerged if path not in self.marked][:SHOWN]
        lines = [f"a {self.kind} is under way{f' ({self.about})' if self.about else ''}"]
        lines += [f"unmerged, with conflict markers: {self.marks}"] if self.marked else []
        lines += [f"unmerged, without conflict markers: {', '.join(rest)}"] if rest else []
        return "; ".join(lines)


def seen_under_way(root: Path, launcher: Launcher) -> UnderWay | None:
    """What is under way in the repository around a directory; None if nothing is, or git cannot tell."""
    try:
        return under_way(repository_around(root, launcher, _LOOK_S))
    except ToolError:
        return None


def under_way(repository: Repository) -> UnderWay | None:
    """What is under way in a repository; ToolError as `Repository.safe`."""
    own, top = repository.own[0], repository.top
    kind = next((kind for name, kind in _MARKS.items() if os.path.lexists(own / name)), "")
    if not kind:
        return None
    options = ("--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")
    items = replace(repository, root=top).safe("status", *options).split("\0")
    unmerged = {os.path.relpath(top / each[3:], repository.root): each[:2] for each in items if each[:2] in _UNMERGED}
    marked = {path: ", ".join(lines) for path in unmerged if (lines := list(_marked(repository.root / path)))}
    first = text_of(own / "MERGE_MSG").strip().partition("\n")[0]
    # The files whose conflict markers have another length than git's own
    paths = list(unmerged)
    words = repository.safe("check-attr", "-z", "conflict-marker-size", "--", *paths).split("\0") if paths else []
    sized = {path for path, value in zip(words[::3], words[2::3], strict=False) if value != "unspecified"}
    unclear = [
        path
        for path, how in unmerged.items()
        if how not in _BOTH
        or path in sized
        or not _is_plain(repository.root / path)
        or b"\0" in _bytes(repository.root / path)
    ]
    return UnderWay(kind=kind, about=first[:_SUBJECT], unmerged=unmerged, marked=marked, unclear=unclear)


def _marked(path: Path) -> Iterator[str]:
    """The ranges of lines that conflict markers of git enclose; of a lone one its line."""
    begun = 0
    for number, line in enumerate(_bytes(path).splitlines(), start=1):
        if _BEGINS.match(line):
            begun = number
        elif _ENDS.match(line):
            yield f"{begun}-{number}" if begun else f"{number}"
            begun = 0
    if begun:
        yield f"{begun}"


def _is_plain(path: Path) -> bool:
    """Whether markers would be seen in a file: it is no link, no submodule and not very large; or it is gone."""
    if not os.path.lexists(path):
        return True
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= _MAX_BYTES


def _bytes(path: Path) -> bytes:
    """What a plain file holds; nothing where there is none."""
    return path.read_bytes() if path.is_file() and _is_plain(path) else b""


def text_of(path: Path) -> str:
    """What a plain file of git's says; empty if there is none."""
    return _bytes(path).decode("utf-8", "replace")
