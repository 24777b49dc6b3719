"""What a rate limit lets through, and when: one that a service tells, and one that is known beforehand.

Most services let their limits fill up steadily (the token bucket of J. Turner, "New directions in communications",
IEEE Communications Magazine, 1986): Groq's `reset` is what is missing divided by the rate. Others give everything back
at once when a window ends. Which of the two it is shows in each response; until it does, the second is assumed, which
is never too early.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.llm.rate_limit import Quota, Unit

MINUTE_S = 60.0
DAY_S = 86_400.0
_PERIODS = (MINUTE_S, DAY_S, 3600.0, 1.0)  # the likely ones first
OVERTAKING_S = 2.0
_LIKENESS = 0.1  # services round what they tell
_ROUNDING_S = 0.05
_SLACK_TOKENS = 100.0
"""Services wrap a prompt in some tokens of their own, which no estimate knows."""
_LATE_S = 1.0
"""Two requests may be on their way for different times, so that they arrive closer together than they were sent."""


class ToldWindow:
    """A limit as a service last told it.

    Requests that were sent within `OVERTAKING_S` may have reached the service in another order, so that the answer to
    the later one tells of the earlier state: of what they tell, the least counts.
    """

    def __init__(self, quota: Quota, uncounted: float, now: float, *, sent_at: float) -> None:
        self.unit = quota.unit
        self._unsteady = False
        self._period: float | None = None
        self._longest = 0.0
        self._levels: list[tuple[float, float]] = []
        self.tell(quota, uncounted, now, sent_at=sent_at)

    def tell(self, quota: Quota, uncounted: float, now: float, *, sent_at: float) -> None:
        """Take over what a response says.

        Args:
            quota: what it tells.
            uncounted: what was sent and may not be in that figure yet.
            now: monotonic seconds when the response was there.
            sent_at: when its request was sent.
        """
        self.limit = quota.limit
        if self._levels:
            self._settle(now)
        kept = [item for item in self._levels if item[0] > sent_at - OVERTAKING_S]
        self._levels = [*kept, (sent_at, quota.remaining - uncounted)]
        self._at = now
        self._resets_at = now + quota.reset_s
        self._may_reset_at = sent_at + quota.reset_s
        self._next = uncounted if now >= self._may_reset_at else 0.0
        self._longest = max(self._longest, quota.reset_s)
        self._slack = 0.0 if quota.unit == "requests" else min(_SLACK_TOKENS, 0.05 * quota.limit)
        # Nothing is missing: that does not say how it would come back.
        if quota.limit - quota.remaining < 1:  # nothing is missing: that does not say how it would come back
            return
        share = 1.0 - quota.remaining / quota.limit
        period = next((item for item in _PERIODS if _alike(share * item, quota.reset_s)), None)
        self._unsteady = self._unsteady or period is None
        self._period = period

    @property
    def most(self) -> float:
        """The most that can ever be asked for at once."""
        return self.limit - self._slack

    @property
    def is_daily(self) -> bool:
        """Whether it is a limit for a whole day."""
        return self._period == DAY_S or self._longest > 3600.0

    def wait_s(self, amount: float, ahead: float, now: float) -> float:
        """Seconds until `amount` can be taken after `ahead` was."""
        self._settle(now)
        level = min(level for _, level in self._levels)
        lacking = amount + ahead + self._slack - level
        if lacking <= 0:
            return 0.0
        if self._is_steady:
            return lacking * self._refill_s / self.limit
        # What is ahead may take whole windows.
        rounds = max(0, math.ceil((lacking + level) / self.limit) - 1)
        return max(0.0, self._resets_at - now) + rounds * self._window_s

    def take(self, amount: float, now: float) -> None:
        """Count what is sent."""
        self._settle(now)
        self._levels = [(sent_at, level - amount) for sent_at, level in self._levels]
        if now >= self._may_reset_at:  # it may be counted in the window after this one
            self._next += amount

    @property
    def _is_steady(self) -> bool:
        return self._period is not None and not self._unsteady

    @property
    def _refill_s(self) -> float:
        return self._period or MINUTE_S

    @property
    def _window_s(self) -> float:
        return max(self._longest, MINUTE_S)

    def _settle(self, now: float) -> None:
        if self._is_steady:
            more = (now - self._at) * self.limit / self._refill_s
            self._levels = [(sent_at, min(self.limit, level + more)) for sent_at, level in self._levels]
        elif now >= self._resets_at:
            # A new window: full, but for what was sent when it may have begun already.
            self._levels = [(self._levels[-1][0], self.limit - self._next)]
            self._resets_at = self._may_reset_at = now + self._window_s
            self._next = 0.0
        self._at = now


class SentLog:
    """What was sent within the last minute, for limits of which no response tells.

    A sliding window: what keeps to it keeps to a bucket and to a fixed window of the same size too.
    """

    def __init__(self) -> None:
        self._sent: deque[tuple[float, float]] = deque()

    def add(self, tokens: float, now: float) -> None:
        """Count a request."""
        self._forget(now)
        self._sent.append((now, tokens))

    def requests(self, now: float) -> int:
        """How many there were."""
        self._forget(now)
        return len(self._sent)

    def wait_s(self, unit: Unit, limit: float, amount: float, ahead: float, now: float) -> float:
        """Seconds until `amount` can be sent after `ahead` was, at `limit` a minute."""
        self._forget(now)
        counted = [(at, 1.0 if unit == "requests" else tokens) for at, tokens in self._sent]
        lacking = sum(size for _, size in counted) + amount + ahead - limit
        for at, size in counted:
            if lacking <= 0:
                break
            lacking -= size
            if lacking <= 0:
                return max(0.0, at + MINUTE_S + _LATE_S - now)
        if lacking <= 0:
            return 0.0
        return math.ceil(lacking / limit) * (MINUTE_S + _LATE_S)

    def _forget(self, now: float) -> None:
        while self._sent and self._sent[0][0] <= now - MINUTE_S - _LATE_S:
            self._sent.popleft()


def _alike(expected: float, told: float) -> bool:
    return abs(expected - told) <= _LIKENESS * expected + _ROUNDING_S
