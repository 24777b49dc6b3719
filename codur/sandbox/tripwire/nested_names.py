"""Where in a workspace things are that other programs act on, at every depth: protected names, and repositories."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import NamedTuple

from codur.config.protected import PROTECTED_NAMES, REPOSITORY_PARTS, fold, is_repository
from codur.structs import Struct, field

_ACTED_ON = REPOSITORY_PARTS - {"HEAD", "objects", "refs"}
"""What makes git run or read something."""
_OBJECTS = "objects"
_COARSE_NS = 50_000_000
"""Longer than any file system clock stands still: what changed this short ago may change again and not show it."""

Identity = tuple[int, int]
"""Device and inode."""


class _Directory(NamedTuple):
    """What counts in a directory; a program cannot set the time at which its entries last changed."""

    identity: Identity
    changed: int = 0
    inner: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()


class Look(Struct, frozen=False, kw_only=False):
    """What is there."""

    # protected paths, relative to the workspace: those with a protected name, which are not looked into, and what git
    # acts on in directories that it takes for repositories
    protected: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)  # what else makes git take these directories for repositories
    parts: set[str] = field(default_factory=set)  # all names of a repository's parts, wherever they are
    directories: dict[str, Identity] = field(default_factory=dict)  # all directories that were looked into

    def since(self, before: Look) -> set[str]:
        """The protected paths of that look that are still there, and those that are new."""
        kept = before.protected & (self.protected | self.parts)
        return kept | ((self.protected | self.marks) - before.protected - before.parts)


class ProtectedPaths:
    """Looks for the protected paths of a workspace. Links are not followed; only what changed is read again."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._known: dict[str, _Directory] = {}
        self._armed = self._known

    def look(self, *, opened: bool = False) -> Look:
        """What is there now.

        Args:
            opened: a program had its way since the last look: a directory that it closed is opened, and what it made
                too deep to be looked at is protected, so that it does not stay.
        """
        found = Look()
        seen: dict[str, _Directory] = {}
        waiting = [""]
        for base in waiting:
            try:
                here = seen[base] = self._directory(base, opened=opened)
            except OSError as error:
                # A program made it so deep that no path reaches it; its top is what can be taken away.
                if error.errno == errno.ENAMETOOLONG:
                    seen[base] = _Directory((0, 0))
                    found.protected.update(self._first_new(base) if opened else ())
                continue
            prefix = f"{base}/" if base else ""
            found.directories[base] = here.identity
            found.protected.update(prefix + name for name in here.names)
            found.parts.update(prefix + name for name in here.parts)
            inner = here.inner
            if is_repository(here.parts):
                found.protected.update(prefix + name for name in here.parts & _ACTED_ON)
                found.marks.update(prefix + name for name in here.parts - _ACTED_ON)
                # thousands of directories in which git runs nothing
                inner = tuple(name for name in inner if name != _OBJECTS)
            waiting += [prefix + name for name in inner]
        self._known = seen
        if not opened:
            self._armed = seen
        return found

    def _directory(self, base: str, *, opened: bool) -> _Directory:
        path = f"{self._root}/{base}"
        status = os.lstat(path)
        known = self._known.get(base)
        identity = (status.st_dev, status.st_ino)
        # The change time, since a program can set the time of modification.
        if known is not None and (known.identity, known.changed) == (identity, status.st_ctime_ns):
            return known
        settled = time.time_ns() - status.st_ctime_ns > _COARSE_NS
        inner, names, parts = [], [], []
        for entry in self._entries(path, opened=opened):
            name = entry.name
            # File systems that fold case take `.GIT` and odd letters for `.git`; the test in front spares the folding
            # for nearly all names.
            if (name[0] == "." or not name.isascii()) and fold(name) in PROTECTED_NAMES:
                names.append(name)
                continue
            if name in REPOSITORY_PARTS:
                parts.append(name)
            if entry.is_dir(follow_symlinks=False):
                inner.append(name)
        changed = status.st_ctime_ns if settled else 0
        return _Directory(identity, changed, tuple(inner), tuple(names), frozenset(parts))

    def _entries(self, path: str, *, opened: bool) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(path))
        except PermissionError:
            if not opened:
                return []
            Path(path).chmod(0o700)
            return list(os.scandir(path))

    def _first_new(self, path: str) -> list[str]:
        """The highest directory on the way to a path that was not there before the program."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return [item for item in above if item not in self._armed][:1]
