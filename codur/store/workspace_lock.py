"""One run at a time in a workspace."""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import to_builtins

from codur.errors import WorkspaceBusy
from codur.store.atomic import open_lock, state_errors, try_lock
from codur.structs import Struct, convert, field

_POLL_S = 0.2  # a waiting flock(2) could not be interrupted by the user
_MAX_BYTES = 4096
_NO_FLOCK = "the file system of the state directory has no locks: nothing keeps another run out of the workspace"


class Holder(Struct):
    """Who has a lock; 0 and empty if that cannot be told."""

    pid: int = 0
    run_id: str = field(name="run", default="")


@contextlib.contextmanager
def workspace_lock(
    locks: Path, root: Path, *, run_id: str, tell: Callable[[str], object] | None = None
) -> Iterator[str]:
    """Be the only run in a workspace, while this lasts. A holder that has died does not count.

    Args:
        locks: the directory of lock files.
        root: the workspace.
        run_id: who we are, for those who find the workspace taken.
        tell: gets for whom we wait, once; None: we do not wait.

    Yields:
        One line to tell the user if the lock is weaker than it should be; else empty.

    Raises:
        WorkspaceBusy: another run has it, and we do not wait.
        KeyboardInterrupt: the user does not want to wait any longer.
        StateError: the lock file cannot be used.
    """
    path = locks / lock_name(root)
    with state_errors(path):
        descriptor = open_lock(path)
    told = False
    try:
        with state_errors(path):
            while (locked := try_lock(descriptor)) is False:
                busy = _busy(root, _holder(path))
                if tell is None:
                    raise busy
                if not told:
                    tell(f"waiting: {busy.message}")
                told = True
                time.sleep(_POLL_S)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(to_builtins(Holder(pid=os.getpid(), run_id=run_id))).encode(), 0)
        try:
            yield "" if locked else _NO_FLOCK
        finally:
            os.ftruncate(descriptor, 0)
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
            if locked is False:
                found.add(_holder(path).run_id)
    return frozenset(found)


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
