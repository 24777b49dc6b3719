"""What a run's result means for a challenge: done only if the check was red before and passes now."""

from collections.abc import Sequence
from typing import Final

from codur import checks
from codur.batch.results.challenge_record import ChallengeResult, RouteEntry, SolvedTier, Status
from codur.llm.rate_limits.shared_limits import OVER_BUDGET
from codur.parsing.bounded_text import bounded
from codur.patches import RepairReport
from codur.structs import replace
from codur.types import RunResult, Verdict

MAX_DIFF, MAX_OUTPUT, MAX_PROMPT, MAX_REASON = 100_000, 8_000, 4_000, 500
NOT_ALONE: Final = "not the only one"
PASSES_ALREADY: Final = "the check passes as it is"
NEEDS_MODEL: Final = "needs a model"
NO_CHECK: Final = "nothing says what is right: no expected output and no tests were found"
NOT_SHOWN_RED: Final = "nothing shows that it is solved: the check was not red before, or does not pass"
_STATUS: Final[dict[str, Status]] = {"usage": "error", "limit": "limit"}


def outcome_of(result: RunResult, base: ChallengeResult) -> ChallengeResult:
    """The result of a challenge.

    Args:
        base: name, directory, key and prompt of the work; the rest is filled in.
    """
    solved = is_solved(result)
    last = result.verdict or result.before
    tier: SolvedTier = _tier(result) if solved else "none"
    return replace(
        base,
        status=_status(result),
        verdict=last.status if last else "",
        solved_by=result.solved_by if solved else "",
        tier=tier,
        retries=len(_coders(result)) - 1 if tier == "retry" else 0,
        reason="" if solved else _reason(result)[:MAX_REASON],
        explanation=result.explanation,
        check=last.check if last else "",
        calls=result.model_calls,
        tokens=result.usage.total_tokens,
        cost_usd=result.usage.cost_usd,
        seconds=result.duration_s,
        attempts=result.iterations,
        signature=last.signature if last and not solved else "",
        changed_files=result.changed_files,
        diff=bounded(result.diff, MAX_DIFF),
        output_before=_output(result.before),
        output_after=_output(result.verdict),
        sandbox=result.sandbox,
        notes=(*result.notes, *_other_repairs(result.repair if solved else None)),
        route=tuple(
            RouteEntry(node=step.node, route=step.route, origin=step.origin, tier=step.tier, reason=step.reason)
            for step in result.route
        ),
    )


def _other_repairs(report: RepairReport | None) -> tuple[str, ...]:
    others = len(report.patches) - 1 if report is not None and report.chosen >= 0 else 0
    which = "repair passes the check and behaves" if others == 1 else "repairs pass the check and behave"
    return (f"{NOT_ALONE}: {others} other {which} differently; look at it",) if others > 0 else ()


def _status(result: RunResult) -> Status:
    if is_solved(result):
        return "solved"
    return "passes" if _passes_already(result) else _STATUS.get(result.outcome, "failed")


def _passes_already(result: RunResult) -> bool:
    """Whether the check was green before, and is."""
    last = result.verdict or result.before
    return last is not None and last.passed and result.before is not None and result.before.passed


def is_solved(result: RunResult) -> bool:
    """Whether the check was red before and is green now."""
    red_before = result.before is not None and result.before.status == "failed"
    return result.outcome == "done" and result.verdict is not None and result.verdict.passed and red_before


def over_budget(result: ChallengeResult) -> bool:
    """Whether the batch's budget ended it: it is not finished, then."""
    return result.status == "limit" and result.reason.startswith(OVER_BUDGET)


def _reason(result: RunResult) -> str:
    if _passes_already(result):
        return PASSES_ALREADY
    seen = result.verdict or result.before
    unchecked = seen is None or seen.status == "no_check"
    if result.outcome == "done":
        return NO_CHECK if unchecked else NOT_SHOWN_RED
    if result.outcome == "no_model":
        return NO_CHECK if seen is None or unchecked else f"{NEEDS_MODEL}{_fails_with(seen)}"
    return result.reason


def _fails_with(verdict: Verdict) -> str:
    different = verdict.difference
    words = checks.describe.difference_words(different) if different else checks.describe.headline(verdict.error)
    words = "it did not end" if verdict.timed_out else words
    return f": {words}" if words else ""


def _tier(result: RunResult) -> SolvedTier:
    if result.solved_by in ("pattern", "repair"):
        return "pattern" if result.solved_by == "pattern" else "repair"
    coders = _coders(result)
    if len(set(coders)) > 1:
        return "agent"
    if len(coders) > 1:
        return "retry"
    return "plan" if "llm_plan" in _deciding(result) else "pre_plan" if "llm_pre_plan" in _deciding(result) else "agent"


def _coders(result: RunResult) -> list[str]:
    """Who wrote each attempt, in their order."""
    return [attempt.by for attempt in result.attempts if attempt.by != "repair"]


def _deciding(result: RunResult) -> Sequence[str]:
    """The nodes that decided; what the user's settings hand to an agent is decided by the user."""
    return [step.node for step in result.route if step.origin != "user"]


def _output(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    both = (verdict.actual, verdict.error)
    return bounded("\n".join(text.rstrip("\n") for text in both if text), MAX_OUTPUT)
