"""A workspace's root directory, and opening the directories beneath it without following a link.

A path is opened from the root's descriptor, part by part with `O_NOFOLLOW`. So a directory that is exchanged for a
symbolic link between a check and its use cannot lead out (openat(2), "Rationale for openat"). Relative paths arrive
normal and resolved (`paths.real`).
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from codur.workspace.problems import FileError, from_os_error

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_MAX_BYTES = 4095
"""As for a path that the kernel is given whole: what is nested deeper cannot keep a walk busy."""


class Root:
    """A directory that stays the same one: if it is moved away or replaced, nothing is opened any more.

    Args:
        path: absolute and without links.

    Raises:
        FileError: there is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            status = path.stat()
        except OSError as error:
            raise from_os_error(str(path), error) from error
        self._identity = (status.st_dev, status.st_ino)

    def open(self) -> int:
        """The directory, open. Raises FileError: it is not there any more."""
        try:
            descriptor = os.open(self.path, _DIRECTORY)
        except OSError as error:
            raise self._gone() from error
        status = os.fstat(descriptor)
        # The path may lead to another directory by now.
        if (status.st_dev, status.st_ino) != self._identity:
            os.close(descriptor)
            raise self._gone()
        return descriptor

    def _gone(self) -> FileError:
        return FileError(
            f"the workspace {self.path} was moved, deleted or replaced",
            code="refused",
            remedy="Put it back, or start again in the new place.",
        )

    @contextlib.contextmanager
    def directory(self, relative: str, *, make: bool = False) -> Iterator[int]:
        """The open directory at `relative`.

        Args:
            make: missing directories are made.

        Raises:
            OSError: it is not there, or a part of the path is a link or no directory.
            FileError: the root is not there any more.
        """
        descriptor = self.open()
        try:
            if relative:
                below = _walked(descriptor, relative, make=make)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def parent(self, relative: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The open directory that holds `relative`, and the last name; as `directory`."""
        above, _, name = relative.rpartition("/")
        with self.directory(above, make=make) as descriptor:
            yield descriptor, name or "."


def _walked(descriptor: int, relative: str, *, make: bool) -> int:
    if len(os.fsencode(relative)) > _MAX_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), relative)
    current = os.dup(descriptor)
    try:
        for part in relative.split("/"):
            child = _enter(current, part, make=make)
            os.close(current)
            current = child
    except BaseException:
        os.close(current)
        raise
    return current


def _enter(directory: int, part: str, *, make: bool) -> int:
    try:
        return os.open(part, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        if not make:
            raise
    # And opened like any other: a link may have been put there in between, and is refused then.
    os.mkdir(part, dir_fd=directory)
    return os.open(part, _DIRECTORY, dir_fd=directory)
