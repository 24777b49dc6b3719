"""What of a URL counts: scheme, host, port, path. Everything that two programs could read in two ways is refused.

With the errors that say why a page was not read, and which addresses belong to the public internet.
"""

from collections.abc import Container
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

from codur.errors import CodurError, Refused
from codur.lazy import regex
from codur.structs import Struct


class FetchRefused(Refused):
    """The guard does not allow this request; nothing was sent to the refused place."""


class FetchFailed(CodurError):
    """The request was allowed and sent, and no usable answer came."""


class FetchTimedOut(FetchFailed):
    """No whole answer came in time."""


class ExtraMissing(CodurError):
    """A library is needed that only comes with the extra `codur[web]`."""

    def __init__(self, work: str) -> None:
        super().__init__(f"{work} needs libraries that are not installed", remedy='Run pip install "codur[web]".')


DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 4096
_FORBIDDEN = regex(r"[\x00-\x20\x7f-\xa0\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]")
_HOST = regex(r"(?=.{1,253}\.?$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.?")
_NUMBER = regex(r"[0-9]+|0x[0-9a-f]*")
_REMEDY = "Give a full address such as https://example.org/page."


class Target(Struct):
    """A URL that may be looked up."""

    scheme: str
    host: str  # name in ASCII, or IP address without brackets
    port: int
    path: str  # with the query, without the fragment
    is_address: bool  # the host is an IP address

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL."""
        return f"{self.scheme}://{self.authority}{self.path}"

    def at(self, address: str) -> str:
        """The URL with an IP address in place of the host."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def read_url(url: str, *, ports: Container[int] = (80, 443)) -> Target:
    """The parts of a URL.

    Args:
        ports: the ones that may be asked.

    Raises:
        FetchRefused: it is not http or https, holds a user name, white space, a control character or a backslash, has
            another port, or no proper host.
    """
    _require_plain(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _malformed() from error
    if parts.scheme not in DEFAULT_PORTS:
        raise FetchRefused(f"only http and https are read, not {parts.scheme or 'this'!r:.40}", remedy=_REMEDY)
    if "@" in parts.netloc:
        raise FetchRefused("the URL holds a user name", remedy="Leave out what stands before the @.")
    port = DEFAULT_PORTS[parts.scheme] if port is None else port
    if port not in ports:
        raise FetchRefused(f"port {port} is not allowed", remedy="Only the usual ports of web servers are asked.")
    host, is_address = _host(parts)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme=parts.scheme, host=host, port=port, path=path, is_address=is_address)


def join(base: Target, location: str) -> str:
    """The URL that a redirect leads to.

    Raises:
        FetchRefused: as `read_url`; checked here because joining drops and changes characters.
    """
    _require_plain(location)
    try:
        return location if urlsplit(location).scheme else urljoin(base.url, location)
    except ValueError as error:
        raise _malformed() from error


def _malformed() -> FetchRefused:
    return FetchRefused("the URL is malformed", remedy=_REMEDY)


def _require_plain(url: str) -> None:
    if len(url) > MAX_URL_CHARS:
        raise FetchRefused(f"the URL has more than {MAX_URL_CHARS} characters", remedy=_REMEDY)
    if _FORBIDDEN.search(url):
        raise FetchRefused("the URL holds white space, a control character or a backslash", remedy=_REMEDY)


def _host(parts: SplitResult) -> tuple[str, bool]:
    """The host in one spelling, and whether it is an IP address."""
    host = parts.hostname or ""
    if parts.netloc.startswith("["):
        return _address(IPv6Address, host)
    try:
        name = host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise _no_host() from error
    if not _HOST.fullmatch(name):
        raise _no_host()
    if _NUMBER.fullmatch(name.rstrip(".").rpartition(".")[2]):
        # What ends in a number is an IPv4 address (WHATWG URL, 3.5): here only in its usual form.
        return _address(IPv4Address, name)
    return name, False


def _address(kind: type[IPv4Address | IPv6Address], text: str) -> tuple[str, bool]:
    try:
        address = kind(text)
    except AddressValueError as error:
        raise _no_host() from error
    if "%" in text:
        raise _no_host()
    return str(address), True


def _no_host() -> FetchRefused:
    return FetchRefused("the URL has no proper host", remedy=_REMEDY)


# An allow list of what IANA has assigned for global use, less what has a special purpose (IANA's special-purpose
# address registries, RFC 6890, RFC 9637) or leads to an IPv4 address by another way (RFC 4291, 6052, 3056, 4380).
# Python's own `is_global` and `is_private` miss some of these, and differ between versions.
_SPECIAL_V4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carriers' shared addresses; clouds have services there
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # Azure's host, from inside
    "169.254.0.0/16",  # link-local; the clouds' metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/3",  # multicast, reserved, broadcast
)
_GLOBAL_V6 = "2000::/3"
_SPECIAL_V6 = (
    "2001::/23",  # protocol assignments, among them Teredo, which holds an IPv4 address
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4, which holds an IPv4 address
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)


def is_public(address: str) -> bool:
    """Whether an IPv4 or IPv6 address belongs to the public internet; False for what is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _special_v4())
    is_global = parsed.scope_id is None and parsed in IPv6Network(_GLOBAL_V6)
    return is_global and not any(parsed in network for network in _special_v6())


@cache
def _special_v4() -> tuple[IPv4Network, ...]:
    return tuple(IPv4Network(text) for text in _SPECIAL_V4)


@cache
def _special_v6() -> tuple[IPv6Network, ...]:
    return tuple(IPv6Network(text) for text in _SPECIAL_V6)
