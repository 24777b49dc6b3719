"""A scripted server of the Groq and OpenAI chat protocol on the loopback interface, for tests with the real client.

    with GroqServer([text("Hello."), calls(("read_file", {"path": "a.py"})), error(429, retry_after=2)]) as server:
        ...  # GROQ_BASE_URL=server.url, or base_url=server.url, or server.openai_url for `api: openai`
        assert server.requests[0].body["model"] == "openai/gpt-oss-120b"
        assert server.unexpected == 0

Replies are given in order, whichever path or model is asked. A reply may also come from a function that gets the
decoded request body; one that is called by several threads must be safe for that. When the replies have run out, the
server answers 500 with a clear message and counts the request in `unexpected`; an error in the function counts too.

Replies are made by `text`, `calls`, `json_reply`, `error`, `failed_generation`, `raw`, `cut`, `hang_up` and `hold`;
`dataclasses.replace(reply, delay_s=0.2)` changes one; streams are made in `chat_streams` and `anthropic_server`. A
reply made by `hold` is sent only after `server.release()`;
`server.holding` is an event that is set when a request waits there.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

PATHS = ("/openai/v1/chat/completions", "/v1/chat/completions")
HOLD_LIMIT_S = 60.0
"""A held reply goes out after this time anyway, so that a failing test ends."""


@dataclass(frozen=True, kw_only=True)
class ServerReply:
    """What is sent for one request.

    Attributes:
        status, headers, body: the response; a mapping is sent as JSON, text and bytes as they are.
        delay_s: wait before anything is sent.
        cut_at: send only so many bytes of the body, then close the connection.
        hang_up: close the connection without any response.
        held: wait for `GroqServer.release`.
        stays_open: after the body (or what `cut_at` leaves of it), keep the connection until `GroqServer.release`.
        sized: tell the length of the body; if not, it ends with the connection.
        pieces: send the body in pieces of so many bytes.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | str | bytes = ""
    delay_s: float = 0.0
    cut_at: int | None = None
    hang_up: bool = False
    held: bool = False
    stays_open: bool = False
    sized: bool = True
    pieces: int | None = None


@dataclass(frozen=True, kw_only=True)
class RecordedRequest:
    """A request as it came in; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any


Replies = Sequence[ServerReply] | Callable[[Any], ServerReply]

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def completion(
    message: Mapping[str, Any], *, finish_reason: str | None = "stop", usage: Mapping[str, Any] | None = USAGE
) -> dict[str, Any]:
    """The body of a chat completion with one choice; without usage numbers if `usage` is None."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-server",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}],
    }
    return body if usage is None else {**body, "usage": dict(usage)}


def text(
    content: str | None, *, finish_reason: str | None = "stop", usage: Mapping[str, Any] | None = USAGE
) -> ServerReply:
    """An answer in words."""
    return ServerReply(body=completion({"content": content}, finish_reason=finish_reason, usage=usage))


def json_reply(value: Mapping[str, Any], *, usage: Mapping[str, Any] | None = USAGE) -> ServerReply:
    """An answer whose text is a JSON object."""
    return text(json.dumps(value), usage=usage)


def calls(
    *wanted: tuple[str, Mapping[str, Any] | str],
    content: str | None = None,
    finish_reason: str = "tool_calls",
    usage: Mapping[str, Any] | None = USAGE,
) -> ServerReply:
    """An answer with tool calls: (name, arguments); arguments given as a string are sent as they are."""
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(wanted, start=1)
    ]
    message = {"content": content, "tool_calls": tool_calls}
    return ServerReply(body=completion(message, finish_reason=finish_reason, usage=usage))


