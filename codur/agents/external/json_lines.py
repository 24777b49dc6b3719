"""Lines of JSON out of bytes that arrive in pieces: what is no object, too long or cut off is skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from codur.parsing.json_values import read_json

MAX_LINE = 1_048_576


class JsonLines:
    """Splits a stream into JSON objects.

    Args:
        take: gets each object.

    Attributes:
        objects: how many there were.
        skipped: lines that held none.
    """

    def __init__(self, take: Callable[[Mapping[str, Any]], None]) -> None:
        self._take = take
        self._held = bytearray()
        self._too_long = False
        self.objects = 0
        self.skipped = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece)
            self._line()
        self._hold(rest)

    def close(self) -> None:
        """There are no more bytes: what is left is the last line."""
        if self._held or self._too_long:
            self._line()

    def _hold(self, piece: bytes) -> None:
        if self._too_long or len(self._held) + len(piece) > MAX_LINE:
            self._too_long = True
            self._held.clear()
        else:
            self._held += piece

    def _line(self) -> None:
        line, too_long = bytes(self._held), self._too_long
        self._held.clear()
        self._too_long = False
        if not too_long and not line.strip():
            return
        value = None if too_long else read_json(line)
        if isinstance(value, dict):
            self.objects += 1
            self._take(value)
        else:
            self.skipped += 1
