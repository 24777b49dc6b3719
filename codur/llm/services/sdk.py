"""The services' SDKs, opened alike: where requests go, with which key and headers, and how they fail.

The SDKs add headers of their own, and take keys, organisations and further headers from the environment, which belong
to one service and would go to every other that speaks the same protocol. So a request leaves with the headers named
here and no other, and with the endpoint's key or none.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import anyio

from codur.lazy import loaded
from codur.llm.profiles.availability import installed, missing
from codur.structs import Struct

if TYPE_CHECKING:
    import anthropic as anthropic
    import groq as groq
    import httpx as httpx
    import httpx2 as httpx2
    import openai as openai

    from codur.llm.profiles.endpoint import Endpoint

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Far more than any answer within a token limit has."""
CONNECT_TIMEOUT_S = 10.0  # an answer may take minutes, a connection never does
_PATHS = {"groq": "/openai/v1/chat/completions", "openai": "/chat/completions", "anthropic": "/v1/messages"}
_SDKS = {
    "groq": ("groq", "httpx", "AsyncGroq"),
    "openai": ("openai", "httpx2", "AsyncOpenAI"),
    "anthropic": ("anthropic", "httpx2", "AsyncAnthropic"),
}
"""The SDK of each api, the HTTP library below it, and its client."""
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    # The SDK would hand spans of every request to whatever is set up for OpenTelemetry in this process.
    "anthropic": {"open_telemetry": {"traces": False, "propagation": False}}
}
_NO_KEY = "unused"  # given to an SDK in place of a key, so that it looks for none itself; it is never sent
_SENT = frozenset(
    {"host", "accept", "accept-encoding", "connection", "user-agent", "content-type", "content-length"}
    | {"transfer-encoding", "anthropic-version"}
)


class BodyTooLargeError(Exception):
    """A response's body is larger than `MAX_BODY_BYTES`."""


class Client(Struct):
    """An SDK's client for one endpoint."""

    sdk: Any
    library: Any  # the HTTP library below the SDK: httpx, or what is built like it
    errors: Any  # the SDK's module, for its errors, which all SDKs name alike
    path: str  # where requests go
    failures: tuple[type[Exception], ...]  # all errors that `post`, and reading its response, may raise

    async def post(self, body: Mapping[str, Any], *, stream: bool) -> Any:
        """The response to a request, before its body has come if it is a stream; raises one of `failures`."""
        # The response itself: the SDKs' own models would drop or refuse what other servers send.
        return await self.sdk.post(self.path, cast_to=self.library.Response, body=dict(body), stream=stream)

    async def close(self) -> None:
        """Close the connections."""
        await self.sdk.close()


def open_client(endpoint: Endpoint) -> Client:
    """A client of OpenAI's SDK for `openai` if it is installed, else of Groq's; ServiceFailure if there is no SDK."""
    sdk = installed(endpoint.api)
    if not sdk:
        raise missing(endpoint.provider, endpoint.api)
    name, http, kind = _SDKS[sdk]
    errors, library = loaded(name), loaded(http)  # for runs that ask a model, and all but groq are extras
    opened = _made(getattr(errors, kind), library, endpoint, **_OPTIONS.get(sdk, {}))
    # The HTTP libraries let some errors of encrypted connections through as they are.
    failures = (errors.APIError, library.RequestError, TimeoutError, OSError, anyio.EndOfStream, BodyTooLargeError)
    return Client(sdk=opened, library=library, errors=errors, path=_PATHS[endpoint.api], failures=failures)


def _made(kind: Any, library: Any, endpoint: Endpoint, **more: Any) -> Any:
    # Without redirects the key goes to no other host. A server on this machine is never behind a proxy. Over plain http
    # no certificates are needed; loading them is a third of the client's start.
    plain = endpoint.base_url.startswith("http:")
    timeout = library.Timeout(endpoint.timeout_s, connect=min(CONNECT_TIMEOUT_S, endpoint.timeout_s))
    keys: dict[str, str] = {}

    async def only_ours(request: Any) -> None:
        for name in [name for name in request.headers if name.lower() not in _SENT]:
            del request.headers[name]
        request.headers.update({**keys, **endpoint.headers})

    http_client = library.AsyncClient(
        timeout=timeout,
        follow_redirects=False,
        trust_env=not endpoint.local,
        verify=_tls(library, plain=plain, trust_env=not endpoint.local),
        # Uncompressed, so that the bound on a body is one on memory.
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [only_ours], "response": [_body_cap(library)]},
    )
    client = kind(
        api_key=endpoint.key or _NO_KEY,
        base_url=endpoint.base_url,
        timeout=timeout,
        # Two retry layers multiply, and the SDK's does not wait as long as a service asks (it ignores a `Retry-After`
        # of more than 60 s).
        max_retries=0,
        http_client=http_client,
        **more,
    )
    # After the client is made, which knows how its service wants the key.
    keys |= client.auth_headers if endpoint.key else {}
    return client


@lru_cache(maxsize=8)
def _tls(library: Any, *, plain: bool, trust_env: bool) -> ssl.SSLContext:
    """Shared by all clients: each would load the same certificates."""
    # A context without certificates: nothing is encrypted, and loading them takes longer than connecting.
    if plain:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context: ssl.SSLContext = library.create_ssl_context(trust_env=trust_env)
    return context


def _body_cap(library: Any) -> Callable[[Any], Awaitable[None]]:
    """An event hook for responses: reading their body beyond the bound raises `BodyTooLargeError`.

    Bytes are counted as they are sent; requests should ask for uncompressed answers. `library` takes streams of its own
    type only.
    """
    # Made here, because the base class differs between httpx and httpx2, and neither is loaded before.
    kind: Any = type("Capped", (_Capped, library.AsyncByteStream), {})

    async def hook(response: Any) -> None:
        response.stream = kind(response.stream)

    return hook


class _Capped:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MAX_BODY_BYTES:
                raise BodyTooLargeError
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
