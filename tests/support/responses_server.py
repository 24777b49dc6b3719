"""A server on this machine that speaks as much of OpenAI's Responses API as a coding agent needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

USAGE = {
    "input_tokens": 50,
    "input_tokens_details": {"cached_tokens": 10},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 55,
}


def message(text: str) -> dict[str, Any]:
    """An answer in words."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}


def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A wish to call one of the agent's tools."""
    return {"type": "function_call", "id": "f", "call_id": "c", "name": name, "arguments": json.dumps(arguments)}


class ResponsesServer:
    """Answers each request with the next of the items, the last one again and again.

    Attributes:
        requests: bodies of the requests, in their order.
        keys: the authorization that each of them had.
    """

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        self.requests: list[Any] = []
        self.keys: list[str] = []
        self._items = items
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def answer(self, body: bytes, key: str) -> bytes:
        """The events of the next answer."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(json.loads(body))
            self.keys.append(key)
        item = self._items[min(number, len(self._items) - 1)]
        response = {"id": f"r{number}"}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "output": [item], "usage": USAGE}},
        ]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

    def __enter__(self) -> ResponsesServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler(server: ResponsesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(404, b"{}", "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.endswith("/responses"):
                self._send(404, b"{}", "application/json")
                return
            self._send(200, server.answer(body, self.headers.get("Authorization", "")), "text/event-stream")

        def _send(self, status: int, data: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Nothing is printed."""

    return Handler
