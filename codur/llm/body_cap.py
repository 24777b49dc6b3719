"""A bound on what is read of a response, so that a service cannot fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import httpx

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Far more than any answer within a token limit has."""


class BodyTooLargeError(Exception):
    """A response's body is larger than `MAX_BODY_BYTES`."""


async def cap_body(response: httpx.Response) -> None:
    """An httpx event hook for responses: reading their body beyond the bound raises `BodyTooLargeError`.

    Bytes are counted as they are sent; requests should ask for uncompressed answers.
    """
    response.stream = _Capped(cast(httpx.AsyncByteStream, response.stream))


class _Capped(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
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
