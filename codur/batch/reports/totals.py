"""The sums of a batch."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from codur.batch.results.challenge_record import ChallengeResult, SolvedTier, Status
from codur.structs import Struct

STATUSES: tuple[Status, ...] = get_args(Status)
TIERS: tuple[SolvedTier, ...] = tuple(tier for tier in get_args(SolvedTier) if tier != "none")
"""Cheapest first."""

TIER_WORDS: dict[SolvedTier, str] = {
    "none": "other",
    "pattern": "rule",
    "repair": "offline repair",
    "pre_plan": "first call",
    "plan": "plan",
    "retry": "retry",
    "agent": "agent",
}


class Totals(Struct):
    """What a batch came to.

    Attributes:
        results: attempts at challenges, of all agents.
        by_status: how many ended in each way; all ways are there.
        by_tier: how many were solved by each way that solved any, cheapest first.
        without_model: how many were solved without a model call.
        cost_usd: dollars.
        seconds: wall time, each result by itself.
    """

    results: int
    by_status: dict[Status, int]
    by_tier: dict[SolvedTier, int]
    without_model: int
    calls: int
    tokens: int
    cost_usd: float
    seconds: float

    @property
    def solved(self) -> int:
        """How many were solved."""
        return self.by_status["solved"]


def totals_of(results: Sequence[ChallengeResult]) -> Totals:
    """The sums of results."""
    statuses = Counter(item.status for item in results)
    tiers = Counter(item.tier for item in results if item.solved)
    return Totals(
        results=len(results),
        by_status={status: statuses[status] for status in STATUSES},
        by_tier={tier: tiers[tier] for tier in (*TIERS, "none") if tiers[tier]},
        without_model=sum(item.solved and item.calls == 0 for item in results),
        calls=sum(item.calls for item in results),
        tokens=sum(item.tokens for item in results),
        cost_usd=sum(item.cost_usd for item in results),
        seconds=sum(item.seconds for item in results),
    )
