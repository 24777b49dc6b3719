"""The limits of a run on calls, tokens and money, counted before a request is sent and settled after it."""

from collections.abc import Callable

from codur.errors import LimitReached
from codur.llm.rate_limits.demand import Demand
from codur.types import Limits, Usage


class Budget:
    """What a run may spend on models.

    A request is let through only if the run stays within its limits even when the answer is as long as it may be, so a
    limit is never passed by one long answer. Requests that fail without an answer cost nothing here.

    Args:
        limits: the run's limits.
        spent: what an earlier part of the run has spent.
        on_spend: gets all that is spent from now on.
    """

    def __init__(
        self, limits: Limits, spent: Usage | None = None, *, on_spend: Callable[[Usage], None] | None = None
    ) -> None:
        self.used = spent or Usage()  # beginning with what an earlier part of the run has spent
        self._on_spend = on_spend  # gets all that is spent from now on
        self._limits = limits
        self._held: list[Demand] = []

    def reserve(self, demand: Demand) -> None:
        """Hold what a request may cost at most, until `release`; LimitReached if it does not fit."""
        # With what is held for the requests under way: several at a time must not pass the limit together.
        self.require(demand.tokens, demand.cost_usd)
        self._held.append(demand)

    def release(self, demand: Demand) -> None:
        """Give back what was held for a request whose outcome is known."""
        self._held.remove(demand)

    def spend(self, usage: Usage) -> None:
        """Count what was spent."""
        self.used = self.used + usage
        if self._on_spend is not None:
            self._on_spend(usage)

    def require(self, tokens: int, cost_usd: float) -> None:
        """Make sure that one more request of that size fits; LimitReached if it does not."""
        used, limits = self.used, self._limits
        # Retries do not count as calls: nothing was answered, and nothing is paid for them.
        if used.calls + len(self._held) >= limits.max_llm_calls:
            raise LimitReached(
                f"The limit of {limits.max_llm_calls} model call{'' if limits.max_llm_calls == 1 else 's'} is reached.",
                remedy="Raise it with --max-llm-calls (runtime.max_llm_calls).",
            )
        if used.total_tokens + sum(held.tokens for held in self._held) + tokens > limits.max_tokens:
            raise LimitReached(
                f"The next model call may need {tokens} tokens; {used.total_tokens} of {limits.max_tokens} are used.",
                remedy="Raise the limit with --max-tokens (runtime.max_tokens).",
            )
        if used.cost_usd + sum(held.cost_usd for held in self._held) + cost_usd > limits.max_cost_usd:
            raise LimitReached(
                f"The next model call may cost ${cost_usd:.4f}; ${used.cost_usd:.4f} of ${limits.max_cost_usd:.4f} are "
                "spent.",
                remedy="Raise the limit with --budget (runtime.max_cost_usd).",
            )


class Spending:
    """What one question has cost so far; every amount is also counted in the run's budget."""

    def __init__(self, budget: Budget) -> None:
        self.usage = Usage()
        self._budget = budget

    def add(self, usage: Usage) -> None:
        """Count `usage`."""
        self.usage = self.usage + usage
        self._budget.spend(usage)
