"""A started program: its pipes, its end, and the end of all that it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from types import TracebackType
from typing import IO, Literal

from codur.sandbox.cancel import CancelToken
from codur.sandbox.output import BoundedOutput

End = Literal["ended", "timed_out", "cancelled", "flooded"]
"""Why a program is no longer waited for."""

_FLOOD_BYTES = 64 * 1_048_576
_CHUNK = 65_536
_TERMINATE_GRACE_S = 0.2
_PIPE_GRACE_S = 0.25
"""How long pipes may stay open when the program has ended and something that it started holds them."""
_CLOSE_GRACE_S = 0.1
"""How long a killed holder of the pipes may take to be gone; one in a session of its own is not waited for longer."""
_POLL_S = 0.05
_NO_PIDFD_POLL_S = 0.01


class Child:
    """Feeds and reads a program without threads. Use it as a context: leaving it kills the whole process group.

    Args:
        process: started with `start_new_session=True` and unbuffered pipes.
        outputs: where standard output and standard error go.
        stdin: bytes for its standard input.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], outputs: tuple[BoundedOutput, BoundedOutput], stdin: bytes
    ) -> None:
        self._process = process
        self._selector = selectors.PollSelector()
        self._open = 0
        self._received = 0
        self._exited = False
        self._stdin = memoryview(stdin)
        self._pidfd = _open_pidfd(process.pid)
        for stream, output in zip((process.stdout, process.stderr), outputs, strict=True):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, output)
                self._open += 1
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The group is killed before its leader is reaped: until then the number cannot belong to anyone else.
        self._kill(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2.0)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def wait(self, timeout_s: float, cancel: CancelToken | None) -> End:
        """Feed and read until the program ends, its time is over, it is cancelled, or its output does not end."""
        end = self._until_end(time.monotonic() + timeout_s, cancel)
        if end != "ended":
            self._kill(signal.SIGTERM)
            self._pump_until(time.monotonic() + _TERMINATE_GRACE_S, pipes=False)
            self._kill(signal.SIGKILL)
        self._pump_until(time.monotonic() + _PIPE_GRACE_S, pipes=True)
        if self._open:
            self._kill(signal.SIGKILL)
            self._pump_until(time.monotonic() + _CLOSE_GRACE_S, pipes=True)
        return end

    def _until_end(self, deadline: float, cancel: CancelToken | None) -> End:
        pause = _POLL_S if cancel is not None else 3600.0
        while not self._exited:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timed_out"
            if cancel is not None and cancel.cancelled:
                return "cancelled"
            if self._received > _FLOOD_BYTES:
                return "flooded"
            self._pump(min(left, pause))
        return "ended"

    def _pump_until(self, deadline: float, *, pipes: bool) -> None:
        """Go on until the program has ended (or, with `pipes`, until the pipes are closed), at most to the deadline."""
        while self._open if pipes else not self._exited:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._pump(left)

    def _pump(self, seconds: float) -> None:
        """Handle what is ready, waiting at most `seconds` for it."""
        if self._pidfd is None:
            seconds = min(seconds, _NO_PIDFD_POLL_S)
        for key, _ in self._selector.select(seconds):
            if key.fd == self._pidfd:
                self._exited = True
                self._selector.unregister(self._pidfd)
            elif isinstance(key.data, BoundedOutput):
                self._read(key.fd, key.data)
            else:
                self._write(key.fd)
        if self._pidfd is None and not self._exited:
            self._exited = self._process.poll() is not None

    def _read(self, descriptor: int, output: BoundedOutput) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._received += len(data)
            output.add(data)
            return
        self._selector.unregister(descriptor)
        self._open -= 1

    def _write(self, descriptor: int) -> None:
        try:
            written = os.write(descriptor, self._stdin[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._stdin)
        self._stdin = self._stdin[written:]
        if not self._stdin:
            self._selector.unregister(descriptor)
            _close(self._process.stdin)

    def _kill(self, number: signal.Signals) -> None:
        if self._process.returncode is None or self._pidfd is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        stream.close()


def _open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the system has none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
