"""Reading and replacing single files beneath a root, without following a link on the way.

A file that has other names (hard links) may be read: package managers and git worktrees make such files. Writing never
changes the old inode: the new bytes get one of their own under this name, and the other names keep the old bytes.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from codur.store.atomic import temporary_name
from codur.structs import Struct
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError, from_os_error

# O_NONBLOCK: a pipe that took the file's place would be waited for; O_NOCTTY: a terminal would become ours.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_ATTRIBUTES = frozenset({errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.ENOSPC})
_PRIVATE = 0o600
_PIECE = 1_048_576
OVERLAP = 4_096  # a match may lie across two pieces


class Image(Struct):
    """What a regular file holds, and its permission bits."""

    data: bytes
    mode: int


def read_image(root: Root, relative: str, *, max_bytes: int) -> Image:
    """The regular file at `relative`.

    Raises:
        FileError: it is absent, not a regular file, larger than `max_bytes`, or unreadable.
    """
    with reported(relative), open_file(root, relative, max_bytes=max_bytes) as descriptor:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _too_large(relative, max_bytes)
    return Image(data=data, mode=mode)


def beginning(root: Root, relative: str, *, limit: int) -> tuple[bytes, int]:
    """The first `limit` bytes of a file of any size, and its size.

    Raises:
        FileError: absent, a directory, not a regular file, or unreadable.
    """
    with reported(relative), open_file(root, relative) as descriptor, os.fdopen(os.dup(descriptor), "rb") as stream:
        return stream.read(limit), os.fstat(descriptor).st_size


def holds(root: Root, relative: str, expression: re.Pattern[bytes], *, limit: int) -> tuple[bool, int]:
    """Whether a match is in the first `limit` bytes of a file of any size, and how many of them were read.

    Args:
        expression: its matches are at most `OVERLAP` bytes long.

    Raises:
        FileError: absent, a directory, not a regular file, or unreadable.
    """
    size, tail = 0, b""
    with reported(relative), open_file(root, relative) as descriptor:
        while size < limit and (piece := os.read(descriptor, min(_PIECE, limit - size))):
            size += len(piece)
            if expression.search(tail + piece):
                return True, size
            tail = (tail + piece)[-OVERLAP:]
    return False, size


@contextlib.contextmanager
def open_file(root: Root, relative: str, *, max_bytes: int | None = None) -> Iterator[int]:
    """The regular file at `relative`, open for reading.

    Raises:
        FileError: it is not a regular file, or larger than `max_bytes`.
        OSError: it is absent or cannot be opened.
    """
    with root.parent(relative) as (directory, name):
        # Opening a device can already do something, so it is looked at first.
        _require_regular(os.stat(name, dir_fd=directory, follow_symlinks=False), relative, max_bytes)
        descriptor = os.open(name, _READ, dir_fd=directory)
    try:
        # Once more, of what was opened: in between another thing may have taken the name.
        _require_regular(os.fstat(descriptor), relative, max_bytes)
        yield descriptor
    finally:
        os.close(descriptor)


def _require_regular(status: os.stat_result, relative: str, max_bytes: int | None) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{relative or '.'} is a directory, not a file", code="not_a_file")
    if stat.S_ISLNK(status.st_mode):
        raise FileError(f"{relative} is a symbolic link that leads nowhere", code="not_found")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{relative} is not a regular file", code="not_a_file")
    if max_bytes is not None and status.st_size > max_bytes:
        raise _too_large(relative, max_bytes)


def _too_large(relative: str, max_bytes: int) -> FileError:
    return FileError(
        f"{relative} is larger than {max_bytes // 1024} KiB",
        code="too_large",
        remedy="Raise tools.max_file_kb to work on it.",
    )


def part(root: Root, relative: str, old: bytes, *, mode: int) -> bool:
    """Make a file that has other names, too, one of its own, and put back what it held for those.

    Args:
        mode: permission bits of the others.

    Returns:
        False if the content is not another one.

    Raises:
        FileError: it cannot be written.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with reported(relative), root.parent(relative) as (directory, name):
        opened = os.open(name, flags, dir_fd=directory)
        with os.fdopen(opened, "r+b") as file:
            status = os.fstat(opened)
            data = file.read() if stat.S_ISREG(status.st_mode) else old
            if data == old and stat.S_IMODE(status.st_mode) == mode:
                return False
            write_image(root, relative, data, mode=stat.S_IMODE(status.st_mode), durable=True)
            file.seek(0)
            file.write(old)
            file.truncate()
            os.fchmod(opened, mode)
    return True


