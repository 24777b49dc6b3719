"""Agents side by side: who solved what, what a solved challenge cost, and how likely one of k attempts solves it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from statistics import median

from codur.batch.reports.totals import Totals, agent_name
from codur.batch.results.challenge_record import ChallengeResult
from codur.structs import Struct

_SHOWN_K = (1, 2, 3, 5, 10, 20, 50, 100)


class AgentFigures(Struct):
    """What one agent came to."""

    agent: str
    challenges: int  # how many it tried
    solved: int  # how many of them it solved, in one attempt at least
    alone: int  # how many of these no other agent solved
    # results, calls, tokens, cost_usd, seconds: sums over all attempts; dollars, wall seconds
    results: int
    calls: int
    tokens: int
    cost_usd: float
    seconds: float
    cost_per_solved: float | None  # all its dollars by `solved`; None if it solved none
    calls_per_solved: float | None  # all its calls by `solved`; None if it solved none
    median_seconds: float  # of its attempts


class Tried(Struct):
    """How often an agent tried a challenge, and how many of the attempts solved it."""

    solved: int
    attempts: int


class PassAtK(Struct):
    """How likely one of `k` attempts solves a challenge, as a mean over the challenges with `k` attempts or more."""

    agent: str
    k: int
    value: float
    challenges: int


class Comparison(Struct):
    """Agents side by side."""

    agents: tuple[AgentFigures, ...]  # by name
    # for each challenge, by name, what each of `agents` came to; None where one did not try it. Empty if there is one
    # agent.
    matrix: tuple[tuple[str, tuple[Tried | None, ...]], ...]
    by_any: int  # how many challenges were solved by at least one agent
    pass_at_k: tuple[PassAtK, ...]  # empty if nothing was tried more than once


def pass_at_k(attempts: int, solved: int, k: int) -> float:
    """The unbiased estimate of the chance that one of `k` attempts solves a challenge.

    It is 1 - C(n - c, k) / C(n, k) for n attempts of which c solved it (Chen et al. 2021, "Evaluating Large Language
    Models Trained on Code", arXiv:2107.03374, section 2.1).

    Args:
        attempts: n, at least `k`.
        solved: c, 0 to n.
        k: at least 1.
    """
    return 1.0 - comb(attempts - solved, k) / comb(attempts, k)


def compare(results: Iterable[ChallengeResult]) -> Comparison:
    """Put the agents of a batch side by side."""
    cells: dict[tuple[str, str], Tried] = {}
    totals: defaultdict[str, Totals] = defaultdict(Totals)
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for item in results:
        agent = agent_name(item)
        had = cells.get((item.name, agent), Tried(solved=0, attempts=0))
        cells[item.name, agent] = Tried(solved=had.solved + item.solved, attempts=had.attempts + 1)
        totals[agent].add(item)
        seconds[agent].append(item.seconds)
    agents, names = sorted(totals), sorted({name for name, _ in cells})
    solved = {place for place, tried in cells.items() if tried.solved}
    solvers = Counter(tuple(agent for agent in agents if (name, agent) in solved) for name in names)
    return Comparison(
        agents=tuple(_figures(agent, totals[agent], cells, solvers, median(seconds[agent])) for agent in agents),
        matrix=tuple((name, tuple(cells.get((name, agent)) for agent in agents)) for name in names)
        if len(agents) > 1
        else (),
        by_any=sum(number for by, number in solvers.items() if by),
        pass_at_k=tuple(entry for agent in agents for entry in _pass_at_k(agent, cells)),
    )


def _figures(
    agent: str,
    totals: Totals,
    cells: Mapping[tuple[str, str], Tried],
    solvers: Mapping[tuple[str, ...], int],
    median_seconds: float,
) -> AgentFigures:
    """The figures of an agent.

    Args:
        solvers: for how many challenges just these agents solved it.
    """
    solved = sum(number for by, number in solvers.items() if agent in by)
    return AgentFigures(
        agent=agent,
        challenges=sum(by == agent for _, by in cells),
        solved=solved,
        alone=solvers.get((agent,), 0),
        results=totals.results,
        calls=totals.calls,
        tokens=totals.tokens,
        cost_usd=totals.cost_usd,
        seconds=totals.seconds,
        cost_per_solved=totals.cost_usd / solved if solved else None,
        calls_per_solved=totals.calls / solved if solved else None,
        median_seconds=median_seconds,
    )


def _pass_at_k(agent: str, cells: Mapping[tuple[str, str], Tried]) -> list[PassAtK]:
    tried = [found for (_, by), found in cells.items() if by == agent]
    most = max(found.attempts for found in tried)
    if most == 1:
        return []
    shown = sorted({k for k in _SHOWN_K if k <= most} | {most})
    return [_mean(agent, k, [found for found in tried if found.attempts >= k]) for k in shown]


def _mean(agent: str, k: int, tried: Sequence[Tried]) -> PassAtK:
    values = [pass_at_k(found.attempts, found.solved, k) for found in tried]
    return PassAtK(agent=agent, k=k, value=sum(values) / len(values), challenges=len(values))
