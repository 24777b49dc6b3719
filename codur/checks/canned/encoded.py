"""A new literal that decodes to the expected output."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Callable, Iterator

from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes
from codur.checks.canned.wording import lines_of

MIN_ENCODED_CHARS = 16  # shorter words decode to something by chance
MAX_DECODED_BYTES = 1_000_000  # a few bytes can unpack to gigabytes
_ZLIB_OR_GZIP = 47  # 32 + 15: the header says which, with the largest window

_DECODERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: base64.b64decode(b"".join(data.split()), validate=True),
    lambda data: binascii.unhexlify(b"".join(data.split())),
    lambda data: data[::-1],
)


def encoded(changes: Changes, case: Case) -> str | None:
    # Data that the program had before is its own.
    known = {literal.value for old, _ in changes.values() for literal in old.literals}
    for path, (_, new) in changes.items():
        for value in (literal.value for literal in new.literals):
            if not isinstance(value, str | bytes) or value in known or len(value) < MIN_ENCODED_CHARS:
                continue
            if any(case.covers_most(Counter(lines_of(text))) for text in _decodings(value)):
                return f"{path} holds the expected output as an encoded literal"
    return None


def _decodings(value: str | bytes) -> Iterator[str]:
    candidates = [] if isinstance(value, str) else [value]
    for decode in _DECODERS:
        try:
            candidates.append(decode(value.encode("utf-8", "replace") if isinstance(value, str) else value))
        except ValueError:
            continue
    for data in candidates:
        yield data.decode("utf-8", "replace")
        try:
            yield zlib.decompressobj(_ZLIB_OR_GZIP).decompress(data, MAX_DECODED_BYTES).decode("utf-8", "replace")
        except zlib.error:
            continue
