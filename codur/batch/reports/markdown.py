"""The results as Markdown tables."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

from codur.batch.reports.comparison import Comparison, Tried, compare
from codur.batch.reports.report_text import markdown_cell as cell
from codur.batch.reports.totals import TIER_WORDS, Totals, agent_name, totals_of
from codur.batch.results.challenge_record import ChallengeResult
from codur.llm.request_retry import spoken

_SOURCE = "[Chen et al. 2021](https://arxiv.org/abs/2107.03374)"


def markdown(results: Collection[ChallengeResult], *, title: str) -> Iterator[str]:
    """A page of tables, part by part: the sums, the agents side by side where there are several, and every result."""
    comparison = compare(results)
    several_agents = len(comparison.agents) > 1
    yield f"# {cell(title)}\n\n"
    yield from _summary(totals_of(results))
    if several_agents:
        yield "\n## Agents\n\n"
        yield from _agents(comparison)
        yield "\n## Who solved what\n\n"
        yield from _matrix(comparison)
    if comparison.pass_at_k:
        yield "\n## pass@k\n\n"
        yield from _pass_at_k(comparison)
    yield "\n## Results\n\n"
    yield from _results(results, several_agents=several_agents)


def money(dollars: float) -> str:
    """Dollars with as many digits as tell something: `$0`, `$0.0012`, `$1.50`."""
    if dollars == 0:
        return "$0"
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def _summary(totals: Totals) -> Iterator[str]:
    share = f" ({100 * totals.solved // totals.results} %)" if totals.results else ""
    rows = [
        ("solved", f"{totals.solved:,} of {totals.results:,}{share}, {totals.without_model:,} without a model"),
        ("not solved", f"{totals.by_status['failed']:,}"),
        ("passes already", f"{totals.by_status['passes']:,}"),
        ("error", f"{totals.by_status['error']:,}"),
        ("ended by a limit", f"{totals.by_status['limit']:,}"),
        ("solved by", ", ".join(f"{TIER_WORDS[tier]} {number:,}" for tier, number in totals.by_tier.items()) or "–"),
        ("model calls", f"{totals.calls:,}"),
        ("tokens", f"{totals.tokens:,}"),
        ("cost", money(totals.cost_usd)),
        ("time, all results", spoken(totals.seconds)),
    ]
    return _table(("", "total"), rows, right=())


def _agents(comparison: Comparison) -> Iterator[str]:
    rows = [
        (
            cell(one.agent),
            f"{one.solved:,} of {one.challenges:,}",
            f"{one.alone:,}",
            f"{one.calls:,}",
            f"{one.tokens:,}",
            money(one.cost_usd),
            "–" if one.cost_per_solved is None else money(one.cost_per_solved),
            f"{one.median_seconds:.1f}",
        )
        for one in comparison.agents
    ]
    header = ("agent", "solved", "alone", "calls", "tokens", "cost", "cost per solved", "median s")
    yield from _table(header, rows, right=range(1, 8))
    yield f"\nSolved by any agent: {comparison.by_any:,}.\n"


def _matrix(comparison: Comparison) -> Iterator[str]:
    rows = ((cell(name), *map(_tried, found)) for name, found in comparison.matrix)
    return _table(("challenge", *(cell(one.agent) for one in comparison.agents)), rows, right=())


def _tried(found: Tried | None) -> str:
    if found is None:
        return "–"
    if found.attempts > 1:
        return f"{'✔' if found.solved else '✘'} {found.solved} of {found.attempts}"
    return "✔" if found.solved else "✘"


def _pass_at_k(comparison: Comparison) -> Iterator[str]:
    rows = [
        (cell(one.agent), f"{one.k}", f"{100 * one.value:.1f} %", f"{one.challenges:,}") for one in comparison.pass_at_k
    ]
    yield from _table(("agent", "k", "pass@k", "challenges"), rows, right=range(1, 4))
    yield f"\nThe unbiased estimate 1 − C(n−c, k) / C(n, k) of {_SOURCE}, as a mean over challenges.\n"


def _results(results: Collection[ChallengeResult], *, several_agents: bool) -> Iterator[str]:
    several_attempts = any(item.attempt > 1 for item in results)
    left_out = {"agent": not several_agents, "attempt": not several_attempts}
    titles = [title for title in _COLUMNS if not left_out.get(title, False)]
    rows = ([_COLUMNS[title](item) for title in titles] for item in results)
    return _table(titles, rows, right=[titles.index(title) for title in ("calls", "tokens", "cost", "seconds")])


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] | range) -> Iterator[str]:
    """A table, line by line."""
    rule = ["---:" if index in right else "---" for index in range(len(header))]
    return (f"| {' | '.join(row)} |\n" for row in chain((header, rule), rows))


_COLUMNS: dict[str, Callable[[ChallengeResult], str]] = {
    "challenge": lambda item: cell(item.name),
    "agent": lambda item: cell(agent_name(item)),
    "attempt": lambda item: str(item.attempt),
    "status": lambda item: item.status,
    "solved by": lambda item: (
        TIER_WORDS[item.tier] + (f" {item.retries}" if item.retries else "") if item.solved else ""
    ),
    "calls": lambda item: f"{item.calls:,}",
    "tokens": lambda item: f"{item.tokens:,}",
    "cost": lambda item: money(item.cost_usd),
    "seconds": lambda item: f"{item.seconds:.1f}",
    "reason": lambda item: cell(item.reason or (f"by {item.check}" if item.check else "")),
}
