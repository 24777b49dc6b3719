"""Advisory file locks (flock(2)); a lock ends with its process, however that ends."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from codur.store.atomic import PRIVATE_FILE

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# network file systems, and some in containers
_UNSUPPORTED = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def open_lock(path: Path) -> int:
    """The lock file, open; made if it is not there. Raises OSError: it cannot be made."""
    return os.open(path, _OPEN, PRIVATE_FILE)


def try_lock(descriptor: int) -> bool | None:
    """Whether the lock is ours now; None where the file system has no locks. Raises OSError: the lock cannot be asked
    for.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        raise
    return True


@contextlib.contextmanager
def shared(path: Path) -> Iterator[None]:
    """While this lasts, nobody has `exclusive`; waits for it. Nothing is locked where there are no locks."""
    with _locked(path, alone=False):
        yield


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """While this lasts, nobody else has `shared` or `exclusive`; waits for it."""
    with _locked(path, alone=True):
        yield


@contextlib.contextmanager
def _locked(path: Path, *, alone: bool) -> Iterator[None]:
    descriptor = open_lock(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        yield
    finally:
        os.close(descriptor)
