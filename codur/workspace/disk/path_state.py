"""What is at a path at one moment, as far as it can be put back: kind, mode, content by reference."""

import hashlib
import os
import stat
from typing import Literal

from codur.store.blobs import BlobStore
from codur.structs import Struct
from codur.workspace.disk.file_access import open_file, reported
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError, from_os_error

Kind = Literal["file", "link", "directory", "other"]


class PathState(Struct, omit_defaults=True):
    """What is at a path; None stands for nothing."""

    kind: Kind
    content: str = ""  # SHA-256 of a file's bytes; empty if they were not read
    mode: int = 0  # permission bits of a file or directory
    target: str = ""  # where a link leads
    stamp: str = ""  # tells an unread file from another (size, time, inode)


def same(one: PathState | None, other: PathState | None) -> bool:
    """Whether both are of one kind and hold the same; the mode does not count."""
    if one is None or other is None:
        return one is other
    if one.kind != other.kind or one.target != other.target:
        return False
    # One of them was not read, for its size: then size, time and inode have to do.
    if one.kind == "file" and not (one.content and other.content):
        return bool(one.stamp) and one.stamp == other.stamp
    return one.content == other.content


def file_state(data: bytes, mode: int) -> PathState:
    """The state of a file with these bytes."""
    return PathState(kind="file", content=hashlib.sha256(data).hexdigest(), mode=mode)


def stamp_of(status: os.stat_result) -> str:
    """What tells a file from another without reading it."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def present(
    root: Root, relative: str, *, keep: BlobStore | None = None, max_bytes: int | None = None
) -> PathState | None:
    """What is at a path now; links are not followed.

    Args:
        keep: where to put a file's content.
        max_bytes: a larger file is not read.

    Raises:
        FileError: it cannot be looked at, or a part of the path is a link.
        StateError: the content cannot be kept.
    """
    try:
        with root.parent(relative) as (directory, name):
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                return PathState(kind="link", target=os.readlink(name, dir_fd=directory))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise from_os_error(relative, error) from error
    if stat.S_ISDIR(status.st_mode):
        return PathState(kind="directory", mode=stat.S_IMODE(status.st_mode))
    if not stat.S_ISREG(status.st_mode):
        return PathState(kind="other")
    if max_bytes is not None and status.st_size > max_bytes:
        return PathState(kind="file", mode=stat.S_IMODE(status.st_mode), stamp=stamp_of(status))
    try:
        with reported(relative), open_file(root, relative) as descriptor:
            status = os.fstat(descriptor)
            if keep:
                content = keep.put_file(descriptor, durable=False)
            else:
                with open(descriptor, "rb", closefd=False) as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileError as problem:
        if problem.code == "not_found":
            return None
        raise
    return PathState(kind="file", content=content, mode=stat.S_IMODE(status.st_mode), stamp=stamp_of(status))
