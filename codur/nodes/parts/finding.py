"""What a failed step leaves behind, and what may go on failing. Pure."""

from codur.checks.describe import ERROR_CHARS, error_text
from codur.lazy import regex
from codur.nodes.run_state import BestState, RunState
from codur.structs import Struct, replace
from codur.types import Attempt, StepRecord, Verdict

_NUMBERS = regex(r"\d+")


class Judged(Struct):
    """What the check said of a step."""

    # the check's verdict on the state that the next attempt starts from, or on the passing state
    verdict: Verdict | None
    last: Verdict | None  # the verdict on the attempt itself
    attempt: Attempt | None  # the failed attempt; None if there is nothing to do better
    gained: bool = False  # the attempt came further than where it started from
    apart: bool = False  # the best one mends all tests that run what it changes


def finding(
    record: StepRecord, verdict: Verdict | None, change: tuple[str, str], state: RunState, best: BestState
) -> Judged:
    """A failed attempt, which may have come further.

    Args:
        verdict: what the check said; None if the step itself failed, so that it was not run.
        change: its name, and its diff as models may see it.
    """
    if verdict is None:
        present = state["verdict"]
        progress = present.progress if present else 0.0
        # Without numbers: the same mistake at another line is the same failure.
        attempt = _attempt(record, state, f"edit: {_NUMBERS.sub('#', record.error)}", progress, record.error)
        return Judged(verdict=present, last=present, attempt=attempt)
    error = verdict.note if verdict.status in {"tampered", "no_check"} else verdict.error or _difference(verdict)
    signature = verdict.signature or f"{verdict.status}: {verdict.note}"
    progress = verdict.progress if verdict.status == "failed" else 0.0
    attempt = replace(_attempt(record, state, signature, progress, error), edit=change[0], diff=change[1])
    # Further than the start, not than the best: after a clean start the best may be out of reach for a while.
    gained = verdict.status == "failed" and verdict.progress > best.start_progress
    start = verdict if gained else state["verdict"] or verdict
    return Judged(verdict=start, last=verdict, attempt=attempt, gained=gained)


def may_fail(state: RunState) -> tuple[str, ...]:
    """The tests that fail now and may go on to: those of a refactoring, which is done if what passed still passes."""
    before = state["before"]
    refactors = state["discovery"].task_type == "refactor" and not state["task"].check_is_goal
    return before.failing if refactors and before is not None and before.status == "failed" else ()


def keeps(verdict: Verdict | None, state: RunState) -> bool:
    """Whether a verdict fails in nothing but what may fail, and in no more of its tests than before."""
    before, allowed = state["before"], may_fail(state)
    if verdict is None or before is None or verdict.status != "failed" or verdict.timed_out or not verdict.failing:
        return False
    return set(verdict.failing) <= set(allowed) and (verdict.tests_passed or 0) >= (before.tests_passed or 0)


def _attempt(record: StepRecord, state: RunState, signature: str, progress: float, error: str) -> Attempt:
    return Attempt(
        number=len(state["attempts"]) + 1,
        by=record.capability or record.node,
        summary=record.summary or "no edit",
        signature=signature,
        progress=progress,
        error=error_text(error, ERROR_CHARS),
        others=record.others,
    )


def _difference(verdict: Verdict) -> str:
    if verdict.difference is None:
        return "the program did not end within the time limit" if verdict.timed_out else ""
    expected, actual = verdict.difference.expected, verdict.difference.actual
    return f"output line {verdict.difference.line}: expected {expected!r}, got {actual!r}"
