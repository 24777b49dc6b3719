"""Runs the check after a step that edits, and keeps the best state of the workspace."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from codur.errors import UsageError
from codur.events import CheckRan
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.tools.git_history import uncommitted
from codur.types import Attempt, Check, Discovery, StepRecord, Verdict
from codur.verification.confirmation import confirm
from codur.verification.describe import ERROR_CHARS, diff_text, error_text
from codur.verification.discover import find_check
from codur.verification.linters import worse
from codur.verification.signature import normalised

_NUMBERS = re.compile(r"\d+")
_LINE = re.compile(r":\d+")

COMMAND_NOT_FOUND = 127
_FIRST_SHARE, _SHORT_SHARE, _LEAST_FIRST_S = 0.4, 0.6, 10.0
"""Of the run's time, which its first check may take, so that there is some left to act on what it says."""
_LINT_SHARE = 0.5
_LONG_S = 1.0
"""What takes longer is worth a look at the tests that failed before all others are run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the check said of a step.

    Attributes:
        verdict: the check's verdict on the state that the next attempt starts from, or on the passing state.
        last: the verdict on the attempt itself.
        attempt: the failed attempt; None if there is nothing to do better.
        gained: the attempt came further than where it started from.
    """

    verdict: Verdict | None
    last: Verdict | None
    attempt: Attempt | None
    gained: bool = False


def seen_before(state: RunState, context: RunContext) -> RunUpdate:
    """What is to be known before a step edits: the check, its files guarded, and its verdict so far.

    Empty if it is known already. Rules that did not take the task for one about code have not looked for a check.
    """
    if state["before"] is not None or state["attempts"] or context.workspace.changed_files():
        return RunUpdate()
    task, discovery = state["task"], state["discovery"]
    if discovery.check is None:
        check = find_check(
            context.workspace,
            prompt=task.prompt,
            files=[path for path in discovery.files if path not in discovery.guessed],
            settings=context.settings.verification,
            changed=lambda: uncommitted(context.workspace.root, context.launcher),
        )
        discovery = replace(discovery, check=check)
    verdict = check_before(discovery, context)
    return RunUpdate(discovery=discovery, before=verdict, verdict=verdict)


def check_before(discovery: Discovery, context: RunContext) -> Verdict:
    """The check's verdict on the untouched program; its files are guarded from now on."""
    check = discovery.check
    if check is not None:
        context.checker.guard(check)
        left = context.time_left()
        share_s = max(min(_LEAST_FIRST_S, left * _SHORT_SHARE), left * _FIRST_SHARE)
        check = replace(check, timeout_s=min(check.timeout_s, share_s))
    verdict = context.checker.run(check)
    if discovery.check is not None and discovery.check.kind == "command" and verdict.exit_status == COMMAND_NOT_FOUND:
        raise UsageError(
            f"the check cannot be run: {verdict.error.strip().splitlines()[-1] if verdict.error else verdict.check}",
            remedy="Correct the command given with --check (or in challenge.yaml).",
        )
    if verdict.status in {"failed", "passed"}:
        context.best.found(verdict.progress)
    context.emit(CheckRan(when="before", verdict=verdict))
    return verdict


def judge(record: StepRecord, state: RunState, context: RunContext) -> Judged:
    """The verdict on a step that was to edit files.

    An attempt that came further than where it started from becomes the new starting point; any other is undone.
    """
    if not record.ok:
        present = state["verdict"]
        progress = present.progress if present else 0.0
        attempt = _attempt(record, state, f"edit: {_NUMBERS.sub('#', record.error)}", progress, record.error)
        context.workspace.restore(context.best.start)  # edits of earlier steps of the same plan go, too
        return Judged(verdict=present, last=present, attempt=attempt)
    diff = context.workspace.diff()
    edit = edit_name(diff)
    verdict = _known_failure(record, edit, state, context) or _check(record, state, context)
    if verdict.status in {"passed", "flaky"} or keeps(verdict, state) or _nothing_to_check(verdict, state, context):
        return Judged(verdict=verdict, last=verdict, attempt=None)
    error = verdict.note if verdict.status in {"tampered", "no_check"} else verdict.error or _difference(verdict)
    signature = verdict.signature or f"{verdict.status}: {verdict.note}"
    progress = verdict.progress if verdict.status == "failed" else 0.0
    shown = context.for_models.diff()  # the next request holds it
    attempt = replace(_attempt(record, state, signature, progress, error), diff=diff_text(shown), edit=edit)
    gained = _keep_if_better(verdict, context)
    start = verdict if gained else state["verdict"] or verdict
    return Judged(verdict=start, last=verdict, attempt=attempt, gained=gained)


