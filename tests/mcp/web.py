"""Servers on loopback: the honest one as a real application, and ones that answer HTTP by hand."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def application() -> Iterator[str]:
    """The honest server over streamable HTTP; gives its address."""
    import uvicorn

    from tests.mcp.honest import server

    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app(stateless_http=False)
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        thread.join(30)
        listening.close()


class Asked(BaseHTTPRequestHandler):
    """A request, answered by the function of its server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        self.server.answer(self)  # type: ignore[attr-defined]

    do_GET = do_DELETE = do_POST  # noqa: N815 - the standard library's names

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def by_hand(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback that answers every request so; gives its address and the paths that were asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    server.daemon_threads = True
    server.answer = answer  # type: ignore[attr-defined]
    server.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", server.seen  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
