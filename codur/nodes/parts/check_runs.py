"""Runs of the check after an edit: what stood before decides first, and what fails by chance is told apart."""

from collections.abc import Sequence
from functools import partial

from codur.events import Note
from codur.nodes import parts
from codur.nodes.parts import foreign_failures
from codur.nodes.parts.finding import is_specified, keeps
from codur.nodes.parts.foreign_failures import run_after
from codur.nodes.run_state import RunContext, RunState
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.history.diff import FileChange

_AGAIN_SHARE = 0.1  # of the time left, which a second run of all tests may take
_AGAIN = 2  # runs that have to pass after one that failed by chance, where it is not known what its tests run
_MOST_BY_CHANCE = 3  # tests that may fail by chance in one run; an edit that breaks something breaks it again


def run_check(check: Check | None, state: RunState, context: RunContext) -> Verdict:
    """The check's verdict; where tests were added beside others, these decide first, as they stood.

    So what is added to a file of tests can take nothing from what decided before.
    """
    tests = state["discovery"].adds_tests
    if (
        check is None or not tests or parts.allowed_by_user.going_with_tests(state)
    ):  # there it was compared as it was edited
        return _run(check, state, context)
    context.checker.conditions.forget(check)  # with what was added in an earlier attempt more ran
    added = [change for change in context.workspace.changes() if change.path in tests]
    before = state["before"].tests_total if state["before"] is not None else None
    stood = _no_fewer(_as_they_stood(check, added, state, context), before or 0)
    if not added or not (stood.passed or keeps(stood, state)):
        return stood
    verdict = _no_fewer(_run(check, state, context), stood.tests_total or 0)
    return stood if verdict.passed and not stood.passed else verdict


def _as_they_stood(check: Check, added: Sequence[FileChange], state: RunState, context: RunContext) -> Verdict:
    now, paths = context.workspace.snapshot(), [change.path for change in added]
    context.workspace.unprotect(paths)
    try:
        for change in added:
            context.workspace.write_bytes(change.path, change.before or b"")
        return _run(check, state, context)
    finally:
        if added:
            context.workspace.restore(now)
            context.workspace.protect(paths)


def _no_fewer(verdict: Verdict, tests: int) -> Verdict:
    """The verdict; no pass if fewer tests ran than these."""
    if not verdict.passed or (verdict.tests_total or 0) >= tests:
        return verdict
    note = f"{tests} tests ran before, {verdict.tests_total} run now"
    return replace(verdict, status="failed", error=note, note=note, signature=note)


def _run(check: Check | None, state: RunState, context: RunContext) -> Verdict:
    """The check's verdict; that of a second run if the few tests that the edit seemed to break pass in it.

    In large projects some tests fail by chance: those of times, of sockets, of files that are watched.
    """
    if check is not None and check.kind == "kept_output" and state["guidance"]:
        check = replace(check, may_differ=True)  # what is said meanwhile may be that another output is wanted
    before = state["before"]
    verdict = run_after(check, before, context)
    if check is None or before is None or verdict.status != "failed" or verdict.timed_out or not before.tests_passed:
        return verdict
    broken = tuple(test for test in verdict.failing if test not in before.failing)
    if not 0 < len(broken) <= _MOST_BY_CHANCE or verdict.duration_s > _AGAIN_SHARE * context.time_left():
        return verdict
    # In a copy, where nothing is left of the first run: a fault of the first time is none of chance.
    python = check.argv[:1] == (PYTHON,)
    clean = partial(context.workspace.scratch_copy, extra=context.workspace.changed_files(), generated=False)
    apart = context.checker.on(clean(context.scratch())) if python else context.checker
    alone = apart.run(replace(check, tests=broken) if "pytest" in check.argv else check)
    if alone.status not in {"passed", "failed"} or not set(broken).isdisjoint(alone.failing) or alone.timed_out:
        return verdict
    again = run_after(check, before, context) if python else alone
    if again.timed_out or again.status not in {"passed", "failed"} or set(broken) & set(again.failing):
        return again
    tell_by_chance(broken, context, "failed once and passed when run again")
    return again


def is_by_chance(verdict: Verdict, check: Check, state: RunState, context: RunContext) -> bool:
    """Whether the few tests that failed as a pass was repeated have nothing to do with it, as far as that is known.

    Of those that failed before the task tells: if it is not about them, they pass by chance.
    """
    own = state["before"].failing if state["before"] is not None else ()
    if not 0 < len(verdict.failing) <= _MOST_BY_CHANCE:
        return False
    if not set(own).isdisjoint(verdict.failing):
        return set(verdict.failing) <= set(own) and not is_specified(verdict.failing, state)
    if "pytest" in check.argv:
        return foreign_failures.are_unreached(verdict.failing, check, verdict, context)
    return all(context.checker.run(check).passed for _ in range(_AGAIN))


def tell_by_chance(tests: Sequence[str], context: RunContext, how: str) -> None:
    """Tell which tests failed by chance, and how that showed."""
    context.emit(Note(level="info", text=f"{how}: {listed(tests, _MOST_BY_CHANCE)}"))
