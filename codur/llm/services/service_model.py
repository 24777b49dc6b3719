"""A model behind a service's SDK, whichever it is: one request, one answer.

The SDK's own retries are off. An agent acts on whole answers only: of one that is streamed, words are shown while they
come, and all else waits until the service has said that it is whole.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any

from codur.config.settings import Profile
from codur.errors import ModelAnswerError, ModelError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.rate_limits.told_limits import told_headers, with_limits
from codur.llm.request_failure import FailedGenerationError
from codur.llm.services.answer import AnswerReader
from codur.llm.services.anthropic_protocol import Blocks, MessageCollector, as_completion, messages_body
from codur.llm.services.chat_protocol import ChatCollector, request_body
from codur.llm.services.event_stream import Collector, EventDecoder, Speech, StreamError, UnreadableEventError
from codur.llm.services.sdk import MAX_BODY_BYTES, BodyTooLargeError, Client, open_client
from codur.llm.services.service_errors import FailureReader, error_of, status_of_error
from codur.parsing.json_values import read_json
from codur.types import Usage

FAILED_GENERATION_CODES = frozenset({"tool_use_failed", "json_validate_failed"})
_EVENT_STREAM = "text/event-stream"
_THOUGHTS = ("thinking", "redacted_thinking")
_KEPT = (*_THOUGHTS, "text", "tool_use")
_MOST_REMEMBERED = 64  # answers of one profile; a conversation of a step has far fewer
_KEEP_ALIVE = "ping"  # of Anthropic: the connection lives, the answer does not come any further

Show = Callable[["ChatRequest", str], None]
"""Gets a request and the next words of its answer."""


class Dialect:
    """The OpenAI chat protocol."""

    def __init__(self, profile: Profile, endpoint: Endpoint) -> None:
        self._profile = profile
        self._endpoint = endpoint

    def request(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body to send."""
        return request_body(request, self._profile, self._endpoint, stream=stream)

    def collector(self) -> Collector:
        """What puts a streamed answer together."""
        return ChatCollector()

    def completion(self, body: Any) -> Any:
        """A decoded answer, as a chat completion."""
        return body

    def remember(self, reply: ChatReply, body: Any) -> None:
        """Take note of a reply and the decoded answer that it was read from; this protocol needs nothing again."""


