"""A server on loopback that sends scripted bytes, and counts who asks."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

Script = Callable[[bytes], Iterable[bytes]]
"""What is sent, piece by piece, for the head of a request."""


def page(body: bytes = b"hello", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """A redirect."""
    return page(b"", f"Location: {location}", status=status)


def forever(piece: bytes, *, head: bytes = b"", pause_s: float = 0.0) -> Iterator[bytes]:
    """`head`, then `piece` for 30 s, or until the client has gone or the server is closed."""
    yield head
    end = time.monotonic() + 30
    while time.monotonic() < end:
        yield piece
        time.sleep(pause_s)


class Server:
    """Serves `script`; each connection gets one answer.

    Attributes:
        requests: all requests, with their bodies.
        port: where it listens, on 127.0.0.1.
    """

    def __init__(self, script: Script | bytes) -> None:
        self.requests: list[bytes] = []
        self._script: Script = (lambda _head: [script]) if isinstance(script, bytes) else script
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._threads = [threading.Thread(target=self._serve)]
        self._closed = threading.Event()

    def __enter__(self) -> Server:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join()

    def url(self, path: str = "/", host: str = "page.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                thread = threading.Thread(target=self._answer, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(30)
            head = connection.recv(65536)
            if not head:
                return
            wanted = re.search(rb"(?i)content-length: *(\d+)", head)
            while wanted and len(head.partition(b"\r\n\r\n")[2]) < int(wanted[1]):
                head += connection.recv(65536) or b"\0"
            self.requests.append(head)
            for piece in self._script(head):
                if self._closed.is_set():
                    return
                connection.sendall(piece)
