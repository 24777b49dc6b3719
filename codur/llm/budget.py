"""The limits of a run on calls, tokens and money, counted before a request is sent and settled after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.errors import LimitReached
from codur.types import Usage

if TYPE_CHECKING:
    from codur.types import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a request may cost at most, held until its answer is in."""

    tokens: int
    cost_usd: float


class Budget:
    """What a run may spend on models.

    A request is let through only if the run stays within its limits even when the answer is as long as it may be, so a
    limit is never passed by one long answer. Requests that fail without an answer cost nothing here.

    Args:
        limits: the run's limits.
        spent: what an earlier part of the run has spent.
        on_spend: gets all that is spent from now on.

    Attributes:
        used: what has been spent.
    """

    def __init__(
        self, limits: Limits, spent: Usage | None = None, *, on_spend: Callable[[Usage], None] | None = None
    ) -> None:
        self.used = spent or Usage()
        self._on_spend = on_spend
        self._limits = limits
        self._held: list[Reservation] = []

    def reserve(self, *, prompt_tokens: int, completion_tokens: int, cost_usd: float) -> Reservation:
        """Hold what a request may cost at most.

        Raises:
            LimitReached: the request does not fit.
        """
        wanted = Reservation(tokens=prompt_tokens + completion_tokens, cost_usd=cost_usd)
        self._check_calls()
        self._check_tokens(wanted.tokens)
        self._check_cost(wanted.cost_usd)
        self._held.append(wanted)
        return wanted

    def release(self, reservation: Reservation) -> None:
        """Give back what was held for a request whose outcome is known."""
        self._held.remove(reservation)

    def spend(self, usage: Usage) -> None:
        """Count what was spent."""
        self.used = self.used + usage
        if self._on_spend is not None:
            self._on_spend(usage)

    def out_of_time(self) -> LimitReached:
        """The error for a run whose time is used up."""
        return LimitReached(
            f"The time limit of {self._limits.max_runtime_s:g} s is reached.",
            remedy="Raise it with --timeout (runtime.max_runtime_s).",
        )

    def _check_calls(self) -> None:
        allowed = self._limits.max_llm_calls
        if self.used.calls + len(self._held) >= allowed:
            raise LimitReached(
                f"The limit of {allowed} model call{'' if allowed == 1 else 's'} is reached.",
                remedy="Raise it with --max-llm-calls (runtime.max_llm_calls).",
            )

    def _check_tokens(self, wanted: int) -> None:
        allowed = self._limits.max_tokens
        if self.used.total_tokens + sum(held.tokens for held in self._held) + wanted > allowed:
            raise LimitReached(
                f"The next model call may need {wanted} tokens; {self.used.total_tokens} of {allowed} are used.",
                remedy="Raise the limit with --max-tokens (runtime.max_tokens).",
            )

    def _check_cost(self, wanted: float) -> None:
        allowed = self._limits.max_cost_usd
        if self.used.cost_usd + sum(held.cost_usd for held in self._held) + wanted > allowed:
            raise LimitReached(
                f"The next model call may cost ${wanted:.4f}; ${self.used.cost_usd:.4f} of ${allowed:.2f} are spent.",
                remedy="Raise runtime.max_cost_usd, for example with CODUR_RUNTIME__MAX_COST_USD.",
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
