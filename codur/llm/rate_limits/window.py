"""What a rate limit lets through, and when.

Most services let their limits fill up steadily (the token bucket of J. Turner, "New directions in communications",
IEEE Communications Magazine, 1986): Groq's `reset` is what is missing divided by the rate. Others give everything back
at once when a window ends. Which of the two it is shows in each response; until it does, the second is assumed, which
is never too early.
"""

from __future__ import annotations

import heapq
import math

from codur.llm.model import Quota, Unit

MINUTE_S = 60.0
DAY_S = 86_400.0
_PERIODS = (MINUTE_S, DAY_S, 3600.0, 1.0)  # the likely ones first
OVERTAKING_S = 2.0
"""Requests that were sent within this time may have reached the service in another order."""
_LIKENESS = 0.1  # services round what they tell
_ROUNDING_S = 0.05
_SLACK_TOKENS = 100.0  # services wrap a prompt in some tokens of their own, which no estimate knows


class Window:
    """A limit as it stands; of what answers to requests of nearly the same time tell of it, the least counts."""

    def __init__(self, quota: Quota, now: float) -> None:
        self.unit = quota.unit
        self.limit = self._level = quota.limit
        self._period: float | None = None
        self._unsteady = self._end_told = False
        self._longest = self._next = self._own = 0.0
        self._late: list[tuple[float, float]] = []
        self._late_amount = 0.0
        self._told_at = -math.inf
        self._at = self._resets_at = self._may_reset_at = now
        self.tell(quota, 0.0, now, sent_at=-math.inf)

    @staticmethod
    def a_minute(unit: Unit, limit: float, now: float, *, missing: int = 1) -> Window:
        """One that is known beforehand: so much each minute, of which some is missing."""
        reset_s = missing * MINUTE_S / limit
        return Window(Quota(unit=unit, limit=limit, remaining=limit - missing, reset_s=reset_s), now)

    def tell(self, quota: Quota, uncounted: float, now: float, *, sent_at: float) -> None:
        """Take over what a response says, whose request was sent at `sent_at`; an older one's may be out of date.

        Args:
            uncounted: what was sent and may not be in that figure yet.
        """
        if sent_at < self._told_at - OVERTAKING_S:
            return
        self._settle(now)
        remaining = quota.remaining
        if sent_at < self._told_at + OVERTAKING_S:
            remaining = min(remaining, self._level + self._own)
        else:
            self._told_at = sent_at
        self.limit, self._level, self._own = quota.limit, remaining - uncounted, uncounted
        self._tell_end(max(sent_at, 0.0) + quota.reset_s, now + quota.reset_s)
        late = sum(amount for until, amount in self._late if until >= self._may_reset_at)
        self._next = uncounted if now >= self._may_reset_at else late
        self._longest = max(self._longest, quota.reset_s)
        share = 1.0 - quota.remaining / quota.limit
        if quota.limit - quota.remaining >= 1:  # where nothing is missing, it does not say how it would come back
            self._period = next(
                (item for item in _PERIODS if _alike(share * item, quota.reset_s, min(item, MINUTE_S) / quota.limit)),
                None,
            )
            self._unsteady = self._unsteady or self._period is None

    def _tell_end(self, earliest: float, latest: float) -> None:
        """When the window ends, by one answer; the longer that took, the less it says."""
        same = self._unsteady and self._end_told and earliest <= self._resets_at and latest >= self._may_reset_at
        if same:
            earliest, latest = max(earliest, self._may_reset_at), min(latest, self._resets_at)
        self._may_reset_at, self._resets_at, self._end_told = earliest, latest, True

    @property
    def most(self) -> float:
        """The most that can ever be asked for at once."""
        return self.limit - self._slack

    @property
    def is_daily(self) -> bool:
        """Whether it is a limit for a whole day."""
        return (self._period == DAY_S and not self._unsteady) or self._longest > 3600.0

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until so much can be taken."""
        self._settle(now)
        lacking = amount + self._slack - self._level
        if lacking <= 0:
            return 0.0
        if self._period is not None and not self._unsteady:
            return lacking * self._period / self.limit
        # What is ahead may take whole windows.
        rounds = max(0, math.ceil((lacking + self._level) / self.limit) - 1)
        return max(0.0, self._resets_at - now) + rounds * max(self._longest, MINUTE_S)

    def take(self, amount: float, now: float, until: float) -> None:
        """Count what is sent, now or `until` then."""
        self._settle(now)
        self._level -= amount
        self._own += amount
        if until >= self._may_reset_at:  # it may be counted in the window after this one
            self._next += amount
        if until > now:
            heapq.heappush(self._late, (until, amount))
            self._late_amount += amount

    def give_back(self, amount: float, now: float) -> None:
        """What was taken was not sent."""
        self._settle(now)
        self._level = min(self.limit, self._level + amount)
        self._own -= amount

    @property
    def _slack(self) -> float:
        return 0.0 if self.unit == "requests" else min(_SLACK_TOKENS, 0.05 * self.limit)

    def _settle(self, now: float) -> None:
        if self._period is not None and not self._unsteady:
            # What is not sent yet finds at the service no more than a full bucket, however long it takes.
            most = self.limit - self._late_amount
            grown = self._level + (now - self._at) * self.limit / self._period
            self._level = grown if now < self._at else max(self._level, min(most, grown))
        elif now >= self._resets_at:
            # A new window: full, but for what was sent when it may have begun already.
            self._level, self._own, self._next = self.limit - self._next, self._next, 0.0
            self._resets_at = self._may_reset_at = now + max(self._longest, MINUTE_S)
            self._end_told = False
        while self._late and self._late[0][0] <= now:
            self._late_amount -= heapq.heappop(self._late)[1]
        self._at = now


def _alike(expected: float, told: float, one_s: float) -> bool:
    # What is left is told in whole numbers: of a bucket nearly one less may be missing.
    return -(_LIKENESS * expected + _ROUNDING_S) - one_s <= told - expected <= _LIKENESS * expected + _ROUNDING_S
