"""Files of dependency directories that have further names elsewhere: uv and pnpm link them from their caches.

A program that changes such a file changes the cache, and with it every project that uses it. Nobody but the tools that
install has to write there, so the directories that hold such files are shown read-only where that can be done;
elsewhere changes are noticed.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from codur.sandbox.scratch import entries_of

INSTALLED = frozenset({"node_modules", ".venv", "venv", ".tox", ".nox", "site-packages"})
"""What tools install into."""
_MAX_DIRECTORIES = 5_000  # one look at the start of a run, which the user waits for
_MAX_PARTS = 64
_MAX_FILES = 100_000

Stamps = dict[str, tuple[int, int, int]]
"""Size and times of the last change of content and of status (ns), by path."""


def linked_directories(root: Path) -> tuple[str, ...]:
    """The directories in a workspace's dependency directories, relative to it, that hold files with further names.

    Those directly below a dependency directory, so that a tool's cache beside them can be written; it itself, if they
    are many or it holds such a file. To know a directory without any takes a look at all of its files.
    """
    found: list[str] = []
    waiting = [str(root)]
    for base in waiting:
        for entry in entries_of(base):
            if not entry.is_dir(follow_symlinks=False) or entry.name == ".git":
                continue
            if entry.name in INSTALLED or os.path.lexists(f"{entry.path}/pyvenv.cfg"):  # environments have any name
                found += _parts(entry.path)
            elif len(waiting) < _MAX_DIRECTORIES:
                waiting.append(entry.path)
    return tuple(os.path.relpath(path, root) for path in found)


def stamps(root: Path, directories: tuple[str, ...]) -> Stamps:
    """The files with further names in some directories; a limited number."""
    found: Stamps = {}
    for directory in directories:
        for path, status in _linked(f"{root}/{directory}"):
            if len(found) >= _MAX_FILES:
                return found
            found[path] = _stamp(status)
    return found


def changed(before: Stamps) -> tuple[str, ...]:
    """The files that are there and not as they were."""
    found = []
    # Here it is found too late for the cache; it is told, and the user can have it made anew.
    for path, stamp in before.items():
        with suppress(OSError):
            if _stamp(os.lstat(path)) != stamp:
                found.append(path)
    return tuple(found)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parts(top: str) -> list[str]:
    """The directories below one that hold linked files; itself if it does, or if they are many."""
    entries = entries_of(top)
    if any(not entry.is_dir(follow_symlinks=False) and _is_linked(entry) for entry in entries):
        return [top]
    inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    parts: list[str] = []
    for path in inner:
        if next(_linked(path), None) is not None:
            parts.append(path)
        if len(parts) > _MAX_PARTS:
            return [top]
    return parts


def _linked(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files below a directory that have further names."""
    waiting = [top]
    while waiting:
        for entry in entries_of(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif _is_linked(entry):
                yield entry.path, entry.stat(follow_symlinks=False)


def _is_linked(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        return stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    return False
