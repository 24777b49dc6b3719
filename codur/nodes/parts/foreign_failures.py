"""Whether failing tests have to do with an edit: they may fail for what a machine lacks, or for what others wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from codur import checks
from codur.context.places import is_unfinished
from codur.errors import LimitReached
from codur.nodes.parts.finding import as_named_before, is_called_after, is_harmless
from codur.nodes.run_state import RunContext, RunState
from codur.parsing.bounded_text import listed
from codur.repair import evidence
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.text import as_shown

if TYPE_CHECKING:
    from codur.python.test_run import TestEnd

_NAMED = 3
_TRACE_SHARE = 0.2
"""Of the time left, which tests that still fail may be traced."""


def run_after(check: Check | None, before: Verdict | None, context: RunContext) -> Verdict:
    """The check's verdict on what was changed, by the names from before."""
    return as_named_before(context.checker.run(check), before, context.workspace.changed_files())


def are_foreign(verdict: Verdict, state: RunState, context: RunContext) -> bool:
    """Whether the tests that fail do so as before, or run nothing of what was changed; False if time is up before.

    Those of what is still to be written count, unless the task is about others of those that failed. All tests are run
    for it once more, as a pass is confirmed: what passed by chance is no less broken.
    """
    check, before = state["discovery"].check, state["before"]
    if check is None or before is None:
        return False
    with suppress(LimitReached):
        again = run_after(check, before, context)
        if not is_harmless(again, before) or not set(again.failing) <= set(verdict.failing):
            return False
        ends = context.checker.last_tests
        others = any(is_called_after(test, state["task"].prompt) for test in before.failing)
        if not others and any(_is_unwritten(ends[test], context) for test in verdict.failing if test in ends):
            return False
        now = words(ends)
        other = tuple(test for test in verdict.failing if test not in now or now[test] != context.best.words.get(test))
        return not other or ("pytest" in check.argv and are_unreached(other, check, verdict, context, loads=False))
    return False


def not_installed(verdict: Verdict, state: RunState, context: RunContext) -> list[str]:
    """Modules that a failure misses and a changed file imports, which are neither installed nor the project's own.

    Of a test that was made for the task alone: those of the project tell what it can do here.
    """
    check = state["discovery"].check
    if check is None or not check.text:
        return []
    absent = checks.suites.run_problem.missing_modules(verdict.error, context.workspace.root, context.python)
    now = "\n".join(as_shown(change.path, change.after) for change in context.workspace.changes() if change.after)
    return [name for name in absent if re.search(rf"^\s*(?:from|import) {re.escape(name)}\b", now, re.MULTILINE)]


def are_unreached(tests: tuple[str, ...], check: Check, verdict: Verdict, context: RunContext, **how: bool) -> bool:
    """Whether failing tests run nothing of what is changed in the workspace."""
    # In a copy, as the tracer writes what it found beside the sources.
    copy = context.checker.on(context.workspace.scratch_copy(context.scratch()))
    narrow = replace(check, tests=tests, timeout_s=_TRACE_SHARE * context.time_left())
    return evidence.tracing.unreached(copy, narrow, verdict, context.workspace.changes(), **how)


def words(ends: Mapping[str, TestEnd]) -> dict[str, str]:
    """How each test failed: what it raised, and the last words of that."""
    return {name: checks.signature.normalised(f"{end.raised} {_last_words(end)}") for name, end in ends.items()}


def worse_left_out(verdict: Verdict, context: RunContext) -> list[str]:
    """What is told of tests that are left out of a pass, and fail in other words than before anything was changed."""
    ends, before = context.checker.last_tests, context.best.words
    now = words({name: ends[name] for name in verdict.excused if name in ends})
    other = [name for name, said in now.items() if said != before.get(name, said)]
    fail = "fails" if len(other) == 1 else "fail"
    return [f"left out of the verdict, but {fail} otherwise than before: {listed(other, _NAMED)}"] if other else []


def _last_words(end: TestEnd) -> str:
    """What pytest marks last, or all that another runner says."""
    marked = next((line for line in reversed(end.text.splitlines()) if line.startswith("E ")), "")
    return marked if marked or end.raised else end.text


def any_unwritten(context: RunContext) -> bool:
    """Whether a test failed in the last run for what is still to be written: it says what that has to be."""
    ends = context.checker.last_tests.values()
    return any(_is_unwritten(end, context) for end in ends if end.outcome == "failed")


def _is_unwritten(end: TestEnd, context: RunContext) -> bool:
    """Whether a test fails for what a source of the workspace leaves open or lacks."""
    lacks = "cannot import name" in (said := _last_words(end)) and str(context.workspace.root) in said
    return end.raised == "NotImplementedError" or lacks or (not end.raised and is_unfinished(end.text))
