"""Which files `.gitignore` leaves out, unless git has them all the same."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
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
_MAX_INDEX, _MOST_ENTRIES = 64 << 20, 200_000  # 20,000 are read in 15 ms
_HEADER, _EXTENDED, _LENGTH = 12, 0x4000, 0xFFF  # of a longer name its length says no more than that
_MAX_STARS = 6
"""Longer and more starry patterns are left out: matching them can take for ever."""


class Tracked:
    """Which paths below a directory git's index has: what it has is not ignored, whatever the patterns say.

    Of an index of version 4, of one that is split, and of one with very many entries, nothing is known.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, path: str) -> bool:
        """Whether the index has the file, or something in the directory, whose path ends in `/`."""
        name = self._prefix + os.fsencode(path)
        place = bisect_left(self._names, name)
        found = self._names[place] if place < len(self._names) else b""
        return found.startswith(name) if path.endswith("/") else found == name

    @cached_property
    def _top(self) -> Path | None:
        return next((each for each in (self._root, *self._root.parents) if (each / ".git").exists()), None)

    @cached_property
    def _prefix(self) -> bytes:
        below = self._root.relative_to(self._top).as_posix() if self._top is not None else "."
        return b"" if below == "." else os.fsencode(f"{below}/")

    @cached_property
    def _names(self) -> Sequence[bytes]:
        if self._top is None:
            return ()
        place = self._top / ".git"
        if place.is_file():  # of a worktree, or a submodule
            place = self._top / os.fsdecode(_read(place).partition(b"gitdir:")[2].strip())
        try:
            status = (place / "index").lstat()
        except (OSError, ValueError):  # there is none, or it is no path
            return ()
        return _entries(str(place / "index"), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)  # a run lists many times
def _entries(path: str, _time: int, _size: int) -> Sequence[bytes]:
    """The names in an index of version 2 or 3, in its order, which is theirs (gitformat-index(5))."""
    data = _read(Path(path))
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in {2, 3} or count > _MOST_ENTRIES:
        return ()
    names, at = list[bytes](), _HEADER
    for _ in range(count):
        flags = int.from_bytes(data[at + 60 : at + 62], "big")
        begin, length = at + (64 if flags & _EXTENDED else 62), flags & _LENGTH
        end = begin + length if length < _LENGTH else data.find(b"\0", begin)
        if not begin < end < len(data):
            break
        names.append(data[begin:end])
        at += ((end - at) // 8 + 1) * 8
    return names


def _read(path: Path) -> bytes:
    """A regular file's content; nothing if it is none, or too large, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
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
