"""Reading and replacing single files below a directory, without following a link on the way.

Every path is walked from the root by directory descriptors with `O_NOFOLLOW`, so a directory that is exchanged for a
symbolic link between a check and its use cannot lead out (openat(2), "Rationale for openat"). Paths arrive resolved.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codur.workspace.problems import FileError, from_os_error

TEMPORARY_SUFFIX = ".codur-tmp"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What a regular file holds, and its permission bits."""

    data: bytes
    mode: int


def read_image(root: Path, relative: str, *, max_bytes: int) -> Image:
    """The regular file at `relative`.

    Raises:
        FileError: it is absent, not a regular file, larger than `max_bytes`, or unreadable.
    """
    with _reported(relative), _parent(root, relative) as (directory, name):
        _require_regular(os.stat(name, dir_fd=directory, follow_symlinks=False), relative, max_bytes)
        descriptor = os.open(name, _READ, dir_fd=directory)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(stream.fileno())
            _require_regular(status, relative, max_bytes)
            data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _too_large(relative, max_bytes)
    return Image(data=data, mode=stat.S_IMODE(status.st_mode))


def _require_regular(status: os.stat_result, relative: str, max_bytes: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{relative or '.'} is a directory, not a file", code="not_a_file")
    if stat.S_ISLNK(status.st_mode):
        raise FileError(f"{relative} is a symbolic link that leads nowhere", code="not_found")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{relative} is not a regular file", code="not_a_file")
    if status.st_size > max_bytes:
        raise _too_large(relative, max_bytes)


def _too_large(relative: str, max_bytes: int) -> FileError:
    return FileError(
        f"{relative} is larger than {max_bytes // 1024} KiB",
        code="too_large",
        remedy="Raise tools.max_file_kb to work on it.",
    )


def write_image(root: Path, relative: str, data: bytes, *, mode: int | None, durable: bool) -> tuple[str, ...]:
    """Put `data` at `relative` in one step: a reader sees the old file or the new one, never a part.

    Args:
        mode: permission bits; None gives a new file what the umask allows.
        durable: wait until the data is on disk.

    Returns:
        The directories that had to be made, outermost first.

    Raises:
        FileError: it cannot be written; the old file is as it was.
    """
    made: list[str] = []
    with _reported(relative), _parent(root, relative, made) as (directory, name):
        temporary = f".{secrets.token_hex(12)}{TEMPORARY_SUFFIX}"
        descriptor = os.open(temporary, _CREATE, 0o666 if mode is None else 0o600, dir_fd=directory)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                _dress(stream.fileno(), directory, name, mode)
                if durable:
                    os.fsync(stream.fileno())
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)
            raise
        if durable:
            os.fsync(directory)
    return tuple(made)


def _dress(descriptor: int, directory: int, name: str, mode: int | None) -> None:
    """Give the new file the old one's owner and the wanted permission bits."""
    if mode is None:
        return
    with contextlib.suppress(FileNotFoundError, PermissionError):
        old = os.stat(name, dir_fd=directory, follow_symlinks=False)
        new = os.fstat(descriptor)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, mode)


def remove(root: Path, relative: str, *, durable: bool) -> None:
    """Delete the file at `relative`.

    Raises:
        FileError: it is absent or cannot be deleted.
    """
    with _reported(relative), _parent(root, relative) as (directory, name):
        os.unlink(name, dir_fd=directory)
        if durable:
            os.fsync(directory)


def remove_empty_directory(root: Path, relative: str) -> None:
    """Delete the directory at `relative` if nothing is in it; else leave it."""
    with contextlib.suppress(OSError), _parent(root, relative) as (directory, name):
        os.rmdir(name, dir_fd=directory)


@contextlib.contextmanager
def _parent(root: Path, relative: str, made: list[str] | None = None) -> Iterator[tuple[int, str]]:
    """The open directory that holds `relative`, and the last name; missing directories are made if `made` is given."""
    *parents, name = relative.split("/") if relative else ["."]
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for depth, part in enumerate(parents, start=1):
            child = _enter(descriptor, part, "/".join(parents[:depth]), made)
            os.close(descriptor)
            descriptor = child
        yield descriptor, name
    finally:
        os.close(descriptor)


def _enter(directory: int, part: str, relative: str, made: list[str] | None) -> int:
    try:
        return os.open(part, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        if made is None:
            raise
    os.mkdir(part, dir_fd=directory)
    made.append(relative)
    return os.open(part, _DIRECTORY, dir_fd=directory)


@contextlib.contextmanager
def _reported(relative: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise from_os_error(relative, error) from error
