"""A bound on what is read of a response, so that a service cannot fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Far more than any answer within a token limit has."""


class BodyTooLargeError(Exception):
    """A response's body is larger than `MAX_BODY_BYTES`."""


def body_cap(library: Any) -> Callable[[Any], Awaitable[None]]:
    """An event hook for responses: reading their body beyond the bound raises `BodyTooLargeError`.

    Bytes are counted as they are sent; requests should ask for uncompressed answers.

    Args:
        library: httpx, or what is built like it; it takes streams of its own type only.
    """
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
