"""Files replaced in one step, and what a crash leaves of that.

A file is written under a temporary name beside its place, synced, and renamed (rename(2) is atomic). The temporary name
holds the writer's process id, so that a later start can tell strays of dead processes from files being written.

Beside that, advisory file locks (flock(2)); a lock ends with its process, however that ends.
"""

import contextlib
import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from codur.errors import StateError, reason_of
from codur.lazy import regex

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
COMMON_FILE = 0o666
"""Less what the umask takes away: as files are made usually."""
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = regex(r"\..*\.codur-([1-9][0-9]{0,9})-[0-9a-f]{16}\.tmp", re.DOTALL)
_MAX_STEM_BYTES = 180  # of the 255 that a name may have, with what is added to it


def temporary_name(name: str) -> str:
    """A name that nothing has yet for the file that is to become `name`; a long one is shortened."""
    stem = os.fsdecode(os.fsencode(name)[:_MAX_STEM_BYTES])
    return f".{stem}.codur-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether the name is one of `temporary_name`."""
    return _TEMPORARY.fullmatch(name) is not None


def is_stray(name: str) -> bool:
    """Whether the name is one of `temporary_name` in a process that is no more."""
    found = _TEMPORARY.fullmatch(name)
    return found is not None and not is_alive(int(found[1]))


def is_alive(pid: int) -> bool:
    """Whether there is a process with that id."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sweep(directory: Path) -> None:
    """Remove the stray temporary files directly in a directory.

    Raises:
        OSError: the directory cannot be read, or a file not removed.
    """
    with os.scandir(directory) as entries:
        for entry in entries:
            if is_stray(entry.name) and not entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    Path(entry.path).unlink()


def write_private(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put bytes at a path in one step; the file is its owner's alone. As `write_whole`."""
    write_whole(path, data, mode=PRIVATE_FILE, durable=durable)


def write_whole(path: Path, data: bytes | Iterable[bytes], *, mode: int = COMMON_FILE, durable: bool = True) -> None:
    """Put bytes at a path in one step.

    Args:
        data: all of them, or piece by piece.
        mode: of the file; the umask is taken away from it.
        durable: wait until it is on disk.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    temporary = path.parent / temporary_name(path.name)
    descriptor = os.open(temporary, _CREATE, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines([data] if isinstance(data, bytes) else data)
            stream.flush()
            if durable:
                # Before the name is given: else a crash may leave the name on an empty file.
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)  # the rename itself is an entry of the directory


def sync_directory(path: Path) -> None:
    """Wait until the directory's entries are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_REMEDIES = {
    errno.ENOSPC: "Make room on the disk, or set XDG_STATE_HOME to a place that has some.",
    errno.EDQUOT: "Make room in your quota, or set XDG_STATE_HOME to a place that has some.",
    errno.EFBIG: "Raise the limit on file sizes (ulimit -f), or set XDG_STATE_HOME to another place.",
}
_REMEDY = "Give yourself access to it, or set XDG_STATE_HOME to a directory of your own."


@contextlib.contextmanager
def state_errors(path: Path) -> Iterator[None]:
    """What the operating system says about a file of the state directory becomes a `StateError`."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, _REMEDY)
        raise StateError(f"the state directory cannot be used: {path}: {reason_of(error)}", remedy=remedy) from error


def set_aside(path: Path, stamp: str) -> Path:
    """Rename a damaged file, so that nothing of it is lost; returns its new path.

    Args:
        stamp: what tells it from others, such as the time.
    """
    number, target = 1, path.with_name(f"{path.name}.damaged-{stamp}")
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    path.rename(target)
    return target


_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# network file systems, and some in containers
_UNSUPPORTED = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def open_lock(path: Path) -> int:
    """The lock file, open; made if it is not there. Raises OSError: it cannot be made."""
    return os.open(path, _OPEN, PRIVATE_FILE)


def try_lock(descriptor: int) -> bool | None:
    """Whether the lock is ours now; None where the file system has no locks.

    Raises:
        OSError: the lock cannot be asked for.
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


shared = partial(_locked, alone=False)
"""While this lasts, nobody has `exclusive`; waits for it. Nothing is locked where there are no locks."""
exclusive = partial(_locked, alone=True)
"""While this lasts, nobody else has `shared` or `exclusive`; waits for it."""
