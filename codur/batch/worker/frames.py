"""What the supervisor and its worker tell each other: JSON objects, one a line, over a socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

_READ = 1 << 16


class FrameWriter:
    """Sends frames; safe to use from several threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, frame: Mapping[str, Any]) -> bool:
        """Send a frame; False if nobody is there any more."""
        data = json.dumps(frame, ensure_ascii=True).encode() + b"\n"
        try:
            with self._lock:
                self._connection.sendall(data)
        except (BrokenPipeError, ConnectionError):
            return False
        return True


class FrameReader:
    """Takes frames from a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parts: list[bytes] = []
        self.ended = False

    def fileno(self) -> int:
        """What becomes readable when there is something to `take`."""
        return self._connection.fileno()

    def take(self) -> list[dict[str, Any]]:
        """Read once; gives the frames that are complete by now. `ended` is set when the other side has gone."""
        try:
            data = self._connection.recv(_READ)
        except ConnectionError:
            data = b""
        self.ended = not data
        if b"\n" not in data:
            self._parts.append(data)
            return []
        *lines, rest = b"".join((*self._parts, data)).split(b"\n")
        self._parts = [rest]
        return [json.loads(line) for line in lines]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """All frames until the other side has gone."""
        while not self.ended:
            yield from self.take()
