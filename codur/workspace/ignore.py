"""Which files `.gitignore` leaves out, unless git has them all the same."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codur.structs import Struct
from codur.workspace.disk.file_access import read_image
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"
_MAX_BYTES = 262_144
_MAX_PATTERN = 1_000
_MAX_INDEX = 128 << 20
_LENGTH = 0xFFF  # the bits that say how long a name is; of a longer one it is this number
_MAX_STARS = 6
"""Longer and more starry patterns are left out: matching them can take for ever."""


class Tracked:
    """Which paths below a directory git's index has: what it has is not ignored, whatever the patterns say.

    Names are looked for in the index as it lies there (gitformat-index(5), versions 2 and 3; of version 4, which cuts
    names short, nothing is known), as it may have very many.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, path: str) -> bool:
        """Whether the index has the file, or something in the directory, whose path ends in `/`."""
        name, place = self._prefix + os.fsencode(path), -1
        while (place := self._index.find(name, place + 1)) >= 0:
            end = self._index.find(b"\0", place)
            length = int.from_bytes(self._index[place - 2 : place], "big") & _LENGTH
            # The name begins here, by its length before it, and it is this one or below it.
            if length == min(end - place, _LENGTH) and (path.endswith("/") or end - place == len(name)):
                return True
        return False

    @cached_property
    def _top(self) -> Path | None:
        return next((each for each in (self._root, *self._root.parents) if (each / ".git").exists()), None)

    @cached_property
    def _prefix(self) -> bytes:
        below = self._root.relative_to(self._top).as_posix() if self._top is not None else "."
        return b"" if below == "." else os.fsencode(f"{below}/")

    @cached_property
    def _index(self) -> bytes:
        if self._top is None:
            return b""
        place = self._top / ".git"
        if place.is_file():  # of a worktree, or a submodule
            place = self._top / os.fsdecode(_read(place).partition(b"gitdir:")[2].strip())
        data = _read(place / "index")
        return data if data[:4] == b"DIRC" and int.from_bytes(data[4:8], "big") in {2, 3} else b""


def _read(path: Path) -> bytes:
    """A regular file's content; nothing if it is none, or too large, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        whole = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_INDEX
        return stream.read(_MAX_INDEX) if whole else b""


class IgnoreRules(Struct):
    """The patterns of one `.gitignore`, and those of the directories above it."""

    base: str  # the directory of the file, as a prefix of paths: empty or ending in `/`
    spec: GitIgnoreSpec
    above: IgnoreRules | None

    def ignores(self, path: str) -> bool:
        """Whether the path (a directory's ends in `/`) is left out; the nearest file that says anything decides."""
        rules: IgnoreRules | None = self
        while rules is not None:
            include = rules.spec.check_file(path[len(rules.base) :]).include
            if include is not None:
                return include
            rules = rules.above
        return False


def load(root: Root, base: str, above: IgnoreRules | None) -> IgnoreRules | None:
    """The rules of the `.gitignore` in directory `base`; those from above if it cannot be read, as git does."""
    try:
        data = read_image(root, f"{base}{NAME}", max_bytes=_MAX_BYTES).data
    except FileError:
        return above
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - lazy: most workspaces of one file have no .gitignore

    spec = GitIgnoreSpec([])
    for line in filter(_usable, data.decode("utf-8", "replace").splitlines()):
        with suppress(ValueError):  # no pattern, which for git matches nothing
            spec += GitIgnoreSpec.from_lines([line])
    return IgnoreRules(base=base, spec=spec, above=above) if spec.patterns else above


def _usable(line: str) -> bool:
    pattern = line.strip()
    if not pattern or pattern.startswith("#") or not pattern.strip("!/"):
        return False
    return len(pattern) <= _MAX_PATTERN and pattern.count("*") <= _MAX_STARS
