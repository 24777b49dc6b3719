"""Reads one web page, and nothing else on any network.

A host is looked up once, all its addresses must be public, and the connection goes to one of these very addresses, with
the name in the TLS handshake and in the `Host` header. Redirects are followed by hand, each checked like the first URL.
No proxies, no cookies, no stored credentials.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from codur.background import in_thread
from codur.structs import Struct
from codur.web.target import FetchFailed, FetchRefused, FetchTimedOut, Target, is_public, join, read_url

if TYPE_CHECKING:
    import httpx

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host; raises OSError if it has none."""


def addresses_of(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, as the system knows them. Raises OSError: it has none."""
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


async def looked_up(target: Target, resolve: Resolve) -> Sequence[str]:
    """The addresses of a URL's host. Raises OSError, UnicodeError: it has none."""
    if target.is_address:
        return (target.host,)
    return await asyncio.wrap_future(in_thread(lambda: resolve(target.host, target.port), "codur-lookup"))


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = "codur (+reads single pages on request)"
_MAX_REASON = 200


class FetchLimits(Struct):
    """Bounds of one fetch, redirects included."""

    max_bytes: int = 5 * 1024**2  # of the body; what is beyond is left out
    seconds: float = 20.0  # from the look-up to the last byte
    redirects: int = 5  # followed at most


class Fetched(Struct):
    """A page."""

    url: str  # where it was found in the end
    status: int
    address: str  # the IP address that was asked for it
    content_type: str  # as the server says, in lower case, without parameters; empty if it does not
    charset: str  # as the server says; empty if it does not
    content: bytes
    truncated: bool = False  # there is more than was read


class Fetcher(Struct):
    """Reads pages by these rules."""

    ports: Collection[int] = (80, 443)  # the ones that may be asked
    limits: FetchLimits = FetchLimits()  # bounds of bytes, time and redirects
    resolve: Resolve = addresses_of  # looks a host up
    allowed: Callable[[str], bool] = is_public  # whether an address may be connected to
    redact: Callable[[str], str] | None = None  # takes secrets out of a text; a URL or a form that holds one is refused

    def fetch(self, url: str, form: Mapping[str, str] | None = None) -> Fetched:
        """Read a page; also one with an error status. Can be called with and without a running event loop.

        Args:
            form: sent with POST, to the first place only: with a form no redirect is followed.

        Raises:
            FetchRefused: the URL, one it redirects to, or an address of its host is not allowed.
            FetchFailed: no usable answer came.
        """
        # In a thread of its own, because the caller's may run an event loop.
        return in_thread(lambda: asyncio.run(self._follow(url, form)), "codur-fetch").result()

    async def _follow(self, url: str, form: Mapping[str, str] | None) -> Fetched:
        target = self._target(url, *(form or {}).values())
        # What a form says is for the place that was asked, and for no other that it names.
        redirects = 0 if form is not None else self.limits.redirects
        try:
            async with asyncio.timeout(self.limits.seconds):
                for _ in range(redirects + 1):
                    answer = await self._ask(target, form)
                    if isinstance(answer, Fetched):
                        return answer
                    target = answer
        except TimeoutError as error:
            raise FetchTimedOut(
                f"{target.host} did not send the page within {self.limits.seconds:g} s", remedy="Try again later."
            ) from error
        raise FetchRefused(
            f"more than {redirects} redirects, the last to {target.host}",
            remedy="Give the address of the page itself.",
        )

    def _target(self, url: str, *sent: str) -> Target:
        if self.redact is not None and any(self.redact(text) != text for text in (url, *sent)):
            raise FetchRefused("the request holds a secret", remedy="Leave it out.")
        return read_url(url, ports=self.ports)

    async def _ask(self, target: Target, form: Mapping[str, str] | None) -> Fetched | Target:
        """The page at `target`, or where it redirects to."""
        import httpx  # noqa: PLC0415 - lazy: most runs read no page

        address = await self._address(target)
        request = httpx.Request(
            "GET" if form is None else "POST",
            target.at(address),
            content=None if form is None else urlencode(form).encode(),
            headers={
                **({} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}),
                "Host": target.authority,
                "User-Agent": _USER_AGENT,
                "Accept": "text/html, text/plain, application/json, */*;q=0.5",
                "Accept-Encoding": "identity",  # so that a bound on a body is one on memory
                "Connection": "close",
            },
            extensions={"sni_hostname": target.host},
        )
        try:
            # A bare transport: a client would add cookies, passwords, proxies and its own reading of redirects.
            async with httpx.AsyncHTTPTransport(trust_env=False) as transport:
                response = await transport.handle_async_request(request)
                try:
                    return await self._answer(response, target, address)
                finally:
                    await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            reason = str(error) or type(error).__name__
            raise FetchFailed(f"{target.host} gave no usable answer: {reason:.{_MAX_REASON}}") from error

    async def _address(self, target: Target) -> str:
        try:
            found = await looked_up(target, self.resolve)
        except (OSError, UnicodeError) as error:
            raise FetchFailed(f"{target.host} is not known", remedy="Check the address.") from error
        if not found:
            raise FetchFailed(f"{target.host} has no address", remedy="Check the address.")
        # All, and not only the one that is taken: a public name that also has an address inside a network is an attempt
        # to reach it.
        if not all(self.allowed(address) for address in found):
            raise FetchRefused(
                f"{target.host} is not on the public internet", remedy="Only pages on the public internet are read."
            )
        return found[0]

    async def _answer(self, response: httpx.Response, target: Target, address: str) -> Fetched | Target:
        location = response.headers.get("location", "")
        if response.status_code in _REDIRECTS and location:
            return self._redirected(target, location)
        if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
            raise FetchFailed("the answer is compressed, which was not asked for")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk[: self.limits.max_bytes - len(body) + 1]
            if len(body) > self.limits.max_bytes:  # one byte more than fits tells that there is more
                break
        kind, _, _ = response.headers.get("content-type", "").partition(";")
        return Fetched(
            url=target.url,
            status=response.status_code,
            address=address,
            content_type=kind.strip().lower(),
            charset=response.charset_encoding or "",
            content=bytes(body[: self.limits.max_bytes]),
            truncated=len(body) > self.limits.max_bytes,
        )

    def _redirected(self, target: Target, location: str) -> Target:
        new = self._target(join(target, location))
        if target.scheme == "https" and new.scheme != "https":
            raise FetchRefused(
                f"{target.host} redirects from https to {new.scheme}", remedy="Give the address of the page itself."
            )
        return new
