"""What runs that go on side by side have in common: one budget, and one way to wait for a busy service."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.errors import LimitReached
from codur.llm.failure import ServiceFailure
from codur.llm.retry import jitter

if TYPE_CHECKING:
    from codur.types import Usage

OVER_BUDGET = "The batch's budget is used up"
_ROOM_S = 0.2
"""How often one that waits for room looks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request: to which provider, and what it may cost at most: tokens (the answer's among them) and dollars."""

    provider: str
    tokens: int
    answer_tokens: int
    cost_usd: float


@dataclass(slots=True)
class _Lane:
    """How a provider is asked: not before `until` (monotonic), and by so many at a time."""

    until: float = 0.0
    width: float = math.inf
    in_flight: int = 0
    refused: int = 0
    why: ServiceFailure | None = None


class SharedModels:
    """The budget and the rate limits of all runs of a batch; safe to use from several threads.

    After a service has refused a request because of its rate limit, nobody asks it before the time it names, and after
    that fewer ask at the same time; with each answer there may be more again.

    Args:
        max_tokens, max_cost_usd: for all runs together; None is no limit.
        tokens, cost_usd: what was spent before.
        on_spent: gets the tokens and dollars spent so far, whenever they have grown; must be quick.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        max_tokens: int | None = None,
        max_cost_usd: float | None = None,
        tokens: int = 0,
        cost_usd: float = 0.0,
        on_spent: Callable[[int, float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] | None = None,
    ) -> None:
        self.tokens = tokens
        self.cost_usd = cost_usd
        self._max_tokens = math.inf if max_tokens is None else max_tokens
        self._max_cost_usd = math.inf if max_cost_usd is None else max_cost_usd
        self._on_spent = on_spent
        self._clock = clock
        self._random = random or _random
        self._lock = threading.Lock()
        self._held: list[Asking] = []
        self._lanes: dict[str, _Lane] = {}

    def wait_s(self, asking: Asking, time_left_s: float) -> float:
        """How long to wait before asking again; 0: the request may be sent, and `done` must be called after it.

        Raises:
            LimitReached: the request does not fit into the budget any more.
            ServiceFailure: the service's rate limit ends later than the run.
        """
        with self._lock:
            self._require_money(asking)
            lane = self._lanes.setdefault(asking.provider, _Lane())
            rest = lane.until - self._clock()
            if rest > 0:
                if rest >= time_left_s and lane.why is not None:
                    raise _again(lane.why, rest)
                return rest
            if lane.in_flight + 1 > lane.width or not self._fits(asking):
                return _ROOM_S * (0.5 + self._random())
            lane.in_flight += 1
            self._held.append(asking)
            return 0.0

    def done(self, asking: Asking, *, answered: bool) -> None:
        """A request has ended, with an answer or without."""
        with self._lock:
            self._held.remove(asking)
            lane = self._lanes[asking.provider]
            lane.in_flight -= 1
            if answered:
                lane.refused = 0
                lane.width += 1.0 / lane.width

    def refused(self, provider: str, failure: ServiceFailure) -> float:
        """A service has refused a request because of its rate limit; gives the seconds until it may be asked again."""
        with self._lock:
            lane = self._lanes.setdefault(provider, _Lane())
            now = self._clock()
            if now >= lane.until:  # of many that are refused together, the first one counts
                lane.width = max(1.0, min(lane.width, lane.in_flight + 1.0) / 2)
                lane.refused += 1
            wait = failure.retry_after_s or jitter(lane.refused - 1, self._random) + 0.1
            lane.until = max(lane.until, now + wait)
            lane.why = failure
            return lane.until - now

    def spend(self, usage: Usage) -> None:
        """Count what was spent."""
        if not usage.total_tokens and not usage.cost_usd:
            return
        with self._lock:
            self.tokens += usage.total_tokens
            self.cost_usd += usage.cost_usd
            if self._on_spent is not None:
                self._on_spent(self.tokens, self.cost_usd)

    def _require_money(self, asking: Asking) -> None:
        if self.tokens + asking.tokens > self._max_tokens:
            raise LimitReached(
                f"{OVER_BUDGET}: {self.tokens:,} of {self._max_tokens:,} tokens are spent.",
                remedy="Go on with --resume and a higher --max-tokens.",
            )
        if self.cost_usd + asking.cost_usd > self._max_cost_usd:
            raise LimitReached(
                f"{OVER_BUDGET}: ${self.cost_usd:.4f} of ${self._max_cost_usd:.2f} are spent.",
                remedy="Go on with --resume and a higher --budget.",
            )

    def _fits(self, asking: Asking) -> bool:
        """Whether it fits beside what the requests under way may cost; if not, their answers are waited for."""
        tokens = self.tokens + sum(held.tokens for held in self._held) + asking.tokens
        cost = self.cost_usd + sum(held.cost_usd for held in self._held) + asking.cost_usd
        return tokens <= self._max_tokens and cost <= self._max_cost_usd


def _again(failure: ServiceFailure, rest: float) -> ServiceFailure:
    return ServiceFailure(failure.message, kind=failure.kind, remedy=failure.remedy, retry_after_s=rest)


def _random() -> float:
    from random import random  # noqa: PLC0415 - lazy: only needed where requests have to wait

    return random()
