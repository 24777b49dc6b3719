"""A host's addresses, looked up in a thread that nobody waits for when the process ends."""

import asyncio
import socket
from collections.abc import Callable, Sequence

from codur.background import in_thread
from codur.web.target import Target

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host; raises OSError if it has none."""


def addresses_of(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, as the system knows them. Raises OSError: it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


async def looked_up(target: Target, resolve: Resolve) -> Sequence[str]:
    """The addresses of a URL's host. Raises OSError, UnicodeError: it has none."""
    if target.is_address:
        return (target.host,)
    return await asyncio.wrap_future(in_thread(lambda: resolve(target.host, target.port), "codur-lookup"))
