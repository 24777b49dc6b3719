"""Which withheld file the words for a program name. Said plainly, so that nobody tries: words can be put together."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator

from codur.tools.tool import ToolError
from codur.workspace.workspace import Workspace

_WORD = re.compile(r"[^\s;|&<>()'\"=`]+")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def require_none_named(words: Iterable[str], workspace: Workspace) -> None:
    """Make sure that no argument of a program names a withheld file, or a link to one.

    Raises:
        ToolError: one does (code `refused`).
    """
    _refuse((part for word in words for part in _WORD.findall(word)), workspace)


def require_none_in_command(command: str, workspace: Workspace) -> None:
    """As `require_none_named` for a shell's command line, with its patterns expanded.

    A pattern is tried in the root and in each directory that the line names, as the line may go there first.

    Raises:
        ToolError: a word names a withheld file (code `refused`).
    """
    words = _WORD.findall(command)
    _refuse(words, workspace)
    bases = ["", *dict.fromkeys(word for word in words if workspace.is_dir(word))]
    bare = _QUOTED.sub(lambda found: glob.escape(found[1] or found[2] or ""), command)
    patterns = [word for word in _WORD.findall(bare) if glob.has_magic(word)]
    _refuse((path for base in bases for pattern in patterns for path in _expanded(base, pattern, workspace)), workspace)


def _expanded(base: str, pattern: str, workspace: Workspace) -> Iterator[str]:
    """What a pattern stands for in a directory of the workspace; nothing for one that leads out of it."""
    pattern = pattern.removeprefix(f"{glob.escape(str(workspace.root))}/")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return
    for path in glob.iglob(pattern, root_dir=workspace.resolve(base)):  # noqa: PTH207 - as a shell: no hidden ones
        yield f"{base}/{path}" if base else path


def _refuse(names: Iterable[str], workspace: Workspace) -> None:
    named = next(filter(workspace.hides, names), "")
    if named:
        raise ToolError("refused", f"{named} may hold keys or passwords, which no model is shown")
