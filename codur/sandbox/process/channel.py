"""A long-lived program that is talked to: frames of bytes over its standard input and output."""

from __future__ import annotations

import os
import selectors
import struct
import time

from codur.sandbox.cancel import CancelToken
from codur.sandbox.process.output import BoundedOutput
from codur.sandbox.process.output_stream import Stream

_LENGTH = struct.Struct(">I")
_MOST_BYTES = 256 * 1_048_576
"""What may wait to be taken; a program that sends more is broken."""
_CHUNK = 1_048_576
_STDERR_BYTES = 65_536
_POLL_S = 0.05


class Channel:
    """Frames to and from a program, each with its length in four bytes before it. Leaving the context ends it.

    The program should end by itself when its standard input does.

    Args:
        stream: the program, and the pipes to it.
        cancel: ends the waiting when it is set.

    Attributes:
        ended: no more frames come than those that have arrived.
    """

    def __init__(self, stream: Stream, cancel: CancelToken | None) -> None:
        self._stream = stream
        self._cancel = cancel
        self._received = bytearray()
        self._stderr = BoundedOutput(_STDERR_BYTES)
        self.ended = stream.stdout < 0
        self._selector = selectors.PollSelector()
        for watched in (stream.stdout, stream.stderr, stream.notice):
            if watched >= 0:
                self._selector.register(watched, selectors.EVENT_READ)

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def fileno(self) -> int:
        """A descriptor that becomes readable when a frame (or the end) arrives."""
        return self._stream.stdout

    def has_frame(self) -> bool:
        """Whether `receive` has a frame without waiting."""
        if len(self._received) < _LENGTH.size:
            return False
        return len(self._received) >= self._size()

    @property
    def stderr(self) -> str:
        """What the program wrote to its standard error so far, bounded; else why it could not be started."""
        return self._stderr.text() or self._stream.problem

    def send(self, data: bytes) -> bool:
        """Send one frame; False if the program has ended. Raises Interrupted: the wait was cancelled."""
        if self.ended:
            return False
        left = memoryview(_LENGTH.pack(len(data)) + data)
        self._selector.register(self._stream.stdin, selectors.EVENT_WRITE)
        try:
            while left and not self.ended:
                if any(key.fd == self._stream.stdin for key in self._ready(_POLL_S)):
                    left = left[os.write(self._stream.stdin, left[:_CHUNK]) :]
        except BrokenPipeError:
            self.ended = True
        finally:
            self._selector.unregister(self._stream.stdin)
        return not left

    def receive(self, timeout_s: float) -> bytes | None:
        """The next frame; None if none came in time or the program has ended.

        Raises:
            Interrupted: the wait was cancelled.
        """
        deadline = time.monotonic() + timeout_s
        looked = False
        while (frame := self._frame()) is None:
            left = deadline - time.monotonic()
            # Looked at once, whatever the time: an answer that has arrived counts.
            if self.ended or (left < 0 and looked):
                return None
            self._ready(max(0.0, min(left, _POLL_S)))
            looked = True
        return frame

    def kill(self) -> None:
        """End the program and all that it started, and remove what was made for it."""
        self.ended = True
        self._selector.close()
        self._stream.close()

    def _ready(self, seconds: float) -> list[selectors.SelectorKey]:
        """Reads what has arrived; gives what is ready for writing."""
        if self._cancel is not None:
            self._cancel.raise_if_cancelled()
        found = [key for key, _ in self._selector.select(seconds)]
        for key in found:
            if key.fd == self._stream.notice:  # the program has ended, or was never started: its pipes end too then
                if self._stream.ended():
                    self._selector.unregister(key.fd)
            elif key.fd != self._stream.stdin:
                self._read(key.fd)
        return found

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(descriptor)
            # Standard error may be closed early; only the end of the answers is the end.
            self.ended = self.ended or descriptor == self._stream.stdout
        elif descriptor == self._stream.stdout:
            self._received += data
            if len(self._received) > _MOST_BYTES:
                self.ended = True
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
        del self._received[:end]  # a copy, so that the next frame may come
        return frame
