"""One run at a time in a workspace."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import to_builtins

from codur.errors import WorkspaceBusy
from codur.store.atomic import is_alive, open_lock, state_errors, temporary_name, try_lock, write_private
from codur.structs import Struct, convert, field

_POLL_S = 0.2  # a waiting flock(2) could not be interrupted by the user
_MAX_BYTES = 4096
_NO_FLOCK = "the file system of the state directory has no locks; a file with the process id stands in"


class Holder(Struct):
    """Who has a lock; 0 and empty if that cannot be told."""

    pid: int = 0
    run_id: str = field(name="run", default="")


@contextlib.contextmanager
def workspace_lock(
    locks: Path, root: Path, *, run_id: str, wait: Callable[[float], bool] | None = None
) -> Iterator[str]:
    """Be the only run in a workspace, while this lasts. A holder that has died does not count.

    Args:
        locks: the directory of lock files.
        root: the workspace.
        run_id: who we are, for those who find the workspace taken.
        wait: None refuses at once; else called with seconds to wait between tries, and says whether to give up.

    Yields:
        One line to tell the user if the lock is weaker than it should be; else empty.

    Raises:
        WorkspaceBusy: another run has it.
        StateError: the lock file cannot be used.
    """
    path = locks / lock_name(root)
    with state_errors(path):
        descriptor = open_lock(path)
    try:
        while (locked := _take(descriptor, path)) is False:
            if wait is None or wait(_POLL_S):
                raise _busy(root, _holder(path))
        note = ""
        if locked is None:
            _take_pid_file(path, root, run_id, wait)
            note = _NO_FLOCK
        with state_errors(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _who(run_id), 0)
        try:
            yield note
        finally:
            os.ftruncate(descriptor, 0)
            if locked is None:
                _pid_file(path).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def lock_name(root: Path) -> str:
    """The name of a workspace's lock file, the same for all paths that lead to it."""
    return f"ws-{hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]}.lock"


def running(locks: Path) -> frozenset[str]:
    """The runs that hold a lock now. Raises StateError: the locks cannot be read."""
    found: set[str] = set()
    with state_errors(locks):
        for path in locks.glob("ws-*.lock"):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                locked = try_lock(descriptor)
            finally:
                os.close(descriptor)
            holder = _holder(path)
            if locked is False or (locked is None and holder.pid and is_alive(holder.pid)):
                found.add(holder.run_id)
    return frozenset(found)


def _take(descriptor: int, path: Path) -> bool | None:
    with state_errors(path):
        return try_lock(descriptor)


def _holder(path: Path) -> Holder:
    """What the lock file says; it may just be written."""
    try:
        return convert(json.loads(path.read_bytes()[:_MAX_BYTES]), Holder)
    except (OSError, ValueError):
        return Holder()


def _busy(root: Path, holder: Holder) -> WorkspaceBusy:
    who = f"run {holder.run_id}" if holder.run_id else "another run"
    where = f" (process {holder.pid})" if holder.pid else ""
    return WorkspaceBusy(
        f"{who}{where} works in {root}",
        pid=holder.pid,
        run_id=holder.run_id,
        remedy="Wait until it has ended, or add --wait.",
    )


def _pid_file(path: Path) -> Path:
    return path.with_suffix(".pid")


def _take_pid_file(path: Path, root: Path, run_id: str, wait: Callable[[float], bool] | None) -> None:
    """Make a file that only one can make (link(2) is atomic); one of a dead process is taken away first."""
    target = _pid_file(path)
    while not _created(target, run_id):
        holder = _holder(target)
        if holder.pid and not is_alive(holder.pid):
            target.unlink(missing_ok=True)
        elif wait is None or wait(_POLL_S):
            raise _busy(root, holder)


def _created(target: Path, run_id: str) -> bool:
    temporary = target.with_name(temporary_name(target.name))
    with state_errors(target):
        write_private(temporary, _who(run_id))
        try:
            target.hardlink_to(temporary)
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
    return True


def _who(run_id: str) -> bytes:
    return json.dumps(to_builtins(Holder(pid=os.getpid(), run_id=run_id))).encode()
