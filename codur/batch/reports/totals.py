"""The sums of a batch."""

from collections import defaultdict
from collections.abc import Iterable
from typing import get_args

from codur.batch.results.challenge_record import ChallengeResult, SolvedTier, Status
from codur.structs import Struct, field

STATUSES: tuple[Status, ...] = get_args(Status)
DEFAULT_AGENT = "default"
TIER_WORDS: dict[SolvedTier, str] = {
    "pattern": "rule",
    "repair": "offline repair",
    "pre_plan": "first call",
    "plan": "plan",
    "retry": "retry",
    "agent": "agent",
    "none": "other",
}
"""Cheapest first."""


class Totals(Struct, frozen=False):
    """What a batch came to."""

    results: int = 0  # attempts at challenges, of all agents
    # how many ended in each way; all ways are there
    by_status: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    # how many were solved by each way that solved any, cheapest first
    by_tier: dict[SolvedTier, int] = field(default_factory=dict)
    without_model: int = 0  # how many were solved without a model call
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0  # dollars
    seconds: float = 0.0  # wall time, each result by itself

    @property
    def solved(self) -> int:
        """How many were solved."""
        return self.by_status["solved"]

    def add(self, item: ChallengeResult) -> None:
        """Count one more."""
        self.results += 1
        self.by_status[item.status] += 1
        self.calls += item.calls
        self.tokens += item.tokens
        self.cost_usd += item.cost_usd
        self.seconds += item.seconds
        if item.solved:
            self.without_model += item.calls == 0
            counts = {**self.by_tier, item.tier: self.by_tier.get(item.tier, 0) + 1}
            self.by_tier = {tier: counts[tier] for tier in TIER_WORDS if tier in counts}


def totals_of(results: Iterable[ChallengeResult]) -> Totals:
    """The sums of results."""
    totals = Totals()
    for item in results:
        totals.add(item)
    return totals


def totals_by_agent(results: Iterable[ChallengeResult]) -> dict[str, Totals]:
    """The sums of each agent's results, by its name."""
    totals: defaultdict[str, Totals] = defaultdict(Totals)
    for item in results:
        totals[agent_name(item)].add(item)
    return dict(sorted(totals.items()))


def agent_name(result: ChallengeResult) -> str:
    """The name under which its agent is shown."""
    return result.agent or DEFAULT_AGENT
