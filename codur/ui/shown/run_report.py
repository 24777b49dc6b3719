"""The end of a run: what was achieved, how, and at what cost; or what came instead, and what to do."""

import re
from collections.abc import Collection
from itertools import zip_longest

from codur import checks
from codur.parsing.bounded_text import listed
from codur.types import Attempt, Outcome, RunResult
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.repairs import every_repair, search_lines
from codur.ui.shown.verdicts import proven, verdict_line
from codur.ui.styled_lines import Line, block, cells, clip, count, line, percent

_SHOWN_LINES = 10
"""Lines shown of an expected output, and of what came instead."""
_NAMED = 5
_LINES_BEFORE = 3
"""Lines shown before the first difference."""
_SHOWN_ATTEMPTS = 8
_BESIDE = 100
"""Columns from which on what was expected and what came stand side by side."""
_NOTHING_CHANGED = "nothing was changed; `codur repair --pick N`, with the same options otherwise, applies repair N"

_OUTCOMES: dict[Outcome, str] = {
    "done": "done",
    "not_achieved": "not achieved",
    "usage": "not started",
    "no_model": "a model is needed",
    "limit": "a limit was reached",
    "refused": "refused",
    "interrupted": "interrupted",
}


def body_lines(result: RunResult, *, limit: int | None) -> list[Line]:
    """Give the answer and the diff, with an empty line between them.

    At most `limit` lines of the diff are shown, or with None all.
    """
    if result.repair is not None and only_shows_repairs(result):
        return every_repair(result.repair)
    answer, diff = block(result.answer), diff_lines(result.diff, limit=limit)
    return [*answer, line(""), *diff] if answer and diff else [*answer, *diff]


def summary_lines(result: RunResult, *, told: Collection[str] = (), width: int | None = None) -> list[Line]:
    """Give everything but the answer and the diff.

    Args:
        told: notes that have been shown already.
        width: of the terminal, in columns; None if it is none.
    """
    if _ended(result) == "not started":
        return error_lines(result)
    lines = [line(("note: ", "warn"), note) for note in dict.fromkeys(result.notes) if note not in told]
    verdict = verdict_line(result)
    if result.outcome != "done":
        lines += failure_lines(result, width=width)
    elif only_shows_repairs(result):
        lines.append(line(_NOTHING_CHANGED))
    elif verdict:
        lines.append(verdict)
    lines += _changed_lines(result)
    if result.outcome == "done" and result.explanation:
        lines.append(line(("what was wrong: ", "dim"), result.explanation))
    if result.outcome == "done" and result.repair is not None and result.solved_by in ("repair", ""):
        lines += search_lines(result.repair)
    lines += _remedy_lines(result)
    return [*lines, end_line(result)]


def end_line(result: RunResult) -> Line:
    """Give how it ended, by whom, and at what cost: `solved · repair · 0 calls · 1.2 s`."""
    done = result.outcome == "done"
    ended = "solved" if done and proven(result) else _ended(result)
    by = f" · {_worker_words(result)}" if done and result.solved_by else ""
    # `2 calls · 3,210 tokens · $0.0012 · 4.5 s`; without tokens and dollars where there are none
    retries = f" ({result.usage.retries:,} repeated)" if result.usage.retries else ""
    parts = [f"{count(result.model_calls, 'call')}{retries}"]
    if result.usage.total_tokens or result.usage.cost_usd:
        parts += [count(result.usage.total_tokens, "token"), money(result.usage.cost_usd)]
    cost = " · ".join([*parts, f"{result.duration_s:.1f} s"])
    return line((ended, "good" if ended == "solved" else "strong"), f"{by} · ", (cost, "dim"))


def failure_lines(result: RunResult, *, width: int | None = None) -> list[Line]:
    """Give why a run did not reach its goal: the reason, the verdict with its details, and what was tried."""
    reason = f": {result.reason}" if result.reason else ""
    lines = [line((f"✘ {_ended(result)}", "bad"), reason)]
    if result.outcome in {"refused", "interrupted"} and not result.attempts:
        return lines  # nothing was tried, and what the check said before was told then
    verdict = verdict_line(result)
    if verdict:
        lines.append(verdict)
    # Of a model that says at once why it changes nothing, what failed before is no failure of this.
    untouched = result.model_calls and not result.attempts and not result.diff
    details = [] if untouched else _detail_lines(result, width)
    return [*lines, *details, *_attempt_lines(result.attempts), *_best_lines(result)]


def error_lines(result: RunResult) -> list[Line]:
    """Give the shortest account of a failure: what is wrong and what to do."""
    reason = f": {result.reason}" if result.reason else ""
    verdict = None if _ended(result) == "not started" else verdict_line(result)
    head = line((f"✘ {_ended(result)}", "bad"), reason)
    return [head, *([verdict] if verdict else []), *_remedy_lines(result)]


def began(result: RunResult) -> bool:
    """Whether a check was run or something was tried before it ended."""
    return bool(result.attempts) or (result.before is not None and result.before.status != "no_check")


def _ended(result: RunResult) -> str:
    return "stopped" if result.outcome == "usage" and began(result) else _OUTCOMES[result.outcome]


def only_shows_repairs(result: RunResult) -> bool:
    """Whether repairs were asked for to look at: none was taken, and nobody else solved the task."""
    found = result.repair is not None and bool(result.repair.patches) and result.repair.chosen < 0
    return found and result.outcome == "done" and not result.solved_by


def is_prose(result: RunResult) -> bool:
    """Whether the answer is what a model says, rather than what a rule or a tool found."""
    if not result.answer or result.solved_by in ("pattern", "repair"):
        return False
    return result.records[-1].action != "tool" if result.records else result.model_calls > 0


