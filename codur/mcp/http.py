"""A server that is reached over HTTP, behind a guard: one origin, one checked address, bounded answers.

Imports the protocol library; see `connection` for where that is done.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import cast

import httpx2
from mcp.client.streamable_http import streamable_http_client

from codur.mcp.server_errors import McpRefused
from codur.mcp.transports import MAX_MESSAGE, MAX_UNASKED, Streams, Trouble
from codur.web.fetch import Resolve, looked_up
from codur.web.target import Target, is_public

_LOCAL_NAME = "localhost"


class Guard(httpx2.AsyncBaseTransport):
    """Sends requests for one origin to one checked address of it; redirects elsewhere come back as they are."""

    def __init__(self, name: str, target: Target, trouble: Trouble, resolve: Resolve) -> None:
        self._name = name
        self.target = target
        self._trouble = trouble
        self._resolve = resolve
        self._pinned = ""
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; TransportError if it cannot be sent or answered: `Trouble` has it in words."""
        url = request.url
        there = (url.scheme, url.host, url.port or self.target.port)
        if there != (self.target.scheme, self.target.host, self.target.port):
            # The user's headers, which may be keys, go with every request: they must not follow a redirect or an
            # endpoint that the server names.
            raise self._refused(f"{self._name} leads to another place, {url.host}", request)
        sent = httpx2.Request(
            request.method,
            # To the address that was checked, and not to the name: a second lookup could give another one (DNS
            # rebinding). TLS still compares the certificate with the name, by `sni_hostname`.
            url.copy_with(host=await self._checked(request)),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": self.target.host},
        )
        try:
            response = await self._inner.handle_async_request(sent)
        except httpx2.TransportError as error:
            self._trouble.found(
                f"{self._name} cannot be reached: {str(error) or type(error).__name__:.200}",
                remedy=f"Check mcp_servers.{self._name}.url, and that the server runs.",
            )
            raise
        return await self._bounded(response, request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _checked(self, request: httpx2.Request) -> str:
        """The address that is asked, looked up once and the same from then on."""
        if not self._pinned:
            try:
                found = await looked_up(self.target, self._resolve)
            except (OSError, UnicodeError) as error:
                self._trouble.found(f"{self._name}: {self.target.host} is not known", remedy="Check the url.")
                raise httpx2.ConnectError("unknown host", request=request) from error
            if not found or not all(_may_be_asked(self.target, address) for address in found):
                raise self._refused(
                    f"{self._name}: {self.target.host} is not on the public internet",
                    request,
                    remedy="If it is meant, write its address itself (or localhost) in the url.",
                )
            self._pinned = found[0]
        return self._pinned

    async def _bounded(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        # The bound counts bytes as they arrive; a compressed answer could be a thousand times as long once it is
        # unpacked.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            self._trouble.found(f"{self._name} sent a compressed answer, which was not asked for")
            raise httpx2.RemoteProtocolError("compressed answer", request=request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self._name, self._trouble),
            extensions=response.extensions,
        )

    def _refused(self, message: str, request: httpx2.Request, *, remedy: str = "") -> httpx2.TransportError:
        # The first trouble is the cause; what follows comes from the library's attempts to go on.
        if self._trouble.error is None:
            self._trouble.error = McpRefused(message, remedy=remedy)
        return httpx2.UnsupportedProtocol(message, request=request)


@asynccontextmanager
async def opened(guard: Guard, headers: Mapping[str, str]) -> AsyncIterator[Streams]:
    """The streams to a server at an address, for as long as the context lasts."""
    async with (
        httpx2.AsyncClient(
            transport=guard,
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=None,  # the caller bounds each request as a whole
            trust_env=False,
            follow_redirects=False,
        ) as client,
        streamable_http_client(guard.target.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield cast(Streams, streams)  # the library's wrappers have what its session needs


class _Bounded(httpx2.AsyncByteStream):
    """An answer's body up to a limit."""

    def __init__(self, response: httpx2.Response, name: str, trouble: Trouble) -> None:
        self._response = response
        self._name = name
        self._trouble = trouble

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body's parts."""
        heard = 0
        async for part in cast(AsyncIterator[bytes], self._response.stream):
            heard += len(part)
            if heard > MAX_UNASKED:
                self._trouble.found(f"{self._name} does not stop sending", code="too_large")
                raise httpx2.ReadError("the answer is too long")
            yield part

    async def aclose(self) -> None:
        """Close the connection's side of it."""
        await self._response.aclose()


def _may_be_asked(target: Target, address: str) -> bool:
    """Public addresses; others only if the user's settings name them: by number, or this machine as `localhost`."""
    if target.is_address or is_public(address):
        return True
    return target.host == _LOCAL_NAME and ip_address(address).is_loopback
