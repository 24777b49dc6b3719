"""When a failed request is sent again. This is the only retry layer: the SDK's own is switched off.

Waits are drawn with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015): uniformly
between 0 and a bound that doubles with every attempt.
"""

import math
from collections.abc import Callable
from datetime import datetime

from codur.llm.clock import Clock
from codur.llm.request_failure import PASSING, ServiceFailure

BASE_S = 0.5
CAP_S = 30.0  # longer waits look like a hang to who watches


def jitter(attempt: int, clock: Clock) -> float:
    """The wait after the failed `attempt` (0 is the first), in seconds."""
    # bounded, as a power of a large number is no float
    return clock.random() * min(CAP_S, BASE_S * 2.0 ** min(attempt, 16))


def spoken(seconds: float) -> str:
    """A wait in words: `45 s`, `12 min`, `3 h 5 min`."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def come_back(seconds: float, now: float) -> str:
    """When to try again after `seconds` from `now` (Unix time), by the clock of this place: `in 12 min (at 14:05)`."""
    moment, today = datetime.fromtimestamp(math.ceil(now + seconds)), datetime.fromtimestamp(now)
    day = "" if moment.date() == today.date() else f"{moment:%Y-%m-%d} "
    return f"in {spoken(seconds)} (at {day}{moment:%H:%M})"


class Patience:
    """How often and how long one question is asked again.

    Args:
        max_attempts: requests at most, the first included.
        budget_s: longest total wait, in seconds.
        left: seconds left of the run.
    """

    def __init__(self, max_attempts: int, budget_s: float, clock: Clock, left: Callable[[], float]) -> None:
        self._max_attempts = max_attempts
        self._budget_s = budget_s
        self._clock = clock
        self._left = left
        self._failed = 0

    def wait_after(self, failure: ServiceFailure) -> float | None:
        """The wait before the next request, in seconds, or None if there must be none.

        What the service asks for is the least wait; the jitter comes on top, so that several runs that are told the
        same time do not come back together.
        """
        self._failed += 1
        if failure.kind not in PASSING or self._failed >= self._max_attempts:
            return None
        wait = (failure.retry_after_s or 0.0) + jitter(0 if failure.retry_after_s else self._failed - 1, self._clock)
        # Rather a fall-back profile now than this one later.
        if wait > self._budget_s or wait >= self._left():
            return None
        self._budget_s -= wait
        return wait