def linted(context: RunContext) -> list[str]:
    """What the project's own linters find more than before in what was changed; it is told and nothing more.

    What passed the check is done: another attempt would cost as much as this one, and could spoil it.
    """
    if not (context.settings.verification.linters and context.settings.tools.allow_run):
        return []
    most_s = _LINT_SHARE * context.time_left()  # what is done must not be lost for them
    return worse(context.workspace, context.launcher, context.scratch, most_s=most_s)


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


def edit_name(diff: str) -> str:
    """What a change is called: equal for equal diffs."""
    return hashlib.sha256(diff.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _known_failure(record: StepRecord, edit: str, state: RunState, context: RunContext) -> Verdict | None:
    """The verdict on the same change earlier in this run, for an agent that ran no programs of its own."""
    known = state["failures"].get(edit)
    if known is None or record.action != "coding":
        return None
    number = next(attempt.number for attempt in state["attempts"] if attempt.edit == edit)
    known = replace(known, note=f"the same change as attempt {number}, so the check was not run again")
    context.emit(CheckRan(when="attempt", verdict=known))
    return known


def _nothing_to_check(verdict: Verdict, state: RunState, context: RunContext) -> bool:
    """Whether there never was a check; one that was red and has gone is no success."""
    before, check = state["before"], state["discovery"].check
    was_red = before is not None and before.status == "failed" and check is not None and check.kind != "syntax"
    was_red = was_red and context.settings.tools.allow_run
    return verdict.status == "no_check" and bool(context.workspace.changed_files()) and not was_red


def _check(record: StepRecord, state: RunState, context: RunContext) -> Verdict:
    check = state["discovery"].check
    again = 0 if record.action == "repair" or record.held else None  # it has passed more than once in a copy already
    narrow = record.action != "repair" and not may_fail(state)
    first = _still_failing(check, state["verdict"], context) if check and narrow else None
    verdict = first or context.checker.run(check)
    context.emit(CheckRan(when="attempt", verdict=verdict))
    if check is not None and keeps(verdict, state):
        repeated = context.checker.run(check)
        return verdict if keeps(repeated, state) else repeated
    if check is None or not verdict.passed:
        return verdict
    originals = {change.path: change.before for change in context.workspace.changes()}
    confirmed = confirm(
        context.checker,
        check,
        verdict,
        originals,
        state["task"].prompt,
        earlier=state["before"],
        runs=again,
        own=record.action == "repair",
    )
    if confirmed != verdict:
        context.emit(CheckRan(when="confirm", verdict=confirmed))
    return confirmed


def _still_failing(check: Check, start: Verdict | None, context: RunContext) -> Verdict | None:
    """The verdict of the tests that failed before the attempt, run alone, if none of them passes; None: run them all.

    A test may need what others leave behind. So what these say counts only once they failed alone in the words in which
    they fail among all others; till then all are run, too, and that is found out.
    """
    tests = start.failing if start is not None and start.status == "failed" else ()
    few = start is not None and 0 < len(tests) * 2 <= (start.tests_total or 0) and start.duration_s > _LONG_S
    if start is None or not few or check.kind != "tests" or check.text:
        return None
    verdict = context.checker.run(replace(check, tests=tests))
    if verdict.status != "failed" or verdict.timed_out or set(verdict.failing) != set(tests):
        return None
    if tests not in context.alone and not _alike(verdict, start):
        whole = context.checker.run(check)
        if _alike(verdict, whole):
            context.alone.add(tests)
        return whole
    context.alone.add(tests)
    note = "what failed before still fails; the other tests were not run"
    return replace(verdict, progress=start.progress, note=note)


def _alike(one: Verdict, other: Verdict) -> bool:
    """Whether two runs failed in the same words, wherever the lines are now."""
    return _LINE.sub("", normalised(one.error)) == _LINE.sub("", normalised(other.error))


def _keep_if_better(verdict: Verdict, context: RunContext) -> bool:
    if verdict.status == "failed" and verdict.progress > context.best.start_progress:
        context.best.gained(context.workspace.snapshot(), verdict.progress)
        return True
    context.workspace.restore(context.best.start)
    return False


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
