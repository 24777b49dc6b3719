"""A record of a few files and directories, in memory, good enough to put them back. Links are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from codur.store.atomic import temporary_name
from codur.structs import Struct

_MAX_BYTES = 16_777_216
_MAX_FILE_BYTES = 1_048_576  # hooks and settings; a larger one that was changed is told and stays

Signature = tuple[int, int, int, int, int, int]
"""Device, inode, mode, size, times of the last change of content and of status (ns)."""


class Entry(Struct):
    """A file, directory or link as it was."""

    signature: Signature
    # bytes of a regular file, the target of a link; None for others, and for what is too large to keep
    content: bytes | None = None

    @property
    def mode(self) -> int:
        """Kind and permissions."""
        return self.signature[2]

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory itself, not a link to one."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)

    def same_as(self, other: Entry) -> bool:
        """Whether kind, permissions and content are the same."""
        if self.signature == other.signature:
            return True
        same = self.mode == other.mode and self.content == other.content
        return same and (self.is_directory or self.content is not None)


Record = dict[str, Entry]
"""Entries by path relative to the root; a directory comes before what is in it."""
Filter = Callable[[str], bool]


def record(root: Path, names: Iterable[str], wanted: Filter, known: Record, *, within: Record | None = None) -> Record:
    """What is at some names below a root, and what is in directories among them. Beyond a size no content is kept.

    Args:
        names: paths relative to the root.
        wanted: whether a path found inside a directory is recorded.
        known: an earlier record: what has not changed since is not read again.
        within: an earlier record: what is not in it is recorded by itself, without content and without what is in it.
    """
    found: Record = {}
    left = _MAX_BYTES
    waiting = list(names)
    while waiting:
        path = waiting.pop()
        earlier = None if within is None else within.get(path)
        try:
            entry = _entry(f"{root}/{path}", known.get(path), 0 if within is not None and earlier is None else left)
            entered = entry.is_directory and (within is None or (earlier is not None and earlier.is_directory))
            inside = [item.name for item in os.scandir(f"{root}/{path}")] if entered else []
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        found[path] = entry
        left -= len(entry.content or b"")
        waiting += [below for name in inside if wanted(below := f"{path}/{name}")]
    return found


def _entry(path: str, known: Entry | None, left: int) -> Entry:
    status = os.lstat(path)
    signature = (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        # Of a directory these change with every entry, and entries are recorded by themselves.
        0 if stat.S_ISDIR(status.st_mode) else status.st_size,
        0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns,
        0 if stat.S_ISDIR(status.st_mode) else status.st_ctime_ns,
    )
    if known is not None and known.signature == signature:
        return known
    if stat.S_ISLNK(status.st_mode):
        return Entry(signature=signature, content=os.fsencode(Path(path).readlink()))
    if not stat.S_ISREG(status.st_mode) or status.st_size > min(_MAX_FILE_BYTES, left):
        return Entry(signature=signature)
    return Entry(signature=signature, content=_content(path))


def _content(path: str) -> bytes | None:
    try:
        # Without O_NONBLOCK a pipe that was put in its place would be waited for.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(_MAX_FILE_BYTES + 1)


def put_back(root: Path, path: str, entry: Entry) -> bool:
    """Make a file, directory or link as it was; nothing else is at its place but an older form of the same kind.

    Returns:
        False if its content was not kept.

    Raises:
        OSError: it cannot be made.
    """
    place = root / path
    if entry.is_directory:
        if not place.is_dir():
            place.mkdir()
        place.chmod(stat.S_IMODE(entry.mode))
        return True
    if entry.content is None:
        return False
    # In one step: git may read its settings at any moment.
    spare = place.with_name(temporary_name(place.name))
    if stat.S_ISLNK(entry.mode):
        spare.symlink_to(os.fsdecode(entry.content))
    else:
        opened = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(entry.content)
            # made for the user alone first, and given away when it is whole
            os.fchmod(file.fileno(), stat.S_IMODE(entry.mode))
    spare.replace(place)
    return True
