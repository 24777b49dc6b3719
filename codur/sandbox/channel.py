"""A long-lived program that is talked to: frames of bytes over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import struct
import subprocess
import time
from types import TracebackType
from typing import IO

from codur.sandbox.cancel import CancelToken
from codur.sandbox.output import BoundedOutput

_LENGTH = struct.Struct(">I")
_MOST_BYTES = 256 * 1_048_576
"""What may wait to be taken; a program that sends more is broken."""
_CHUNK = 1_048_576
_STDERR_BYTES = 65_536
_POLL_S = 0.05


class Channel:
    """Frames to and from a program, each with its length in four bytes before it. Leaving the context ends it.

    The program ends by itself when its standard input does, so it does not outlive the process that started it.

    Args:
        process: started with `start_new_session=True` and unbuffered pipes.
        cleanup: closed after the program has ended.
        cancel: ends the waiting when it is set.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], cleanup: contextlib.ExitStack, cancel: CancelToken | None = None
    ) -> None:
        self._process = process
        self._cleanup = cleanup
        self._cancel = cancel
        self._received = bytearray()
        self._stderr = BoundedOutput(_STDERR_BYTES)
        self._ended = False
        self._input, self._output = _pipe(process.stdin), _pipe(process.stdout)
        self._selector = selectors.PollSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._selector.register(_pipe(process.stderr), selectors.EVENT_READ)

    def __enter__(self) -> Channel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def fileno(self) -> int:
        """A descriptor that becomes readable when a frame (or the end) arrives."""
        return self._output

    def has_frame(self) -> bool:
        """Whether `receive` has a frame without waiting."""
        if len(self._received) < _LENGTH.size:
            return False
        return len(self._received) >= self._size()

    @property
    def stderr(self) -> str:
        """What the program wrote to its standard error so far, bounded."""
        return self._stderr.text()

    def send(self, data: bytes) -> bool:
        """Send one frame; False if the program has ended.

        Raises:
            Interrupted: the wait was cancelled.
        """
        left = memoryview(_LENGTH.pack(len(data)) + data)
        self._selector.register(self._input, selectors.EVENT_WRITE)
        try:
            while left and not self._ended:
                if any(key.fd == self._input for key in self._ready(_POLL_S)):
                    left = left[os.write(self._input, left[:_CHUNK]) :]
        except BrokenPipeError:
            self._ended = True
        finally:
            self._selector.unregister(self._input)
        return not left

    def receive(self, timeout_s: float) -> bytes | None:
        """The next frame; None if none came in time or the program has ended.

        Raises:
            Interrupted: the wait was cancelled.
        """
        deadline = time.monotonic() + timeout_s
        while (frame := self._frame()) is None:
            left = deadline - time.monotonic()
            if self._ended or left <= 0:
                return None
            self._ready(min(left, _POLL_S))
        return frame

    def kill(self) -> None:
        """End the program and its process group, and remove what was made for it."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2.0)
        self._ended = True
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._cleanup.close()

    def _ready(self, seconds: float) -> list[selectors.SelectorKey]:
        """Reads what has arrived; gives what is ready for writing."""
        if self._cancel is not None:
            self._cancel.raise_if_cancelled()
        found = [key for key, _ in self._selector.select(seconds)]
        for key in found:
            if key.fd != self._input:
                self._read(key.fd)
        return found

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(descriptor)
            self._ended = self._ended or descriptor == self._output
        elif descriptor == self._output:
            self._received += data
            if len(self._received) > _MOST_BYTES:
                self._ended = True
        else:
            self._stderr.add(data)

    def _size(self) -> int:
        length: int = _LENGTH.unpack_from(self._received)[0]
        return _LENGTH.size + length

    def _frame(self) -> bytes | None:
        if not self.has_frame():
            return None
        end = self._size()
        frame = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return frame


def _pipe(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise ValueError("a channel needs all three pipes")
    os.set_blocking(stream.fileno(), False)
    return stream.fileno()
