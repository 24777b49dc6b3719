"""What the charts of the page show, as figures in plain values: the page draws them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from codur.batch.reports.totals import TIER_WORDS, agent_name, totals_by_agent
from codur.batch.results.challenge_record import ChallengeResult

_DIGITS = 6
_MEASURES: tuple[tuple[str, str, str, Callable[[ChallengeResult], float]], ...] = (
    ("Solved against calls", "model calls for one result, at most", "count", lambda item: float(item.calls)),
    ("Solved against cost", "cost of one result, at most", "usd", lambda item: item.cost_usd),
    ("Solved against time", "time of one result, at most", "seconds", lambda item: item.seconds),
)


def charts_of(results: Iterable[ChallengeResult]) -> list[dict[str, Any]]:
    """The cumulative curves: solved against calls, cost and time.

    Returns:
        For each chart its `title`, the name of its `axis`, the `unit` of its figures (`count`, `usd` or `seconds`)
        and its `curves`, one for each agent: how many `results` it has, solved or not, and `points`, each of what it
        took and how many are solved with that or less.
    """
    number: Counter[str] = Counter()
    taken: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for item in results:
        agent = agent_name(item)
        number[agent] += 1
        if item.solved:
            for title, _, _, measure in _MEASURES:
                taken[title, agent].append(round(measure(item), _DIGITS))
    return [
        {
            "title": title,
            "axis": axis,
            "unit": unit,
            "curves": [
                {"agent": agent, "results": number[agent], "points": _points(taken[title, agent])}
                for agent in sorted(number)
            ],
        }
        for title, axis, unit, _ in _MEASURES
    ]


def bars_of(results: Iterable[ChallengeResult]) -> list[dict[str, Any]]:
    """How many were solved in each way that solved any, cheapest first; the counts in the order of the curves."""
    own = [totals.by_tier for totals in totals_by_agent(results).values()]
    return [
        {"tier": tier, "word": word, "counts": [tiers.get(tier, 0) for tiers in own]}
        for tier, word in TIER_WORDS.items()
        if any(tier in tiers for tiers in own)
    ]


def _points(taken: Sequence[float]) -> list[tuple[float, int]]:
    return list({value: number for number, value in enumerate(sorted(taken), start=1)}.items())  # of equals the last
