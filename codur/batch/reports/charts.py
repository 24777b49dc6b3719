"""What the charts of the page show, as figures in plain values: the page draws them."""

from collections.abc import Callable, Sequence
from typing import Any

from codur.batch.reports.comparison import agent_name
from codur.batch.reports.totals import TIER_WORDS, totals_of
from codur.batch.results.challenge_record import ChallengeResult

_DIGITS = 6
_MEASURES: tuple[tuple[str, str, str, Callable[[ChallengeResult], float]], ...] = (
    ("Solved against calls", "model calls for one result, at most", "count", lambda item: float(item.calls)),
    ("Solved against cost", "cost of one result, at most", "usd", lambda item: item.cost_usd),
    ("Solved against time", "time of one result, at most", "seconds", lambda item: item.seconds),
)


def charts_of(results: Sequence[ChallengeResult]) -> list[dict[str, Any]]:
    """The cumulative curves: solved against calls, cost and time.

    Returns:
        For each chart its `title`, the name of its `axis`, the `unit` of its figures (`count`, `usd` or `seconds`)
        and its `curves`, one for each agent: how many `results` it has, solved or not, and `points`, each of what it
        took and how many are solved with that or less.
    """
    own = _by_agent(results)
    return [
        {
            "title": title,
            "axis": axis,
            "unit": unit,
            "curves": [
                {"agent": agent, "results": len(items), "points": _points(items, measure)}
                for agent, items in own.items()
            ],
        }
        for title, axis, unit, measure in _MEASURES
    ]


def bars_of(results: Sequence[ChallengeResult]) -> list[dict[str, Any]]:
    """How many were solved in each way that solved any, cheapest first; the counts in the order of the curves."""
    own = [totals_of(items).by_tier for items in _by_agent(results).values()]
    return [
        {"tier": tier, "word": TIER_WORDS[tier], "counts": [tiers.get(tier, 0) for tiers in own]}
        for tier in totals_of(results).by_tier
    ]


def _by_agent(results: Sequence[ChallengeResult]) -> dict[str, list[ChallengeResult]]:
    names = sorted({agent_name(item) for item in results})
    return {name: [item for item in results if agent_name(item) == name] for name in names}


def _points(items: Sequence[ChallengeResult], measure: Callable[[ChallengeResult], float]) -> list[tuple[float, int]]:
    taken = sorted(round(measure(item), _DIGITS) for item in items if item.solved)
    return list({value: number for number, value in enumerate(taken, start=1)}.items())  # of equal ones the last counts
