"""When a failed request is sent again. This is the only retry layer: the SDK's own is switched off.

Waits are drawn with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015): uniformly
between 0 and a bound that doubles with every attempt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from codur.llm.request_failure import PASSING

if TYPE_CHECKING:
    from codur.llm.request_failure import ServiceFailure

BASE_S = 0.5
CAP_S = 30.0


def jitter(attempt: int, random: Callable[[], float]) -> float:
    """The wait after the failed `attempt` (0 is the first), in seconds."""
    return random() * min(CAP_S, BASE_S * 2.0 ** min(attempt, 16))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait that a response asks for, in seconds: by `retry-after-ms`, else by `Retry-After` (seconds or HTTP date).

    Args:
        headers: the response's headers, names in lower case.
        now: the present Unix time.

    Returns:
        None if there is none or it cannot be read.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    return seconds if seconds is not None or not value else _until(value, now)


def spoken(seconds: float) -> str:
    """A wait in words: `45 s`, `12 min`, `3 h 5 min`."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def come_back(seconds: float, now: float) -> str:
    """When to try again after `seconds`, with the clock of this place: `in 12 min (at 14:05)`.

    Args:
        now: the present Unix time.
    """
    from datetime import datetime  # noqa: PLC0415 - lazy: only for a run that ends because of a rate limit

    moment, today = datetime.fromtimestamp(math.ceil(now + seconds)), datetime.fromtimestamp(now)
    day = "" if moment.date() == today.date() else f"{moment:%Y-%m-%d} "
    return f"in {spoken(seconds)} (at {day}{moment:%H:%M})"


class Patience:
    """How often and how long one question is asked again.

    Args:
        max_attempts: requests at most, the first included.
        budget_s: longest total wait, in seconds.
        random: uniform numbers from 0 to 1.
        time_left: seconds left of the run; None if it has no end.
    """

    def __init__(
        self,
        *,
        max_attempts: int,
        budget_s: float,
        random: Callable[[], float],
        time_left: Callable[[], float] | None = None,
    ) -> None:
        self._max_attempts = max_attempts
        self._budget_s = budget_s
        self._random = random
        self._time_left = time_left
        self._failed = 0

    def wait_after(self, failure: ServiceFailure) -> float | None:
        """The wait before the next request, in seconds, or None if there must be none.

        What the service asks for is the least wait; the jitter comes on top, so that several runs that are told the
        same time do not come back together.
        """
        self._failed += 1
        if failure.kind not in PASSING or self._failed >= self._max_attempts:
            return None
        wait = (failure.retry_after_s or 0.0) + jitter(0 if failure.retry_after_s else self._failed - 1, self._random)
        left = math.inf if self._time_left is None else self._time_left()
        if wait > self._budget_s or wait >= left:
            return None
        self._budget_s -= wait
        return wait


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(value: str, now: float) -> float | None:
    from datetime import UTC  # noqa: PLC0415 - lazy: only for the rare date form
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - lazy: only for the rare date form

    try:
        moment = parsedate_to_datetime(value)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, aware.timestamp() - now)
    except (ValueError, OverflowError):
        return None