def answers_only(result: RunResult) -> bool:
    """Whether a result is an answer and nothing more: done, nothing changed, nothing to judge."""
    return result.outcome == "done" and not result.diff and verdict_line(result) is None


def money(dollars: float) -> str:
    """Give an amount of US dollars; small ones with four decimals."""
    if not dollars:
        return "$0"
    return f"${dollars:.4f}" if dollars < 1 else f"${dollars:.2f}"


def worker(name: str) -> str:
    """Give who did something in plain words."""
    return {"repair": "offline repair", "pattern": "a rule"}.get(name, name)


def _worker_words(result: RunResult) -> str:
    if result.solved_by == "repair":
        return "repair"
    number = len(result.attempts) + 1  # those that are kept failed
    return worker(result.solved_by) + (f", attempt {number}" if number > 1 else "")


def _changed_lines(result: RunResult) -> list[Line]:
    names = ", ".join(result.changed_files)
    if result.outcome == "done":
        gone = [path for path in result.changed_files if f"--- a/{path}\n+++ /dev/null\n" in result.diff]
        kept = [path for path in result.changed_files if path not in gone]
        told = (("changed: ", kept), ("deleted: ", gone))
        return [line(what, ", ".join(paths)) for what, paths in told if paths]
    if names:
        return [line(("kept although not achieved: ", "warn"), names)]
    return [line("nothing stays changed")] if result.attempts else []


def _remedy_lines(result: RunResult) -> list[Line]:
    return [line(("→ ", "strong"), result.remedy)] if result.remedy else []


def _attempt_lines(attempts: tuple[Attempt, ...]) -> list[Line]:
    if not attempts:
        return []
    rows = [
        line(f"    {item.number}. {worker(item.by)}: {_attempt_words(item)}") for item in attempts[-_SHOWN_ATTEMPTS:]
    ]
    earlier = len(attempts) - len(rows)
    title = f"  tried (the last {len(rows)} of {len(attempts)}):" if earlier else "  tried:"
    return [line((title, "dim")), *rows]


def _best_lines(result: RunResult) -> list[Line]:
    best = result.best
    if best is None or len(result.attempts) < 2 or not best.progress:
        return []
    kept = "" if best.kept else "; not kept"
    where = f"attempt {best.number}, by {worker(best.by)}, {percent(best.progress)} of the check{kept}"
    return [line(("  furthest: ", "dim"), where)]


def _attempt_words(attempt: Attempt) -> str:
    words = attempt.summary or attempt.error.strip().split("\n")[-1] or "no change"
    return f"{clip(words, width=200)} ({percent(attempt.progress)} of the check)"


def _detail_lines(result: RunResult, width: int | None) -> list[Line]:
    verdict, bare_name = result.verdict or result.before, checks.entry.bare_name
    if verdict is None or verdict.status not in ("failed", "flaky", "tampered"):
        return []
    at = verdict.difference.line if verdict.difference else 1
    lines: list[Line] = []
    if verdict.difference or verdict.expected:
        marked = verdict.difference is not None
        expected = _excerpt("expected", verdict.expected, at, marked=marked)
        actual = _excerpt("got", verdict.actual, at, marked=marked)
        both = width is not None and width >= _BESIDE
        lines += _beside(expected, actual, (width or 0) // 2) if both else [*expected, *actual]
    if verdict.error:
        stood = result.before.failing if result.before else ()
        new = [bare_name(name) for name in verdict.failing if name not in stood]
        text = "\n".join(checks.describe.first_failures(verdict.error, new))
        lines += [line(("  error:", "dim")), *block(text, prefix="    | ")]
        if others := [
            name for name in verdict.failing if not re.search(rf"(?<!\w){re.escape(bare_name(name))}(?!\w)", text)
        ]:
            lines.append(line(("  also: ", "dim"), listed(others, _NAMED)))
    return lines


def _beside(left: list[Line], right: list[Line], room: int) -> list[Line]:
    """Two texts in columns of `room`, cut to fit."""
    rows = zip_longest(left, right, fillvalue=line(""))
    return [Line((*_padded(one, room).spans, *_cut(other, room).spans)) for one, other in rows]


def _padded(item: Line, room: int) -> Line:
    shown = _cut(item, room - 2)
    return Line((*shown.spans, *line(" " * (room - cells(shown.text))).spans))


def _cut(item: Line, room: int) -> Line:
    """A line of at most `room` columns; only its last part, which is a foreign text, is cut."""
    over = cells(item.text) - room
    if over <= 0:
        return item
    *first, last = item.spans
    kept: str = last.text
    while kept and cells(last.text) - cells(kept) <= over:
        kept = kept[:-1]
    return Line((*first, *line((f"{kept}…", last.style)).spans))


def _excerpt(title: str, text: str, at: int, *, marked: bool) -> list[Line]:
    """Some lines around line `at` (1-based), each behind a bar, so that no output can pass for one of our lines."""
    rows = text.removesuffix("\n").split("\n") if text else []
    if not rows:
        return [line((f"  {title}: ", "dim"), "nothing")]
    first = max(0, min(at - 1 - _LINES_BEFORE, len(rows) - _SHOWN_LINES))
    shown = rows[first : first + _SHOWN_LINES]
    place = f" (lines {first + 1}-{first + len(shown)} of {len(rows)})" if len(shown) < len(rows) else ""
    lines = [line((f"  {title}{place}:", "dim"))]
    for number, row in enumerate(shown, start=first + 1):
        here = marked and number == at
        lines.append(
            line((f"  {'>' if here else ' '} | ", "dim"), (clip(row, width=200), "strong" if here else "plain"))
        )
    return lines
