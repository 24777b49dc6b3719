"""The signature of a failure: what it is, without what varies from run to run."""

import re
from hashlib import sha256
from typing import Literal

from codur.lazy import regex
from codur.types import Difference

MAX_CHARS = 400  # it is compared, recorded with each attempt, and shown

_VARYING_VALUES: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (regex(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
)
# Paths come first: their names can look like anything that follows.
_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"(?:[A-Za-z]:)?(?:/[\w.@+~-]+)+/?"), "<path>"),
    *_VARYING_VALUES,
    (regex(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (regex(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (regex(r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds)\b"), "<duration>"),
    # An edit moves lines: the same failure further down is the same failure.
    (regex(r"\bline \d+"), "line <n>"),
    (regex(r"\bpid[ =:]+\d+"), "pid <n>"),
    (regex(r"(\bthread '[^']*') \(\d+\)"), r"\1"),
    (regex(r"((?:127\.0\.0\.1|localhost):)\d+"), r"\1<port>"),
    (regex(r"\s+"), " "),
)


def signature_of(
    *,
    kind: str,
    exit_status: int | Literal["timeout"] | None = None,
    error: str = "",
    difference: Difference | None = None,
    failing: tuple[str, ...] = (),
) -> str:
    """The signature of a failed check; equal failures have equal ones. Of an error its last line counts."""
    last = error.strip().splitlines()[-1] if error.strip() else ""
    parts = [kind, "timeout" if exit_status == "timeout" else f"exit {exit_status}; {normalised(last)}"]
    if difference is not None:
        parts.append(f"line {difference.line}: {difference.expected!r} / {_steady(repr(difference.actual))}")
    parts += sorted(failing)
    signature = " | ".join(parts)
    # A digest of all of it, as cutting alone would make different failures equal.
    if len(signature) <= MAX_CHARS:
        return signature
    digest = sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{signature[: MAX_CHARS - len(digest) - 1]}#{digest}"


def told_apart(output: str) -> str:
    """What tells the failure of a runner that names no tests from another: a digest of its lines, in any order."""
    lines = sorted({normalised(line) for line in output.splitlines()})
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _steady(line: str) -> str:
    """An output line without addresses and UUIDs; its numbers, times and slashes are what the program is judged by."""
    for pattern, replacement in _VARYING_VALUES:
        line = pattern.sub(replacement, line)
    return line


def normalised(text: str) -> str:
    """A text without paths, addresses, times, durations, process numbers and ports."""
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text.strip()
