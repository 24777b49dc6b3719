"""The results as one HTML page that needs nothing else: no network, no fonts, no other files.

The page is a template that does not vary, and the data, as JSON in a block that the browser does not run. The
template's script builds everything from the data as text; its content security policy allows that script and its
style alone, by their hashes, and no requests.
"""

import json
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.batch.reports.comparison import compare
from codur.batch.reports.report_text import UNSEEN, encodable, visible
from codur.batch.reports.totals import TIER_WORDS, agent_name, totals_by_agent, totals_of
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.kept_run import kept_place
from codur.lazy import regex
from codur.parsing.bounded_text import bounded

MAX_DATA_BYTES = 4_500_000
"""The size that the data is brought below, by cutting its long texts, as far as that goes."""

_TEXT_LIMITS = (32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 250)
_SMALL_LIMIT = 1_200
_STEP_LIMIT = 300
_SHOWN = 40
"""Steps, files and notes of a result at most."""
_LONG = frozenset({"prompt", "diff", "output_before", "output_after"})
_UNSHOWN = frozenset({"schema", "key", "key_written", "settings"})
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_PLACE = regex(r"\{\{(\w+)\}\}")
_DIGITS = 6
_MEASURES: tuple[tuple[str, str, str, Callable[[ChallengeResult], float]], ...] = (
    ("Solved against calls", "model calls for one result, at most", "count", lambda item: float(item.calls)),
    ("Solved against cost", "cost of one result, at most", "usd", lambda item: item.cost_usd),
    ("Solved against time", "time of one result, at most", "seconds", lambda item: item.seconds),
)


def page(results: Collection[ChallengeResult], *, title: str) -> Iterator[str]:
    """The page, part by part."""
    style, script = _template("page.css"), _template("page.js")
    hashes = {"script_hash": _hash(script), "style_hash": _hash(style)}
    parts = {"title": escape(visible(title)), "style": style, "script": script, **hashes}
    # What is put in is not looked at again: it may hold what looks like a place.
    for number, part in enumerate(_PLACE.split(_template("page.html"))):
        if number % 2 and part == "data":
            yield from _data(results, title)
        else:
            yield parts[part] if number % 2 else part


def _data(results: Collection[ChallengeResult], title: str) -> Iterator[str]:
    """The page's data as JSON that can stand inside a script element, with its long texts cut to what fits."""
    comparison = compare(results)
    rest = _inert(
        {
            "title": title,
            "started": min((item.started for item in results if item.started), default=""),
            "totals": to_builtins(totals_of(results)),
            "tiers": TIER_WORDS,
            "charts": charts_of(results),
            "bars": bars_of(results),
            "agents": [to_builtins(one) for one in comparison.agents],
            "any": comparison.by_any,
            "matrix": [
                [name, [None if found is None else [found.solved, found.attempts] for found in row]]
                for name, row in comparison.matrix
            ],
            "passAtK": [to_builtins(one) for one in comparison.pass_at_k],
        }
    )
    room = MAX_DATA_BYTES - len(rest.encode())
    *limits, least = _TEXT_LIMITS
    limit = next((limit for limit in limits if _fit(results, limit, room)), least)
    yield f'{rest[:-1]},"rows":['
    for number, item in enumerate(results):
        yield f"{',' if number else ''}{_inert(_row(item, limit))}"
    yield "]}"


def _fit(results: Collection[ChallengeResult], limit: int, room: int) -> bool:
    """Whether the results with their texts cut to a limit take no more bytes than there is room for."""
    for item in results:
        room -= len(_inert(_row(item, limit)).encode()) + 1
        if room < 0:
            return False
    return True


def _inert(value: Any) -> str:
    """A value as JSON without any character that means something to a reader of HTML or of scripts."""
    text = encodable(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    text = UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    for char, escaped in _ESCAPED.items():
        text = text.replace(char, escaped)
    return text


def _row(item: ChallengeResult, limit: int) -> dict[str, Any]:
    """A result as the page shows it: under the names of its record, with bounds."""
    small = min(limit, _SMALL_LIMIT)
    shown = {name: value for name, value in item.to_json().items() if name not in _UNSHOWN}
    texts = {name: _bounded(value, limit if name in _LONG else small) for name, value in shown.items()}
    steps = [{name: bounded(text, _STEP_LIMIT) for name, text in step.items()} for step in shown["route"][:_SHOWN]]
    return {**texts, "agent": agent_name(item), "kept": bounded(kept_place(item), small), "route": steps}


def _bounded(value: Any, limit: int) -> Any:
    if isinstance(value, list | tuple):
        return [_bounded(each, limit) for each in value[:_SHOWN]]
    return bounded(value, limit) if isinstance(value, str) else value


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _template(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


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