def error(
    status: int,
    message: str = "Something is wrong.",
    *,
    code: str = "",
    kind: str = "invalid_request_error",
    retry_after: float | str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> ServerReply:
    """An error in the service's form; `more` are further fields of the error object."""
    details = {"message": message, "type": kind, **({"code": code} if code else {}), **more}
    waits = {} if retry_after is None else {"retry-after": str(retry_after)}
    return ServerReply(status=status, headers={**waits, **(headers or {})}, body={"error": details})


def failed_generation(generated: str, *, code: str = "tool_use_failed") -> ServerReply:
    """The 400 that says that the model's answer could not be read, with that answer."""
    return error(400, "Failed to call a function.", code=code, failed_generation=generated)


def raw(body: str | bytes, *, status: int = 200, content_type: str = "text/html") -> ServerReply:
    """Any body."""
    return ServerReply(status=status, headers={"content-type": content_type}, body=body)


def cut(reply: ServerReply, at: int = 20) -> ServerReply:
    """`reply` with a connection that breaks after `at` bytes of its body."""
    return ServerReply(status=reply.status, headers=reply.headers, body=reply.body, cut_at=at)


def hang_up() -> ServerReply:
    """A connection that is closed without a response."""
    return ServerReply(hang_up=True)


def hold(reply: ServerReply | None = None) -> ServerReply:
    """`reply` (or any answer), sent only after `GroqServer.release`."""
    reply = reply or text("Released.")
    return ServerReply(status=reply.status, headers=reply.headers, body=reply.body, held=True)


class GroqServer:
    """The server; it listens from construction on, and answers while the `with` block runs.

    Attributes:
        url: base URL for a provider with `api: groq`, or for `GROQ_BASE_URL`.
        openai_url: base URL for a provider with `api: openai`.
        requests: what has come in, in order.
        unexpected: requests for which there was no reply, or on other paths.
        holding: set as soon as a request waits for `release`.
        looked_up: the paths of GET requests, and of those in `posts`.

    Args:
        paths: where requests are answered.
        gets: what is answered to GET requests, by path.
        posts: what is answered to POST requests that are no questions to a model, by path.
    """

    def __init__(
        self,
        replies: Replies = (),
        *,
        paths: Sequence[str] = PATHS,
        gets: Mapping[str, ServerReply] | None = None,
        posts: Mapping[str, ServerReply] | None = None,
    ) -> None:
        self.paths = tuple(paths)
        self.gets = dict(gets or {})
        self.posts = dict(posts or {})
        self.looked_up: list[str] = []
        self.requests: list[RecordedRequest] = []
        self.unexpected = 0
        self.holding = threading.Event()
        self._replies = replies
        self._next = 0
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler, self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.openai_url = f"{self.url}/v1"

    def __enter__(self) -> GroqServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of all requests."""
        return [request.body for request in self.requests]

    def release(self) -> None:
        """Let all held replies go, now and later."""
        self._released.set()

    def answer(self, request: RecordedRequest) -> ServerReply:
        """Record `request` and choose its reply."""
        with self._lock:
            self.requests.append(request)
            if request.path not in self.paths:
                self.unexpected += 1
                return error(404, f"The test server has no path {request.path}.", code="unknown_url")
            if callable(self._replies):
                function = self._replies
            elif self._next < len(self._replies):
                self._next += 1
                return self._replies[self._next - 1]
            else:
                self.unexpected += 1
                return error(500, f"The test server has no reply for request {len(self.requests)}.")
        return function(request.body)

    def wait_for_release(self) -> None:
        """Block until `release`."""
        self.holding.set()
        self._released.wait(HOLD_LIMIT_S)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], owner: GroqServer) -> None:
        self.owner = owner
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of the tests; any other error is not."""
        if not isinstance(sys.exception(), OSError):
            self.owner.unexpected += 1
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body in one write: two small ones wait for each other's acknowledgement
    server: _Http

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        data = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path in self.server.owner.posts:
            self.server.owner.looked_up.append(self.path)
            self._send(self.server.owner.posts[self.path])
            return
        reply = self.server.owner.answer(RecordedRequest(path=self.path, headers=headers, body=_decoded(data)))
        if reply.held:
            self.server.owner.wait_for_release()
        if reply.delay_s:
            time.sleep(reply.delay_s)
        if reply.hang_up:
            self.close_connection = True
            return
        self._send(reply)

    def do_GET(self) -> None:
        self.server.owner.looked_up.append(self.path)
        self._send(self.server.owner.gets.get(self.path) or error(404, f"There is nothing at {self.path}."))

    def _send(self, reply: ServerReply) -> None:
        content_type = "application/json" if isinstance(reply.body, Mapping) else "text/plain"
        body = reply.body
        if isinstance(body, Mapping):
            body = json.dumps(body)
        data = body.encode() if isinstance(body, str) else body
        headers = {"content-type": content_type, **{name.lower(): value for name, value in reply.headers.items()}}
        self.send_response(reply.status)
        ending = {"content-length": str(len(data))} if reply.sized else {"connection": "close"}
        for name, value in {**headers, **ending}.items():
            self.send_header(name, value)
        self.end_headers()
        data = data if reply.cut_at is None else data[: reply.cut_at]
        size = reply.pieces or max(len(data), 1)
        for start in range(0, len(data), size):
            self.wfile.write(data[start : start + size])
            self.wfile.flush()
        if reply.stays_open:
            self.server.owner.wait_for_release()
        if reply.cut_at is not None or not reply.sized:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """The tests' output stays clean."""


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
