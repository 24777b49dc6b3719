"""Sees a program to its end, with all that it started.

Part of the process starter: it uses the standard library alone.
"""

from __future__ import annotations

import os
import select
import signal
import time
from _socket import socket  # `socket` is larger

from codur.sandbox.starter import process_tree
from codur.sandbox.starter.starter_protocol import ENDED, LIMIT, LIMIT_MEMORY, LIMIT_PROCESSES, RECORD, TERMINATE

_WATCH_MS = 5  # a fork bomb doubles several times in this; shorter ones cost more than they find
_LOOK_SECONDS = 0.01  # grows with what a look costs, see below
_MAX_LOOK_SECONDS = 0.1
_LOOK_SHARE = 20
"""Looking through the tree takes at most one part in so many of the time of one processor, up to the longest pause."""
_UNBOUNDED = 1_000_000


class Supervisor:
    """Sees one program to its end.

    Args:
        pid: the program.
        control: its control socket.
        watched: of its request the memory, the processes, and the wrapper's name.
    """

    def __init__(self, pid: int, control: socket, watched: tuple[int, int, bytes]) -> None:
        self._pid = pid
        self._control = control
        self._memory_bytes, self._processes, self._wrapper = watched
        self._statuses: dict[int, int] = {}
        self._told = False
        self._others = process_tree.system_threads()
        self._next_look = 0.0

    def run(self) -> None:
        """Return when nothing of the program is left; its end may not be told yet."""
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        ending = _open_pidfd(self._pid)
        if ending is not None:
            poll.register(ending, select.POLLIN)
        while True:
            # With a pause also where descriptors tell the end of the program: what it left in the background ends
            # without one.
            ready = {descriptor for descriptor, _ in poll.poll(_WATCH_MS)}
            if ending in ready or not ready:
                if process_tree.reap(self._statuses):
                    break
                self.tell_end(left=True)  # the program's own status at once; what it left is seen to afterwards
                if ending in ready:
                    poll.unregister(ending)
            if self._control.fileno() in ready and not self._obey():
                process_tree.kill_below(self._statuses)
                break
            if not ready and (self._processes or self._memory_bytes):
                self._watch()
        if ending is not None:
            os.close(ending)

    def _obey(self) -> bool:
        """Do what Codur says; False at its last word."""
        try:
            said = self._control.recv(16)
        except ConnectionError:
            return False
        if said == TERMINATE:
            self._terminate()
        return bool(said)

    def _terminate(self) -> None:
        if self._wrapper:
            for pid in [pid for pid, _ in process_tree.descendants(os.getpid())]:
                if process_tree.command_name(pid) != self._wrapper:
                    process_tree.signal_process(pid, signal.SIGTERM)
        elif self._pid not in self._statuses:
            try:
                os.killpg(self._pid, signal.SIGTERM)  # asked as a terminal would, all of its group
            except (ProcessLookupError, PermissionError):
                return

    def _watch(self) -> None:
        """Kill the program if it and what it started use more than they may."""
        limit = self._exceeded()
        if limit:
            self._tell(LIMIT, limit, 0)
            process_tree.kill_below(self._statuses)

    def _exceeded(self) -> int:
        """Which limit is exceeded; 0 for none.

        The tree is looked through at intervals. In between the number of the system's processes tells whether it can
        have grown too large; then it is stopped while it is counted, for some trees grow faster than that.
        """
        begin = time.monotonic()
        everything = process_tree.system_threads() if self._processes else 0
        # Of the whole system, so that others' processes may cause a look too many, and never one too few.
        sudden = everything - self._others > self._processes > 0
        if not sudden and begin < self._next_look:
            return 0
        stopped = process_tree.stop_below(os.getpid()) if sudden else ()
        bound = self._processes or _UNBOUNDED
        total, pids = process_tree.count(os.getpid(), bound)
        if total > bound:
            return LIMIT_PROCESSES
        if self._memory_bytes and process_tree.exceeds_memory(pids, self._memory_bytes):
            return LIMIT_MEMORY
        for pid in stopped:
            process_tree.signal_process(pid, signal.SIGCONT)
        now = time.monotonic()
        self._others = everything - total
        self._next_look = now + min(max(_LOOK_SECONDS, _LOOK_SHARE * (now - begin)), _MAX_LOOK_SECONDS)
        return 0

    def tell_end(self, *, left: bool) -> None:
        """Tell how the program ended, if that is known and not told; `left`: whether something of it still runs."""
        if self._pid in self._statuses and not self._told:
            self._told = True
            self._tell(ENDED, 0 if left else 1, os.waitstatus_to_exitcode(self._statuses[self._pid]))

    def _tell(self, kind: int, detail: int, number: int) -> None:
        try:
            self._control.sendall(RECORD.pack(kind, detail, number))
        except OSError:
            return  # Codur is gone: its end of the socket ends the program


def _open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
