"""Starts the worker as a process of its own, and ends it."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

from codur.batch.setup import Setup
from codur.batch.worker.frames import FrameReader, FrameWriter
from codur.batch.worker.messages import Begin, FromWorker, ToWorker
from codur.errors import UsageError, reason_of

_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; from codur.batch.worker.worker_main import main; main(int(sys.argv[1]))"
)
_DESCRIPTOR = 3
_END_S = 5.0
_ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""For the GNU C library: a heap for each thread would hold on to memory that all of them could use."""


class WorkerProcess:
    """The worker, as the supervisor sees it."""

    def __init__(self, setup: Setup) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.pid = _spawn(theirs.fileno(), setup.place.environ)
        self._connection = ours
        self._writer = FrameWriter(ours)
        self.frames = FrameReader[FromWorker](ours, FromWorker)  # what it says; readable also when it has ended
        self.is_ready = False  # it has said that it is
        self._status: int | None = None
        self._writer.send(Begin(setup=setup))

    def send(self, message: ToWorker) -> None:
        """Tell it something; that it has ended is seen elsewhere."""
        self._writer.send(message)

    def close(self) -> str:
        """Let it end in good order, or end it; how it ended, in words."""
        if self._status is None:
            self._connection.shutdown(socket.SHUT_WR)
            deadline = time.monotonic() + _END_S
            while not self._has_ended() and time.monotonic() < deadline:
                time.sleep(0.01)
        return self.kill()

    def kill(self) -> str:
        """End it at once, with the programs that it runs; how it ended, in words."""
        if not self._has_ended():
            os.kill(self.pid, signal.SIGKILL)
            _, self._status = os.waitpid(self.pid, 0)
        self._connection.close()
        code = os.waitstatus_to_exitcode(self._status or 0)
        if code >= 0:
            return f"exit status {code}"
        return signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"

    def _has_ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        return self._status is not None


def _spawn(descriptor: int, environ: dict[str, str]) -> int:
    variables = {**environ, **_ARENAS}
    argv = [sys.executable, "-P", *(f"-W{option}" for option in sys.warnoptions), "-c", _BOOT, str(_DESCRIPTOR)]
    # Where this process imports from, without what is relative: the worker is elsewhere.
    path = [*(item for item in sys.path if item.startswith("/")), str(Path(__file__).resolve().parents[3])]
    null = os.devnull
    actions = [
        (os.POSIX_SPAWN_DUP2, descriptor, _DESCRIPTOR),
        (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
    ]
    if not environ.get("CODUR_DEBUG"):
        actions.append((os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0))
    try:
        # a group of its own: the terminal's Ctrl-C is for the supervisor
        return os.posix_spawn(sys.executable, [*argv, *path], variables, file_actions=actions, setpgroup=0)
    except OSError as error:
        raise UsageError(
            f"the worker of the batch cannot be started: {reason_of(error)}",
            remedy="Check that more processes are allowed (ulimit -u), and that memory is left.",
        ) from error
