"""A model behind Groq's SDK: Groq itself, or any server of the OpenAI chat protocol through the SDK's custom requests.

The SDK's own retries are off, and answers come in one piece: an agent acts on whole answers only.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import groq
import httpx

from codur.errors import ModelAnswerError
from codur.llm.answer import AnswerReader
from codur.llm.body_cap import MAX_BODY_BYTES, BodyTooLargeError, cap_body
from codur.llm.failure import FailedGenerationError
from codur.llm.limits import with_limits
from codur.llm.service_errors import FailureReader, error_of
from codur.llm.wire import request_body

if TYPE_CHECKING:
    from codur.config.settings import Profile
    from codur.errors import ModelError
    from codur.llm.endpoint import Endpoint
    from codur.llm.model import ChatReply, ChatRequest

CONNECT_TIMEOUT_S = 10.0
FAILED_GENERATION_CODES = frozenset({"tool_use_failed", "json_validate_failed"})


class GroqModel:
    """One profile at one endpoint.

    Connections belong to the event loop they were opened in: call `close` before that loop ends.

    Args:
        profile_name, profile: the profile.
        endpoint: where it is asked.
        now: the present Unix time.
    """

    def __init__(
        self, profile_name: str, profile: Profile, endpoint: Endpoint, *, now: Callable[[], float] = time.time
    ) -> None:
        self.profile_name = profile_name
        self.profile = profile
        self._endpoint = endpoint
        self._now = now
        self._failures = FailureReader(profile_name=profile_name, profile=profile, endpoint=endpoint)
        self._client: groq.AsyncGroq | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._in_flight = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`."""
        reader = AnswerReader(
            request=request, profile_name=self.profile_name, profile=self.profile, endpoint=self._endpoint
        )
        outcome = await self._send(request, reader)
        # Raised here and not where the SDK's error was caught: that error holds the request with its key.
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None:
        """See `ChatModel.close`."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _send(self, request: ChatRequest, reader: AnswerReader) -> ChatReply | ModelError:
        body = request_body(request, self.profile, self._endpoint)
        refused: groq.APIStatusError | None = None
        self._in_flight += 1
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                response = await self._post(body)
        except asyncio.CancelledError:
            if self._in_flight == 1:
                await self.close()
            raise
        except (groq.APITimeoutError, TimeoutError):
            return self._failures.of_timeout()
        except groq.APIConnectionError as error:
            causes = _causes(error)
            if any(isinstance(cause, BodyTooLargeError) for cause in causes):
                return reader.unreadable(f"an answer of more than {MAX_BODY_BYTES // 1024**2} MiB")
            return self._failures.of_connection(_reason(causes), connected=_connected(causes))
        except groq.APIStatusError as error:
            refused = error
        finally:
            self._in_flight -= 1
        outcome = self._refused(refused, reader) if refused else _read(response, reader)
        return with_limits(outcome, (refused.response if refused else response).headers, self._now())

    async def _post(self, body: dict[str, Any]) -> httpx.Response:
        client = self._open()
        if self._endpoint.api == "groq":
            raw = await client.chat.completions.with_raw_response.create(**body)
            response: httpx.Response = raw.http_response
            return response
        return await client.post("/chat/completions", cast_to=httpx.Response, body=body)

    def _open(self) -> groq.AsyncGroq:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = _client_of(self._endpoint), loop
        return self._client

    def _refused(self, error: groq.APIStatusError, reader: AnswerReader) -> ChatReply | ModelError:
        details = error_of(error.body)
        if error.status_code == 400 and details.get("code") in FAILED_GENERATION_CODES:
            try:
                return reader.read_failed_generation(
                    str(details.get("failed_generation") or ""), str(details.get("message") or "")
                )
            except FailedGenerationError as failed:
                return failed
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        return self._failures.of_status(error.status_code, error.body, headers, self._now())


def _client_of(endpoint: Endpoint) -> groq.AsyncGroq:
    # Without redirects the key goes to no other host. A server on this machine is never behind a proxy. Over plain http
    # no certificates are needed; loading them is a third of the client's start.
    plain = endpoint.base_url.startswith("http:")
    timeout = httpx.Timeout(endpoint.timeout_s, connect=min(CONNECT_TIMEOUT_S, endpoint.timeout_s))
    http_client = httpx.AsyncClient(
        timeout=timeout,
        follow_redirects=False,
        trust_env=not endpoint.local,
        verify=_tls(plain=plain, trust_env=not endpoint.local),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [cap_body]},
    )
    # An empty key is given as such, or the SDK would take GROQ_API_KEY and send it to another provider.
    headers: dict[str, Any] = {} if endpoint.key else {"Authorization": groq.Omit()}
    return groq.AsyncGroq(
        api_key=endpoint.key,
        base_url=endpoint.base_url,
        timeout=timeout,
        max_retries=0,
        default_headers=headers,
        http_client=http_client,
    )


@lru_cache(maxsize=4)
def _tls(*, plain: bool, trust_env: bool) -> ssl.SSLContext:
    """Shared by all clients: each would load the same certificates."""
    if plain:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.create_ssl_context(trust_env=trust_env)


def _read(response: httpx.Response, reader: AnswerReader) -> ChatReply | ModelError:
    text = response.text
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        if text.lstrip().startswith("<"):
            return reader.unreadable("a web page instead of an answer; the provider's base_url may be wrong")
        return reader.unreadable("an answer that is not JSON")
    try:
        return reader.read(body)
    except ModelAnswerError as error:
        return error


def _causes(error: BaseException) -> list[BaseException]:
    """What led to `error`, from the outside in."""
    causes: list[BaseException] = []
    cause = error.__cause__
    while cause is not None:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes


def _reason(causes: list[BaseException]) -> str:
    """The words of the innermost cause that has any."""
    return next((str(cause) for cause in reversed(causes) if str(cause)), "")


def _connected(causes: list[BaseException]) -> bool:
    """Whether somebody was there: the connection broke later, or only its encryption failed."""
    refused = bool(causes) and isinstance(causes[0], httpx.ConnectError)
    return not refused or any(isinstance(cause, ssl.SSLError) for cause in causes)
