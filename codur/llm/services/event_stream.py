"""Server-sent events, as streamed answers come: bytes in, events out.

After the WHATWG's HTML standard, section 9.2.6. What is left of an event when the stream ends is not one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One event: its name (empty if it has none) and its data."""

    name: str
    data: str


class EventDecoder:
    """Puts events together from pieces of a stream that may be cut anywhere, within characters too."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._after_return = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that are complete with `piece`."""
        for line in self._lines(piece):
            if line:
                self._field(line)
            elif self._data:
                yield ServerEvent(name=self._name, data="\n".join(self._data))
                self._name, self._data = "", []
            else:
                self._name = ""

    def _lines(self, piece: bytes) -> Iterator[str]:
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        if piece:
            self._after_return = piece.endswith(b"\r")
        *whole, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in whole:
            self._line += end
            yield self._line.decode("utf-8", "replace")
            self._line.clear()
        self._line += rest

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")  # a comment is a field without a name
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
