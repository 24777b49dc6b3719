"""A program's output, kept within bounds while it arrives."""

from collections.abc import Callable


class BoundedOutput:
    """The head and the tail of a stream of bytes; what is between is counted and dropped.

    Args:
        limit: bytes kept at most.
        tap: gets all bytes as they arrive.
    """

    def __init__(self, limit: int, tap: Callable[[bytes], None] | None = None) -> None:
        self._tap = tap
        self._head_size = limit // 2
        self._tail_size = limit - self._head_size
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def truncated(self) -> bool:
        """Whether something was dropped."""
        return len(self._tail) > self._tail_size or self._dropped > 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._tap is not None:
            self._tap(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            if len(self._tail) > 2 * self._tail_size + 65_536:  # seldom: cutting the front moves the rest
                self._cut()

    def text(self) -> str:
        """What was kept, as UTF-8; bytes that are not become replacement characters."""
        self._cut()
        if not self._dropped:
            return _decode(self._head + self._tail)
        return f"{_decode(self._head)}\n[… {self._dropped} bytes left out …]\n{_decode(self._tail)}"

    def _cut(self) -> None:
        surplus = len(self._tail) - self._tail_size
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus


def _decode(data: bytes | bytearray) -> str:
    # At the end and not as it arrives: a character may be split between two reads.
    return data.decode("utf-8", "replace")
