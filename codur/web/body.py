"""The body of an answer, decompressed within a bound."""

from __future__ import annotations

import zlib

from codur.web.page_errors import FetchFailed

ENCODINGS = "gzip, deflate"
_AUTOMATIC = 32 + zlib.MAX_WBITS  # gzip or zlib, as its header says
_RAW = -zlib.MAX_WBITS


class Body:
    """Collects at most `max_bytes` of the decompressed body, and reads no more than that of the compressed one.

    Args:
        encoding: the `Content-Encoding` header.

    Attributes:
        data: the body so far.
        full: there is more than fits; the rest need not be read.

    Raises:
        FetchFailed: an encoding that was not asked for.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        self.data = bytearray()
        self.full = False
        self._max = max_bytes
        self._read = 0
        self._encoding = encoding.strip().lower()
        if self._encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise FetchFailed("the answer is compressed in a way that was not asked for")
        self._decoder = None if self._encoding in {"", "identity"} else zlib.decompressobj(_AUTOMATIC)

    def feed(self, chunk: bytes) -> None:
        """Add what came.

        Raises:
            FetchFailed: it is not compressed as it should be.
        """
        chunk = chunk[: self._max - self._read + 1]
        self._read += len(chunk)
        try:
            plain = chunk if self._decoder is None else self._decompressed(self._decoder, chunk)
        except zlib.error as error:
            raise FetchFailed("the compressed answer is damaged") from error
        room = self._max - len(self.data)
        self.data += plain[:room]
        self.full = self.full or len(plain) > room or self._read > self._max

    def close(self) -> None:
        """There is no more.

        Raises:
            FetchFailed: the compressed answer ends too early.
        """
        if self._decoder is not None and self._read and not self.full and not self._decoder.eof:
            raise FetchFailed("the compressed answer ends too early")

    def _decompressed(self, decoder: zlib._Decompress, chunk: bytes) -> bytes:
        most = self._max - len(self.data) + 1
        try:
            return decoder.decompress(chunk, most)
        except zlib.error:
            if self._encoding != "deflate" or self._read != len(chunk):
                raise
        # Some servers send `deflate` without the zlib header that RFC 9110 asks for.
        self._decoder = zlib.decompressobj(_RAW)
        return self._decoder.decompress(chunk, most)
