"""The processes below one process, as Linux's `/proc` shows them: who they are, what they use, and their end.

Part of the process starter: it uses the standard library alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

_SIGKILL = 9
_SIGSTOP = 19
_KILL_SECONDS = 10.0  # what is stuck in the kernel beyond that cannot be killed at all
_PAGE = os.sysconf("SC_PAGE_SIZE")
_READ_BYTES = 65_536
_THREADS_FIELD = 17
"""Of `/proc/<pid>/stat`, after the name."""


def descendants(root: int) -> Iterator[tuple[int, int]]:
    """The processes below one, parents first: the number of each, and how many threads it has."""
    if not os.path.exists(f"/proc/{root}/task/{root}/children"):  # a kernel without CONFIG_PROC_CHILDREN
        yield from _descendants_by_parent(root)
        return
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        if pid != root:
            yield pid, len(threads)
        for thread in threads:  # a child belongs to the thread that forked it
            waiting += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def children(root: int) -> list[int]:
    """The processes whose parent is `root`, a process of a single thread."""
    listing = f"/proc/{root}/task/{root}/children"
    if os.path.exists(listing):
        return [int(word) for word in _read(listing).split()]
    return _by_parent()[0].get(root, [])


def _descendants_by_parent(root: int) -> Iterator[tuple[int, int]]:
    """As `descendants`, for kernels that do not list a process's children."""
    below, threads = _by_parent()
    waiting = list(below.get(root, ()))
    while waiting:
        pid = waiting.pop()
        waiting += below.get(pid, ())
        yield pid, threads[pid]


def _by_parent() -> tuple[dict[int, list[int]], dict[int, int]]:
    """All processes by their parents, and how many threads each has."""
    below: dict[int, list[int]] = {}
    threads: dict[int, int] = {}
    for name in os.listdir("/proc"):
        # From the last bracket on, as a program's name may hold blanks and brackets.
        fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split() if name.isdigit() else []
        if len(fields) > _THREADS_FIELD:
            below.setdefault(int(fields[1]), []).append(int(name))
            threads[int(name)] = int(fields[_THREADS_FIELD])
    return below, threads


def user_threads(user: int) -> int:
    """Processes and threads of one user, as the kernel counts them against RLIMIT_NPROC."""
    total = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}/task").st_uid == user:
                # A directory's links are its subdirectories and two more: threads are counted without a listing.
                total += os.stat(f"/proc/{name}/task").st_nlink - 2
        except OSError:
            continue  # it has ended
    return total


def system_threads() -> int:
    """Processes and threads of the whole system; 0 if it does not tell. Quick, however many there are."""
    # One small file, for all processes of the system; looked at every few milliseconds.
    fields = _read("/proc/loadavg").split()
    return int(fields[3].partition(b"/")[2]) if len(fields) > 3 else 0


def count(root: int, bound: int) -> tuple[int, list[int]]:
    """Processes and threads below one process, and the processes among them; the rest once there are more than `bound`
    is not looked at."""
    pids: list[int] = []
    total = 0
    for pid, threads in descendants(root):
        pids.append(pid)
        total += max(1, threads)
        if total > bound:
            break
    return total, pids


def stop_below(root: int) -> set[int]:
    """Stop all processes below one, so that they can start no others; returns them.

    Whole groups are stopped at the sight of one member, as a group can grow faster than it is looked through.
    """
    stopped: set[int] = set()
    groups = {0, os.getpgrp()}  # our own group must go on
    # Until a round finds nothing new: what is stopped can fork no more, so that each round there is less to find.
    while found := set(_stopping(root, groups)) - stopped:
        stopped |= found
    return stopped


def _stopping(root: int, groups: set[int]) -> Iterator[int]:
    for pid, _ in descendants(root):
        try:
            group = os.getpgid(pid)
            if group not in groups:
                groups.add(group)
                os.killpg(group, _SIGSTOP)
            os.kill(pid, _SIGSTOP)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended, or became another user
        yield pid


def exceeds_memory(pids: list[int], bound: int) -> bool:
    """Whether processes use more memory than `bound` bytes together; what they share counts once."""
    # Too high where pages are shared, and cheap; the exact figure is asked for only if this one is over.
    if sum(map(_resident, pids)) <= bound:
        return False
    return sum(_proportional(pid) for pid in pids) > bound


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if len(fields) > 1 else 0


def _proportional(pid: int) -> int:
    """As `_resident`, but of what processes share a part of it; slower. The same if the process does not let us see."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)


def command_name(pid: int) -> bytes:
    """The name of a process's program, at most 15 bytes of it."""
    return _read(f"/proc/{pid}/comm").rstrip(b"\n")


def signal_process(pid: int, number: int) -> None:
    """Send a signal, if there is such a process."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_below(statuses: dict[int, int]) -> None:
    """Kill and reap all that is below this process, which must be the subreaper of it.

    All are stopped first, so that none can start another one while the others are killed.

    Args:
        statuses: gets what `reap` finds.
    """
    own = os.getpid()
    deadline = time.monotonic() + _KILL_SECONDS
    while not reap(statuses) and time.monotonic() < deadline:
        for pid in stop_below(own):
            signal_process(pid, _SIGKILL)
        time.sleep(0.001)  # what was killed needs a moment to be seen as ended


def reap(statuses: dict[int, int]) -> bool:
    """Collect the processes that have ended.

    Args:
        statuses: gets the wait status of each by its number.

    Returns:
        Whether this process has no child any more. A subreaper then has nothing below it at all.
    """
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return False
        statuses[pid] = status


def _read(path: str) -> bytes:
    """A file of `/proc`; empty if the process is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        chunks = []
        while chunk := os.read(descriptor, _READ_BYTES):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