def write_image(root: Root, relative: str, data: bytes, *, mode: int | None, durable: bool) -> int:
    """Put `data` at `relative` in one step: a reader sees the old file or the new one, never a part.

    Owner and extended attributes of an old file are kept as far as the system lets us.

    Args:
        mode: permission bits; None gives a new file what the umask allows.
        durable: wait until the data is on disk.

    Returns:
        The file's permission bits.

    Raises:
        FileError: it cannot be written; the old file is as it was.
    """
    with reported(relative), root.parent(relative, make=True) as (directory, name):
        with _replacing(directory, name) as temporary:
            descriptor = os.open(temporary, _CREATE, 0o666 if mode is None else _PRIVATE, dir_fd=directory)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                _dress(stream.fileno(), directory, name, mode)
                found = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
                if durable:
                    os.fsync(stream.fileno())
        if durable:
            os.fsync(directory)
    return found


@contextlib.contextmanager
def _replacing(directory: int, name: str) -> Iterator[str]:
    """A temporary name for what is then put in the place of `name` in one step, or taken away if that fails."""
    temporary = temporary_name(name)
    try:
        yield temporary
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        raise


def _dress(descriptor: int, directory: int, name: str, mode: int | None) -> None:
    """Give the new file the old one's owner and attributes, and the wanted permission bits."""
    if mode is None:
        return
    with contextlib.suppress(FileNotFoundError, PermissionError):
        old = os.stat(name, dir_fd=directory, follow_symlinks=False)
        new = os.fstat(descriptor)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            # Before the mode: a change of owner clears the bits for set-user-ID.
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        _copy_attributes(descriptor, directory, name)
    os.fchmod(descriptor, mode)


def _copy_attributes(descriptor: int, directory: int, name: str) -> None:
    """Copy extended attributes, among them access lists; those that the system keeps to itself are left out."""
    try:
        old = os.open(name, _READ, dir_fd=directory)
    except OSError:  # absent, or not ours to read: there is nothing to copy
        return
    try:
        with _unless_refused():
            for attribute in os.listxattr(old):
                with _unless_refused():
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
    finally:
        os.close(old)


@contextlib.contextmanager
def _unless_refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTES:
            raise


def write_new(root: Root, relative: str, data: bytes, *, mode: int) -> bool:
    """Make a file where nothing is, in one step; says whether nothing was there.

    Raises:
        FileError: it cannot be made.
    """
    with reported(relative), root.parent(relative) as (directory, name):
        temporary = temporary_name(name)
        descriptor = os.open(temporary, _CREATE, _PRIVATE, dir_fd=directory)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                os.fchmod(stream.fileno(), mode)
            # link(2) fails where something is, which rename(2) would replace.
            os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary, dir_fd=directory)
    return True


def write_link(root: Root, relative: str, target: str) -> None:
    """Put a symbolic link at `relative` in one step, in place of the file or link there.

    Raises:
        FileError: it cannot be made.
    """
    with (
        reported(relative),
        root.parent(relative, make=True) as (directory, name),
        _replacing(directory, name) as spare,
    ):
        os.symlink(target, spare, dir_fd=directory)


def make_directory(root: Root, relative: str) -> None:
    """Make a directory and those above it, as far as they are missing. Raises FileError: it cannot be made."""
    with reported(relative), root.directory(relative, make=True):
        pass


def set_mode(root: Root, relative: str, mode: int) -> None:
    """Give a regular file or a directory these permission bits. Raises FileError: it is something else, or not ours."""
    with reported(relative), root.parent(relative) as (directory, name):
        if not hasattr(os, "O_PATH"):
            os.chmod(name, mode, dir_fd=directory, follow_symlinks=False)
            return
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                _require_regular(os.fstat(descriptor), relative, None)
            # The kernel has no chmod that leaves links alone and works on what may not be opened (open(2), "O_PATH").
            Path(f"/proc/self/fd/{descriptor}").chmod(mode)
        finally:
            os.close(descriptor)


def remove(root: Root, relative: str, *, durable: bool) -> None:
    """Delete the file at `relative`. Raises FileError: it is absent or cannot be deleted."""
    with reported(relative), root.parent(relative) as (directory, name):
        os.unlink(name, dir_fd=directory)
        if durable:
            os.fsync(directory)


def remove_empty_directory(root: Root, relative: str) -> bool:
    """Delete the directory at `relative` if nothing is in it, else leave it; says whether it is gone now."""
    with contextlib.suppress(OSError), root.parent(relative) as (directory, name):
        os.rmdir(name, dir_fd=directory)
        return True
    return False


@contextlib.contextmanager
def reported(relative: str) -> Iterator[None]:
    """What the operating system says about a path becomes a `FileError`."""
    try:
        yield
    except OSError as error:
        raise from_os_error(relative, error) from error
