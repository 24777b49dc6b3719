"""What runs that go on side by side have in common: one budget, and one schedule."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from codur.errors import LimitReached
from codur.llm.rate_limits.demand import Asking
from codur.llm.rate_limits.request_queue import ROOM_S, Schedule, _random

if TYPE_CHECKING:
    from codur.llm.model import ChatReply
    from codur.llm.request_failure import ServiceFailure
    from codur.types import Usage

__all__ = ["OVER_BUDGET", "Asking", "SharedModels"]

OVER_BUDGET = "The batch's budget is used up"


class SharedModels:
    """The budget and the schedule of all runs of a batch; safe to use from several threads.

    Args:
        max_tokens, max_cost_usd: for all runs together; None is no limit.
        tokens, cost_usd: what was spent before.
        on_spent: gets the tokens and dollars spent so far, whenever they have grown; must be quick.
        clock: monotonic seconds.

    Attributes:
        schedule: when requests are sent.
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
        self._random = random or _random
        self._lock = threading.Lock()
        self._held: list[Asking] = []
        self.schedule = Schedule(clock=clock, random=self._random)

    def wait_s(self, asking: Asking, time_left_s: float) -> float:
        """How long to wait before asking again; 0: the request may be sent, and `done` must be called after it.

        Raises:
            LimitReached: the request does not fit into the budget any more.
            ServiceFailure: the service's rate limit ends later than the run.
        """
        with self._lock:
            try:
                self._require_money(asking)
            except LimitReached:
                self.schedule.give_up(asking)
                raise
            if not self._fits(asking):
                self.schedule.give_up(asking)
                return ROOM_S * (0.5 + self._random())
            wait = self.schedule.wait_s(asking, time_left_s)
            if wait <= 0:
                self._held.append(asking)
            return wait

    def give_up(self, asking: Asking) -> None:
        """The request will not be sent: its place in the queue is free."""
        self.schedule.give_up(asking)

    def done(self, asking: Asking, *, answered: bool, outcome: ChatReply | ServiceFailure | None = None) -> None:
        """A request has ended, with an answer or without; `outcome` is None if it was broken off."""
        with self._lock:
            self._held.remove(asking)
            self.schedule.done(asking, answered=answered, outcome=outcome)

    def refused(self, provider: str, failure: ServiceFailure, *, model: str = "") -> float:
        """A service has refused a request because of its rate limit; gives the seconds until it may be asked again."""
        return self.schedule.refused((provider, model), failure)

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
