"""What a service tells of its limits: the headers of its responses, and the words of its refusals.

Names: `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` (Groq, OpenAI and what speaks like them) and
`anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}` (Anthropic). A proxy may tell
those of the service behind it with a prefix (LiteLLM).
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar

from codur.lazy import regex
from codur.llm.model import ChatReply, Quota, Unit
from codur.llm.request_failure import ServiceFailure
from codur.structs import Struct, replace

_UNITS: tuple[Unit, ...] = ("requests", "tokens", "input_tokens", "output_tokens")
_MOST = 1e12  # more is no figure but a fault
_BEHIND = "llm_provider-"
_PART = regex(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|d|h|m|s)")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_SAID = regex(r"tokens per min\w* \(\w+\): Limit ([\d,]+), (?:Used [\d,]+, )?Requested ([\d,]+)", re.IGNORECASE)
_TOO_LONG = regex(
    r"context_length_exceeded|exceed_context_size|maximum context length|context limit|prompt (?:is )?too long"
    r"|input is too long|exceeds? (?:the |your |this )?(?:model's )?(?:available |maximum )?context"
    r"|context (?:length|window|size) (?:is |was )?exceeded",
    re.IGNORECASE,
)
_WINDOW = regex(
    r"(?:maximum context length (?:is|of)|available context size \(|context window of|context length of(?: only)?"
    r"|tokens >|\+ [\d,]+ >)\s*([\d,]+)|([\d,]+) maximum context length",
    re.IGNORECASE,
)
_PROMPT = regex(
    r"(?:resulted in|contains|Requested tokens \(|exceed context limit:) ?([\d,]+)|([\d,]+) tokens\)? (?:>|exceeds)",
    re.IGNORECASE,
)
"""How services name their window, and what a prompt came to: OpenAI and what speaks like it, Anthropic, llama.cpp (and
with it Ollama), llama-cpp-python, Mistral, LM Studio."""

Outcome = TypeVar("Outcome")


class SaidLimit(Struct):
    """The figures of a refusal."""

    limit: int  # tokens a minute, or the model's window
    requested: int = 0  # tokens that the request came to, its longest answer among them; 0 if that is not said
    prompt: int = 0  # tokens that the prompt alone came to; 0 if that is not said
    window: bool = False  # the limit is the model's window


def quotas_in(headers: Mapping[str, str], now: float) -> tuple[Quota, ...]:
    """The limits that a response tells; those that cannot be read are left out.

    Args:
        headers: names in lower case (or a mapping that does not tell them apart).
        now: the present Unix time.
    """
    return tuple(quota for quota in (_quota(headers, unit, now) for unit in _UNITS) if quota is not None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that a response asks for: by `retry-after-ms`, else by `Retry-After`; None if by neither."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    return milliseconds / 1000 if milliseconds is not None else seconds_in(headers.get("retry-after", ""), now)


def told_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """A response's headers, names in lower case; what a proxy passes on stands for what it does not say itself."""
    lower = {name.lower(): value for name, value in headers.items()}
    behind = {name.removeprefix(_BEHIND): value for name, value in lower.items() if name.startswith(_BEHIND)}
    return behind | lower  # what the proxy says itself counts: its limit is met first


def with_limits(outcome: Outcome, headers: Mapping[str, str], now: float) -> Outcome:
    """`outcome`, a reply or a failure, with the limits that came with it; anything else as it is."""
    if isinstance(outcome, ChatReply):
        return replace(outcome, limits=quotas_in(headers, now))
    if isinstance(outcome, ServiceFailure):
        outcome.limits = quotas_in(headers, now)
    return outcome


def said_limit(text: str) -> SaidLimit | None:
    """The figures in the words of a refusal: of a rate limit as Groq and OpenAI write them, or of a window."""
    found = _SAID.search(text)
    if found is not None:
        limit, requested = map(_whole, found.groups())
        return SaidLimit(limit=limit, requested=requested) if limit else None
    window = _WINDOW.search(text)
    limit = _whole(next(filter(None, window.groups()))) if window else 0
    prompt = _PROMPT.search(text)
    counted = _whole(next(filter(None, prompt.groups()))) if prompt else 0
    return SaidLimit(limit=limit, prompt=counted, window=True) if limit else None


def is_too_long(text: str) -> bool:
    """Whether the words of a refusal (its message, type and code) say that the request exceeds the model's window."""
    return _TOO_LONG.search(text) is not None


def seconds_in(text: str, now: float) -> float | None:
    """A wait in seconds: a number, a duration (`2m59.56s`), or a time (RFC 3339, HTTP); None if it cannot be read."""
    text = text.strip()
    if not text:
        return None
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    # A bare number is one of seconds.
    number = _number(text)
    return number if number is not None else _until(text, now)


def _quota(headers: Mapping[str, str], unit: Unit, now: float) -> Quota | None:
    name = unit.replace("_", "-")
    for limit, remaining, reset in (
        (f"x-ratelimit-limit-{name}", f"x-ratelimit-remaining-{name}", f"x-ratelimit-reset-{name}"),
        tuple(f"anthropic-ratelimit-{name}-{what}" for what in ("limit", "remaining", "reset")),
    ):
        most, left = _number(headers.get(limit, "")), _number(headers.get(remaining, ""))
        wait = seconds_in(headers.get(reset, ""), now)
        if most and left is not None and wait is not None:  # all three or nothing: a part of them says nothing of when
            return Quota(unit=unit, limit=most, remaining=min(left, most), reset_s=wait)
    return None


def _whole(text: str | None) -> int:
    return int((text or "").replace(",", "") or 0)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number < _MOST else None


def _until(text: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - lazy: only for the forms with a date

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # HTTP dates are in GMT
            return max(0.0, aware.timestamp() - now)
        except (ValueError, OverflowError):
            continue
    return None
