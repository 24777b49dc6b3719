"""A look at everything in a workspace that programs may change, by file status alone."""

import os
import stat
from collections.abc import Collection
from typing import NamedTuple

from codur.store.atomic import is_stray
from codur.structs import Struct, field
from codur.workspace.disk.path_state import Kind
from codur.workspace.disk.root import Root
from codur.workspace.listing import BUILDS, MADE_BY, SKIPPED_DIRECTORIES
from codur.workspace.problems import FileError

# Settings of agents and editors are no caches: what programs change there is to be seen.
CACHES: frozenset[str] = SKIPPED_DIRECTORIES - {".codur", ".claude", ".idea", ".vscode"}
"""Directories that are not looked into: version control, environments, caches."""


class Status(NamedTuple):
    """What tells that a path has changed; times in nanoseconds; `names` that a file has, here and elsewhere."""

    kind: Kind
    mode: int
    size: int = 0
    modified: int = 0
    changed: int = 0
    inode: int = 0
    names: int = 1


class Scan(Struct, frozen=False, kw_only=False):
    """What was seen."""

    entries: dict[str, Status] = field(default_factory=dict)  # files, links, directories and others by relative path
    strays: list[str] = field(default_factory=list)  # temporary files of dead processes
    # directories that were not looked into: caches, unreadable ones, and those that were too many
    unseen: set[str] = field(default_factory=set)
    complete: bool = True  # there were not too many

    def saw(self, path: str) -> bool:
        """Whether the path would have been seen if it had been there."""
        return not any(path.startswith(f"{name}/") or path == name for name in self.unseen)


def scan(root: Root, *, known: Collection[str] = (), limit: int) -> Scan:
    """Look through the workspace, the outer directories first.

    Args:
        known: directories that are looked into whatever is in them: a program that makes a source directory look like
            a cache must not hide what it does there.
        limit: entries at most.

    Raises:
        FileError: the workspace is not there any more.
    """
    found = Scan()
    waiting = [""]
    # Level by level, so that a limit leaves out what lies deep and not what comes late in the alphabet.
    for place, base in enumerate(waiting):
        if len(found.entries) >= limit:
            found.unseen.update(waiting[place:])
            found.complete = False
            break
        try:
            with root.directory(base) as descriptor, os.scandir(descriptor) as listing:
                entries = list(listing)
                names = {entry.name for entry in entries}
                if base and base not in known and not MADE_BY.isdisjoint(names):
                    found.unseen.add(base)
                    continue
                waiting += _take(f"{base}/" if base else "", entries, names, found)
        except FileError:
            raise
        except OSError:  # not ours to read, or just gone: nothing is known of it
            found.unseen.add(base)
    return found


def _take(prefix: str, entries: list[os.DirEntry[str]], names: set[str], found: Scan) -> list[str]:
    """Note the entries of one directory; returns the directories to look into."""
    inner: list[str] = []
    is_build = not names.isdisjoint(BUILDS)
    for entry in entries:
        name = entry.name
        path = prefix + name
        if name.startswith(".") and is_stray(name):
            found.strays.append(path)
            continue
        try:
            status = _status(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            continue
        if status.kind != "directory":
            found.entries[path] = status
        elif name in CACHES or (is_build and name == "target"):
            found.unseen.add(path)
        else:
            found.entries[path] = status
            inner.append(path)
    return inner


def _status(status: os.stat_result) -> Status:
    mode, changed, inode = status.st_mode, status.st_ctime_ns, status.st_ino
    if stat.S_ISREG(mode):
        bits = mode & 0o7777
        return Status("file", bits, status.st_size, status.st_mtime_ns, changed, inode, status.st_nlink)
    if stat.S_ISDIR(mode):
        return Status("directory", mode & 0o7777)
    if stat.S_ISLNK(mode):
        return Status("link", 0, 0, status.st_mtime_ns, changed, inode)
    return Status("other", 0, 0, 0, 0, inode)
