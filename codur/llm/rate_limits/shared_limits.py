"""What runs that go on side by side have in common: one budget, and one queue before each model.

Who wants to send asks `wait_s` until it says 0, and tells how it ended: first come, first served, within what services
allow, so that none has to refuse a request. There is no thread of its own, and no clock but the one that was given.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from codur.errors import LimitReached
from codur.llm.clock import Clock
from codur.llm.model import ChatReply
from codur.llm.rate_limits.demand import Demand
from codur.llm.rate_limits.model_limits import TINY_S, ModelLimits
from codur.llm.request_failure import ServiceFailure
from codur.structs import Struct, field
from codur.types import Usage

OVER_BUDGET = "The batch's budget is used up"
ROOM_S = 0.2
"""How often one that waits for others to end looks again."""


class SharedBudget(Struct, frozen=False):
    """What all runs of a batch may spend together, and have spent."""

    max_tokens: float | None = None  # None is no limit
    max_cost_usd: float | None = None  # None is no limit
    tokens: int = 0
    cost_usd: float = 0.0
    # gets the tokens and dollars spent so far, whenever they have grown; must be quick
    on_spent: Callable[[int, float], object] = lambda *_spent: None
    held: list[Demand] = field(default_factory=list)  # the requests under way

    def spend(self, usage: Usage) -> None:
        """Count what was spent."""
        if usage.total_tokens or usage.cost_usd:
            self.tokens += usage.total_tokens
            self.cost_usd += usage.cost_usd
            self.on_spent(self.tokens, self.cost_usd)

    def require(self, demand: Demand) -> None:
        """LimitReached if a request cannot be paid for, even if those under way cost nothing."""
        if self.max_tokens is not None and self.tokens + demand.tokens > self.max_tokens:
            raise LimitReached(
                f"{OVER_BUDGET}: {self.tokens:,} of {self.max_tokens:,} tokens are spent, "
                f"and the next request may take {demand.tokens:,.0f}.",
                remedy="Go on with --resume and a higher --max-tokens.",
            )
        if self.max_cost_usd is not None and self.cost_usd + demand.cost_usd > self.max_cost_usd:
            raise LimitReached(
                f"{OVER_BUDGET}: ${self.cost_usd:.4f} of ${self.max_cost_usd:.4f} are spent, "
                f"and the next request may cost ${demand.cost_usd:.4f}.",
                remedy="Go on with --resume and a higher --budget.",
            )

    def has_room(self, demand: Demand) -> bool:
        """Whether it fits beside what the requests under way may cost; if not, their answers are waited for."""
        together = [*self.held, demand]
        tokens = self.tokens + sum(item.tokens for item in together)
        cost_usd = self.cost_usd + sum(item.cost_usd for item in together)
        return (self.max_tokens is None or tokens <= self.max_tokens) and (
            self.max_cost_usd is None or cost_usd <= self.max_cost_usd
        )


class SharedModels:
    """The budget and the rate limits of all runs of a process; safe to use from several threads.

    Args:
        budget: of all runs together; None is no limit.
        models: the limits by provider and model, where others with another budget have them, too.
    """

    def __init__(
        self,
        budget: SharedBudget | None = None,
        clock: Clock | None = None,
        models: dict[tuple[str, str], ModelLimits] | None = None,
    ) -> None:
        self._budget = budget or SharedBudget()
        self._clock = clock or Clock()
        self._lock = threading.RLock()  # re-entrant: `spend` may be called by one who holds it
        self._models = {} if models is None else models

    def wait_s(self, demand: Demand, time_left_s: float, *, before: Demand | None = None) -> float:
        """How long to wait before asking again; 0: the request may be sent, and `done` must be called after it.

        Who was told to wait has a place in the queue until the request is sent, or it leaves (`ModelLimits.leave`).

        Args:
            before: the same request as it was asked for last; this one takes its place in the queue.

        Raises:
            LimitReached: the request does not fit into the budget any more.
            ServiceFailure: the service will not take it before the run's time is over, others left aside.
        """
        with self.limits(demand.place) as limits:
            now, place = self._clock.monotonic(), limits.leave(before or demand)
            # Spread, so that all who wait for the same answer do not look at the same moment.
            look_again_s = ROOM_S * (0.5 + self._clock.random())
            self._budget.require(demand)
            if not self._budget.has_room(demand):
                return look_again_s
            wait = limits.wait_s(demand, limits.queue[:place], now, look_again_s)
            if wait <= TINY_S:
                limits.send(demand, now)
                self._budget.held.append(demand)
                return 0.0
            # Only after it is clear that there is no room now: who can be sent need not be told of later.
            limits.require_in_time(demand, now, time_left_s)
            limits.queue.insert(place, demand)
            return wait

    def done(
        self,
        demand: Demand,
        outcome: ChatReply | ServiceFailure | None = None,
        *,
        times: tuple[float | None, float] | None = None,
    ) -> None:
        """A request has ended; `outcome` is None if it was broken off, `times` are when it was sent and ended."""
        sent_at, ended_at = times or (None, self._clock.monotonic())
        with self.limits(demand.place) as limits:
            self._budget.held.remove(demand)
            limits.end(demand, outcome, ended_at, sent_at)

    def give_back(self, demand: Demand, *, instead: Demand | None = None) -> None:
        """A request was let through and not sent, or another one `instead`."""
        with self.limits(demand.place) as limits:
            now = self._clock.monotonic()
            self._budget.held.remove(demand)
            limits.give_back(demand, now)
            if instead is not None:
                self._budget.held.append(instead)
                limits.send(instead, now)

    def refused(self, place: tuple[str, str], failure: ServiceFailure) -> float:
        """A service has refused a request because of its rate limit; gives the seconds until it may be asked again."""
        with self.limits(place) as limits:
            return limits.refuse(failure, self._clock)

    def expected(self, place: tuple[str, str]) -> float:
        """How large a request should be made; what a provider's other models may have stands for what is not known."""
        with self.limits(place) as limits:
            most = limits.most
            # Plans are for an account: the models of one provider mostly have limits of the same size.
            others = [other.most.a_minute for (provider, _), other in self._models.items() if provider == place[0]]
            return min(most.window, most.a_minute if most.a_minute < math.inf else min(others))

    def spend(self, usage: Usage) -> None:
        """Count what was spent."""
        with self._lock:
            self._budget.spend(usage)

    @contextmanager
    def limits(self, place: tuple[str, str]) -> Iterator[ModelLimits]:
        """The limits of one model at one provider; nobody else uses any of them meanwhile."""
        with self._lock:
            yield self._models.get(place) or self._models.setdefault(place, ModelLimits())
