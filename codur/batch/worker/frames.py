"""Messages between the supervisor and its worker: JSON objects, one a line, over a socket."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from msgspec import to_builtins

from codur.structs import Struct, convert

M = TypeVar("M")

_READ = 1 << 16


class FrameWriter:
    """Sends messages; safe to use from several threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: Struct) -> bool:
        """Send a message; False if nobody is there any more."""
        data = encoded(message)
        try:
            with self._lock:
                self._connection.sendall(data + b"\n")
        except (BrokenPipeError, ConnectionError):
            return False
        return True


class FrameReader(Generic[M]):
    """Takes messages of these kinds from a socket."""

    def __init__(self, connection: socket.socket, kind: Any) -> None:
        self._connection = connection
        self._kind = kind
        self._parts: list[bytes] = []
        self.ended = False

    def fileno(self) -> int:
        """What becomes readable when there is something to `take`."""
        return self._connection.fileno()

    def take(self) -> list[M]:
        """Read once; gives the messages that are complete by now. `ended` is set when the other side has gone."""
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
        return [decoded(line, self._kind) for line in lines]

    def __iter__(self) -> Iterator[M]:
        """All messages until the other side has gone."""
        while not self.ended:
            yield from self.take()


def encoded(message: Struct) -> bytes:
    """A message as a line of JSON."""
    plain = to_builtins(message, enc_hook=os.fspath)
    return json.dumps(plain, ensure_ascii=True).encode()  # paths and patches may hold what is no UTF-8


def decoded(data: bytes, kind: Any) -> Any:
    """The message of this kind that `encoded` gave."""
    return convert(json.loads(data), kind, dec_hook=_made)


def _made(kind: type[Any], value: Any) -> Any:
    """A type that JSON does not know: a path."""
    return kind(value)
