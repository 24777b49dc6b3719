"""Keeps the head and the tail of a program's output within a size."""

from __future__ import annotations


class Capture:
    """Bytes of one stream; what is beyond the size is dropped in the middle.

    Attributes:
        seen: bytes that came, kept or not.
    """

    def __init__(self, max_bytes: int) -> None:
        self._half = max(1, max_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.seen = 0

    def add(self, data: bytes) -> None:
        """Take what the program printed."""
        self.seen += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def truncated(self) -> bool:
        """Whether something was dropped."""
        return self.seen > 2 * self._half

    def text(self) -> str:
        """The output as text; bytes that are no UTF-8 become replacement characters."""
        tail = bytes(self._tail[-self._half :])
        if not self.truncated:
            return (bytes(self._head) + tail).decode("utf-8", errors="replace")
        left_out = self.seen - len(self._head) - len(tail)
        middle = f"\n… {left_out} bytes left out …\n"
        return self._head.decode("utf-8", errors="replace") + middle + tail.decode("utf-8", errors="replace")
