"""What the charts of the page show, as figures: the page draws them."""

from collections.abc import Callable, Sequence

from codur.batch.reports.comparison import agent_name
from codur.batch.reports.totals import TIER_WORDS, totals_of
from codur.batch.results.challenge_record import ChallengeResult
from codur.structs import Struct

_DIGITS = 6


class Curve(Struct):
    """How many results of one agent are solved with no more than so much each.

    Attributes:
        results: how many it has, solved or not.
        points: what it took and how many are solved with that or less, both rising.
    """

    agent: str
    results: int
    points: tuple[tuple[float, int], ...]


class Chart(Struct):
    """Curves of all agents for one measure.

    Attributes:
        unit: how its figures are written: `count`, `usd` or `seconds`.
    """

    title: str
    axis: str
    unit: str
    curves: tuple[Curve, ...]


class Bar(Struct):
    """One way that solved challenges, and how many for each agent, in the order of the curves."""

    tier: str
    word: str
    counts: tuple[int, ...]


_MEASURES: tuple[tuple[str, str, str, Callable[[ChallengeResult], float]], ...] = (
    ("Solved against calls", "model calls for one result, at most", "count", lambda item: float(item.calls)),
    ("Solved against cost", "cost of one result, at most", "usd", lambda item: item.cost_usd),
    ("Solved against time", "time of one result, at most", "seconds", lambda item: item.seconds),
)


def charts_of(results: Sequence[ChallengeResult]) -> tuple[Chart, ...]:
    """The cumulative curves: solved against calls, cost and time."""
    agents = _agents(results)
    return tuple(
        Chart(title=title, axis=axis, unit=unit, curves=tuple(_curve(agent, results, measure) for agent in agents))
        for title, axis, unit, measure in _MEASURES
    )


def bars_of(results: Sequence[ChallengeResult]) -> tuple[Bar, ...]:
    """How many were solved in each way that solved any, cheapest first."""
    agents = _agents(results)
    own = [totals_of([item for item in results if agent_name(item) == agent]).by_tier for agent in agents]
    return tuple(
        Bar(tier=tier, word=TIER_WORDS[tier], counts=tuple(tiers.get(tier, 0) for tiers in own))
        for tier in totals_of(results).by_tier
    )


def _agents(results: Sequence[ChallengeResult]) -> list[str]:
    return sorted({agent_name(item) for item in results})


def _curve(agent: str, results: Sequence[ChallengeResult], measure: Callable[[ChallengeResult], float]) -> Curve:
    own = [item for item in results if agent_name(item) == agent]
    taken = sorted(round(measure(item), _DIGITS) for item in own if item.solved)
    points = {value: number for number, value in enumerate(taken, start=1)}  # of equal ones the last counts
    return Curve(agent=agent, results=len(own), points=tuple(points.items()))
