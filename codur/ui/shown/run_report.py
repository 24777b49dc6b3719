"""The end of a run: what was achieved, how, and at what cost; or what came instead, and what to do."""

from __future__ import annotations

from collections.abc import Collection

from codur.types import Attempt, Outcome, RunResult, Usage, Verdict
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.repairs import every_repair, search_lines
from codur.ui.shown.verdicts import proven, verdict_line
from codur.ui.styled_lines import Line, block, clip, count, line, percent

_SHOWN_LINES = 10
"""Lines shown of an expected output, of what came instead, and of an error."""
_LINES_BEFORE = 3
"""Lines shown before the first difference."""
_SHOWN_ATTEMPTS = 8
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

    Args:
        result: the run's result.
        limit: lines of the diff shown at most, or None for all.
    """
    if result.repair is not None and _only_shows_repairs(result):
        return every_repair(result.repair)
    answer, diff = block(result.answer), diff_lines(result.diff, limit=limit)
    return [*answer, line(""), *diff] if answer and diff else [*answer, *diff]


def summary_lines(result: RunResult, *, told: Collection[str] = ()) -> list[Line]:
    """Give everything but the answer and the diff.

    Args:
        result: the run's result.
        told: notes that have been shown already.
    """
    if result.outcome == "usage":
        return error_lines(result)
    lines = [line(("note: ", "warn"), note) for note in dict.fromkeys(result.notes) if note not in told]
    verdict = verdict_line(result)
    if result.outcome != "done":
        lines += failure_lines(result)
    elif _only_shows_repairs(result):
        lines.append(line(_NOTHING_CHANGED))
    elif verdict:
        lines.append(verdict)
    lines += _changed_lines(result)
    if result.outcome == "done" and result.solved_by:
        what = f": {result.explanation}" if result.explanation else ""
        lines.append(line(_solved_words(result), what))
    if result.outcome == "done" and result.repair is not None and result.solved_by in ("repair", ""):
        lines += search_lines(result.repair)
    lines += _remedy_lines(result)
    lines.append(line((cost_words(result.usage, calls=result.model_calls, seconds=result.duration_s), "dim")))
    return lines


def failure_lines(result: RunResult) -> list[Line]:
    """Give why a run did not reach its goal: the reason, the verdict with its details, and what was tried."""
    reason = f": {result.reason}" if result.reason else ""
    lines = [line((f"✘ {_OUTCOMES[result.outcome]}", "bad"), reason)]
    if result.outcome in {"refused", "interrupted"} and not result.attempts:
        return lines  # nothing was tried, and what the check said before was told then
    verdict = verdict_line(result)
    if verdict:
        lines.append(verdict)
    details = _detail_lines(result.verdict or result.before)
    return [*lines, *details, *_attempt_lines(result.attempts), *_best_lines(result)]


def error_lines(result: RunResult) -> list[Line]:
    """Give the shortest account of a failure: what is wrong and what to do."""
    reason = f": {result.reason}" if result.reason else ""
    verdict = None if result.outcome == "usage" else verdict_line(result)
    head = line((f"✘ {_OUTCOMES[result.outcome]}", "bad"), reason)
    return [head, *([verdict] if verdict else []), *_remedy_lines(result)]


def _only_shows_repairs(result: RunResult) -> bool:
    """Whether repairs were asked for to look at: none was taken, and nobody else solved the task."""
    found = result.repair is not None and bool(result.repair.patches) and result.repair.chosen < 0
    return found and result.outcome == "done" and not result.solved_by


def answers_only(result: RunResult) -> bool:
    """Whether a result is an answer and nothing more: done, nothing changed, nothing to judge."""
    return result.outcome == "done" and not result.diff and verdict_line(result) is None


def cost_words(usage: Usage, *, calls: int, seconds: float) -> str:
    """Give `2 model calls, 3,210 tokens, $0.0012, 4.5 s`."""
    retries = f" ({count(usage.retries, 'request')} repeated)" if usage.retries else ""
    tokens = count(usage.total_tokens, "token")
    return f"{count(calls, 'model call')}{retries}, {tokens}, {money(usage.cost_usd)}, {seconds:.1f} s"


def money(dollars: float) -> str:
    """Give an amount of US dollars; small ones with four decimals."""
    if not dollars:
        return "$0"
    return f"${dollars:.4f}" if dollars < 1 else f"${dollars:.2f}"


def worker(name: str) -> str:
    """Give who did something in plain words."""
    return {"repair": "offline repair", "pattern": "a rule"}.get(name, name)


def _solved_words(result: RunResult) -> str:
    verb = "solved" if proven(result) else "done"
    number = len(result.attempts) + 1  # those that are kept failed
    attempt = f", attempt {number}" if number > 1 and result.solved_by != "repair" else ""
    return f"{verb} by {worker(result.solved_by)}{attempt}"


def _changed_lines(result: RunResult) -> list[Line]:
    names = ", ".join(result.changed_files)
    if result.outcome == "done":
        return [line("changed: ", names)] if names else []
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


def _detail_lines(verdict: Verdict | None) -> list[Line]:
    if verdict is None or verdict.status not in ("failed", "flaky", "tampered"):
        return []
    at = verdict.difference.line if verdict.difference else 1
    lines: list[Line] = []
    if verdict.difference or verdict.expected:
        lines += _excerpt("expected", verdict.expected, at, marked=verdict.difference is not None)
        lines += _excerpt("got", verdict.actual, at, marked=verdict.difference is not None)
    if verdict.error:
        rows = verdict.error.rstrip("\n").split("\n")[-_SHOWN_LINES:]
        lines += [line(("  error:", "dim")), *block("\n".join(rows), prefix="    | ")]
    return lines


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