class MessagesDialect(Dialect):
    """Anthropic's messages.

    Answers with thoughts and tool calls are remembered: the service wants them back, as they were, with the results.
    """

    def __init__(self, profile: Profile, endpoint: Endpoint) -> None:
        super().__init__(profile, endpoint)
        self._said: dict[str, Blocks] = {}

    def request(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """See `Dialect.request`."""
        return messages_body(request, self._profile, self._said, stream=stream)

    def collector(self) -> Collector:
        """See `Dialect.collector`."""
        return MessageCollector()

    def completion(self, body: Any) -> Any:
        """See `Dialect.completion`."""
        return as_completion(body) if isinstance(body, Mapping) and "content" in body else body

    def remember(self, reply: ChatReply, body: Any) -> None:
        """See `Dialect.remember`."""
        blocks = [block for block in body["content"] if isinstance(block, dict)]
        # Without thoughts an answer can be made again from the message.
        if reply.tool_calls and any(block.get("type") in _THOUGHTS for block in blocks):
            self._said[reply.tool_calls[0].id] = [block for block in blocks if block.get("type") in _KEPT]
            while len(self._said) > _MOST_REMEMBERED:
                del self._said[next(iter(self._said))]


class ServiceModel:
    """One profile at one endpoint.

    Connections belong to the event loop they were opened in: call `close` before that loop ends.

    Args:
        profile_name, profile: the profile.
        endpoint: where it is asked.
        now: the present Unix time.
        show: gets the words of answers while they come; None asks for answers in one piece.
    """

    def __init__(
        self,
        profile_name: str,
        profile: Profile,
        endpoint: Endpoint,
        *,
        now: Callable[[], float] = time.time,
        show: Show | None = None,
    ) -> None:
        self.profile_name = profile_name
        self.profile = profile
        self._endpoint = endpoint
        self._now = now
        self._show = show
        self._dialect = (MessagesDialect if endpoint.api == "anthropic" else Dialect)(profile, endpoint)
        self._failures = FailureReader(profile_name=profile_name, profile=profile, endpoint=endpoint)
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._in_flight = 0
        self._in_one_piece = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`."""
        reader = AnswerReader(
            request=request, profile_name=self.profile_name, profile=self.profile, endpoint=self._endpoint
        )
        self._in_flight += 1
        try:
            outcome = await self._send(reader)
        except asyncio.CancelledError:
            # A cancelled request may leave its connection half read; others on the same client still need it.
            if self._in_flight == 1:
                await self.close()
            raise
        finally:
            self._in_flight -= 1
        # Raised here and not where the SDK's error was caught: that error holds the request with its key.
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None:
        """See `ChatModel.close`."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _send(self, reader: AnswerReader) -> ChatReply | ModelError:
        client, request = self._open(), reader.request
        # Words for people alone: neither data nor only tool calls are asked for.
        in_words = request.schema is None and not request.json_object and request.tool_choice != "required"
        stream = self._show is not None and not self._in_one_piece and in_words
        body = self._dialect.request(request, stream=stream)
        # What has come is kept even if the request fails: it has its price.
        exchange = _Answer(reader, self._dialect.collector(), self._show if stream else None)
        failed: Exception | None = None
        try:
            # Our own clock over all of it: the SDK's counts between two bytes, which a server can send for ever.
            async with asyncio.timeout(self._endpoint.timeout_s) as deadline:
                response = await client.post(body, stream=stream)
                exchange.headers = response.headers
                await exchange.follow(response, deadline, self._endpoint.timeout_s)
        except client.failures as error:
            failed = error
        outcome = self._read(exchange) if failed is None else self._failed(failed, client, exchange)
        headers = failed.response.headers if isinstance(failed, client.errors.APIStatusError) else exchange.headers
        if failed is None:  # a server may tell its errors only outside of streams, and end them without a word
            self._in_one_piece = exchange.begun and not exchange.heard
        return with_limits(outcome, told_headers(headers), self._now())

    def _open(self) -> Client:
        loop = asyncio.get_running_loop()
        # Connections of a loop that has ended cannot be used, nor closed, in another.
        if self._client is None or self._loop is not loop:
            self._client, self._loop = open_client(self._endpoint), loop
        return self._client

    def _failed(self, error: Exception, client: Client, exchange: _Answer) -> ChatReply | ModelError:
        causes = [error, *_causes(error)]
        for cause in causes:
            if isinstance(cause, KeyboardInterrupt):  # what it broke off failed while it was unwound, and hid it
                raise cause
        # First: the SDKs wrap it in their own errors of connection.
        if any(isinstance(cause, BodyTooLargeError) for cause in causes):
            return exchange.reader.unreadable(f"an answer of more than {MAX_BODY_BYTES // 1024**2} MiB")
        if isinstance(error, (client.errors.APITimeoutError, client.library.TimeoutException, TimeoutError)):
            return self._failures.of_timeout(self._so_far(exchange))
        if isinstance(error, client.errors.APIStatusError):
            response = error.response
            body = read_json(response.text, response.text)
            return self._told(response.status_code, body, response.headers, exchange.reader)
        if exchange.begun:
            return self._failures.of_break(_reason(causes), self._so_far(exchange))
        refused = any(isinstance(cause, client.library.ConnectError) for cause in causes)
        # Somebody was there: the connection broke later, or only its encryption failed.
        connected = not refused or any(isinstance(cause, ssl.SSLError) for cause in causes)
        return self._failures.of_connection(_reason(causes), connected=connected)

    def _read(self, exchange: _Answer) -> ChatReply | ModelError:
        """The reply in an answer that has come."""
        reader = exchange.reader
        if exchange.error is not None:
            return self._told(exchange.error.status, exchange.error.body, exchange.headers, reader)
        if exchange.is_page:
            return self._failures.of_page()
        if exchange.unreadable:
            return reader.unreadable(exchange.unreadable)
        if exchange.body is None:
            return self._failures.of_break("", self._so_far(exchange))
        error = error_of(exchange.body)
        if isinstance(error.get("code"), int):  # OpenRouter answers with status 200 and tells the real one within
            return self._told(status_of_error(error), exchange.body, exchange.headers, reader)
        try:
            reply = reader.read(self._dialect.completion(exchange.body))
        except ModelAnswerError as unusable:
            return unusable
        self._dialect.remember(reply, exchange.body)
        return reply

    def _told(self, status: int, body: Any, headers: Mapping[str, str], reader: AnswerReader) -> ChatReply | ModelError:
        details = error_of(body)
        if status == 400 and details.get("code") in FAILED_GENERATION_CODES:
            try:
                return reader.read_failed_generation(
                    str(details.get("failed_generation") or ""), str(details.get("message") or "")
                )
            except FailedGenerationError as failed:
                return failed
        return self._failures.of_status(status, body, told_headers(headers), self._now())

    def _so_far(self, exchange: _Answer) -> Usage:
        """What the part of an answer that has come may have cost."""
        return exchange.reader.usage_so_far(self._dialect.completion(exchange.collector.body()))


class _Answer:
    """What comes back for one request, in one piece or as a stream."""

    def __init__(self, reader: AnswerReader, collector: Collector, show: Show | None) -> None:
        self.headers: Mapping[str, str] = {}  # of the response
        self.begun = self.heard = False  # a stream has begun, and something came in it
        self.body: Any = None  # the decoded answer; None if a stream ended before it was whole
        self.error: StreamError | None = None  # what a stream told instead of the rest of the answer
        self.is_page = False  # a web page came, which a proxy or another server sent
        self.unreadable = ""  # what came instead of an answer, in words
        self.collector = collector
        self.reader = reader
        self._show = show
        self._speech = Speech()

    async def follow(self, response: Any, deadline: asyncio.Timeout, timeout_s: float) -> None:
        """Read a response; with each piece of a stream, the time that it has begins anew."""
        if self._show is None:
            self._whole(response.text)
            return
        try:
            # Errors, and servers that do not know streams, answer in one piece.
            if not response.headers.get("content-type", "").lower().startswith(_EVENT_STREAM):
                self._whole((await response.aread()).decode("utf-8", "replace"))
                return
            self.begun = True
            await self._pieces(response, deadline, timeout_s)
        except StreamError as error:
            self.error = error
        except UnreadableEventError:
            self.unreadable = "a stream that is not of its protocol"
        finally:
            await response.aclose()

    async def _pieces(self, response: Any, deadline: asyncio.Timeout, timeout_s: float) -> None:
        decoder = EventDecoder()
        async for piece in response.aiter_bytes():
            self.heard = True
            for event in decoder.feed(piece):
                if event.name != _KEEP_ALIVE:
                    deadline.reschedule(asyncio.get_running_loop().time() + timeout_s)
                self._tell(self._speech.add(self.collector.add(event)))
            if self.collector.ended:  # a server may leave the connection open
                self._tell(self._speech.rest())
                self.body = self.collector.body()
                return

    def _tell(self, words: str) -> None:
        if words and self._show is not None:
            self._show(self.reader.request, words)

    def _whole(self, text: str) -> None:
        self.body = read_json(text, text)
        if isinstance(self.body, str):
            self.is_page = text.lstrip().startswith("<")
            self.unreadable = "an answer that is not JSON"


def _causes(error: BaseException) -> list[BaseException]:
    """What led to `error`, from the outside in."""
    causes: list[BaseException] = []  # a chain may lead back to itself
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes


def _reason(causes: list[BaseException]) -> str:
    """The words of the innermost cause that has any."""
    return next((str(cause) for cause in reversed(causes) if str(cause)), "")
