"""Offline repair: searches for the smallest edit that makes the check pass, without a model.

Generate and validate, as GenProg (Le Goues et al. 2012) and PraPR (Ghanbari et al. 2019) do, but systematically:
candidates are judged in the order of localisation × prior × size, and those that bring the check further are combined
with a second edit. The same input gives the same order; only the budget can end the search early.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.entry import is_pytest_file
from codur.checks.signature import normalised
from codur.errors import LimitReached, WorkspaceError
from codur.events import Emit
from codur.lazy import regex
from codur.patches import Suspect
from codur.python.pytest_equivalent import search_argv
from codur.python.test_run import files_of
from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.history import undone
from codur.repair.candidates.late_candidates import Prospect, Sight, Which, prospects
from codur.repair.choice.probing import Prober
from codur.repair.evidence.differences import shown_kinds
from codur.repair.evidence.failing_lines import Failure, read_failure
from codur.repair.evidence.observed_values import Observed
from codur.repair.evidence.tracing import Coverage, Line, run_traced
from codur.repair.hints import Hints, read_hints
from codur.repair.judge.candidate_judge import Flaky, Judge
from codur.repair.judge.obstacles import RUNS_NONE, why_flaky, why_not
from codur.repair.judge.worker_pool import processors
from codur.repair.outcome import RepairOutcome
from codur.repair.search import Bounds, Means, Search
from codur.repair.suspicion.localise import Suspicion, flow_of, localise, moved
from codur.repair.suspicion.mentions import named_lines, named_tables, names_in_tests
from codur.sandbox.cancel import CancelToken
from codur.structs import Struct, replace
from codur.tools.git.git_history import History
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace

__all__ = ["RepairOutcome", "search", "suspects"]

Past = Callable[[Mapping[str, str]], History]

_SAID = regex(r"^E .*", re.MULTILINE)
_MAX_UNKNOWN_FILES = 20
_GIVEN, _NAMED, _NAMED_IN_TEST, _TABLE_IN_TEST, _CHANGED = 2.0, 1.3, 1.15, 2.0, 1.3
"""How much more a line is suspected for each reason."""
_MOST_TESTS = 20
"""Of the tests that fail so many judge candidates; all of them must pass in the end."""
_HANGS = "did not end within"
_MOST_HANGING, _HANGING_S = 2, 15.0
"""Tests that judge where some do not end (no run waits for a third that hangs), and seconds of a run of them."""
_SMALL, _QUICK_S = 20, 5.0
"""Tests and seconds of a suite that judges candidates as it is: to learn which tests alone fail costs two runs more."""
_RED_RUNS, _STEADY_S = 4, 10.0
"""So often the failing tests are run once more before a repair is taken, if that takes no longer."""
_MOST_BROKEN, _MOST_APART = 3, 30
"""Failures after which a run of all tests ends, and tests that may fail in a copy for other reasons."""
_TRACE_SHARE = 0.15
"""Of the time of a search, which its tests may be traced."""
_KEPT_SHARE, _KEPT_TIMES = 0.3, 1.5
"""Time kept for what passes to be run once more: of the search's at most, and in times of the runs before."""
_MOST_SUSPECTS, _SHOWN_SAMPLES, _SHOWN_CHARS = 20, 3, 200
"""Suspicious lines that are told, samples of values of each, and characters of its text."""
_FAIL_TOGETHER = "The tests that fail pass when they are run by themselves: they depend on tests before them."
_BROKEN = "raise SystemExit('this text stands for one that fails in another way')\n"


class Fault(Struct):
    """What is to be repaired."""

    checker: Checker  # bound to a scratch copy of the workspace, which is as before afterwards
    check: Check
    before: Verdict  # the check's verdict on the program as it is
    files: Sequence[str]  # workspace-relative paths, most relevant first; other executed Python files follow them
    task: str = ""  # the user's words; functions named there are more likely at fault, and what they suspect is a hint
    hints: Sequence[str] = ()  # what somebody thinks is wrong: it comes first, and nothing is left out for it
    named: Callable[[Sequence[str]], Sequence[str]] = lambda _: ()  # those of failing tests of which the task speaks
    past: Past = lambda _: History()  # reads the recent past of the files whose present texts it is given

    @property
    def workspace(self) -> Workspace:
        return self.checker.workspace


class Effort(Struct):
    """What a search may use."""

    # seconds, by `clock`. When they are up whatever runs is ended. A repair that passed and could not be run once more
    # by then is told all the same, and never as a clear one.
    budget_s: float
    max_order: int  # edits combined at most
    # warm workers that judge candidates; 0 for plain processes alone, None for one for each processor. The outcome does
    # not depend on it.
    workers: int | None = 0
    every: bool = False  # go on after the first repair, until the time is up or every candidate is judged
    clock: Callable[[], float] = time.monotonic


def search(fault: Fault, effort: Effort, *, emit: Emit, cancel: CancelToken) -> RepairOutcome:
    """Looks for edits of the workspace's Python files that make the check pass.

    Raises:
        Interrupted: `cancel` was set; it is looked at between candidates.
    """
    before = fault.before
    if fault.check.kind == "syntax":
        return RepairOutcome(reason="There is no check that tells a right program from a wrong one.")
    if before.status == "no_check" or before.passed:
        reason = "The check passes already." if before.passed else "The check found nothing to judge by."
        return RepairOutcome(reason=reason, best_progress=before.progress)
    end = effort.clock() + effort.budget_s

    def time_left() -> float:
        return end - effort.clock()

    paths = _python_files(fault)
    fault = replace(fault, checker=fault.checker.within(cancel, time_left))
    try:
        fault = _by_pytest(fault)
        before = fault.before
        narrow, first = _narrowed(fault)
        # Run alone they pass, so that no edit could be seen to mend them.
        if first.passed:
            return RepairOutcome(reason=_FAIL_TOGETHER, best_progress=before.progress)
        once_more_s = first.duration_s + (0.0 if narrow is fault.check else before.duration_s)
        kept_s = min(_KEPT_SHARE * effort.budget_s, _KEPT_TIMES * once_more_s)

        def search_left() -> float:
            return time_left() - kept_s

        hurried, trace_s = fault.checker.within(cancel, search_left), _TRACE_SHARE * time_left()
        hands = processors() if effort.workers is None else effort.workers
        with Judge(hurried, narrow, first, workers=hands, whole=before) as judge:
            if paths:
                # Without files to change the search ends below, and a worker would have been started for nothing.
                judge.prepare()  # the first worker starts while the program is traced
            coverage = (
                run_traced(fault.checker, narrow, first, most_s=trace_s, there=judge.run_there) if paths else None
            )
            judge.coverage = coverage
            scene = _look(fault, narrow, first, paths, _without_others(coverage, fault))
            if isinstance(scene, str):
                return RepairOutcome(reason=scene, best_progress=before.progress)
            require_steady = cache(partial(_require_steady, fault, narrow, first, search_left))
            means = Means(
                judge=judge,
                changes=scene.changes,
                # Not the hurried checker: what passes is run once more in the time that was kept for it.
                prober=Prober(fault.checker, narrow, scene.coverage, judge.run_there),
                confirm=partial(_confirmed, fault, narrow, require_steady),
                confirm_part=lambda changed: _part_confirmed(fault, judge, changed),
            )
            bounds = Bounds(
                max_order=effort.max_order, every=effort.every, time_left=search_left, cancel=cancel, emit=emit
            )
            found = Search(Program(texts=scene.texts), first, means, bounds).run()
            return replace(found, hint=scene.hints.told)
    except Flaky as flaky:
        return RepairOutcome(reason=str(flaky), best_progress=before.progress, note=flaky.note)
    except LimitReached:
        return RepairOutcome(reason="The time was up before a candidate was judged.", best_progress=before.progress)


def suspects(fault: Fault, budget_s: float, *, cancel: CancelToken) -> tuple[Suspect, ...] | str:
    """The lines that the failure speaks against, the most suspicious first; no candidate is judged.

    Args:
        budget_s: seconds that it may take.

    Returns:
        A sentence that says why, if there are none.

    Raises:
        Interrupted: `cancel` was set.
    """
    end = time.monotonic() + budget_s
    fault = replace(fault, checker=fault.checker.within(cancel, lambda: end - time.monotonic()))
    try:
        fault = _by_pytest(fault)
        narrow, first = _narrowed(fault)
        if first.passed:
            return _FAIL_TOGETHER
        paths = _python_files(fault)
        coverage = run_traced(fault.checker, narrow, first, most_s=_TRACE_SHARE * budget_s) if paths else None
        scene = _look(fault, narrow, first, paths, _without_others(coverage, fault))
    except LimitReached:
        return "The time was up before it was known what the check executes."
    return scene if isinstance(scene, str) else scene.suspects() or "No line that may be changed was executed."


def _is_small(before: Verdict) -> bool:
    """Whether a suite judges candidates as it is."""
    return 0 < (before.tests_total or 0) <= _SMALL and (_HANGS in before.error or before.duration_s < _QUICK_S)


def _by_pytest(fault: Fault) -> Fault:
    """The fault, with the check as a command of pytest where one runs the same tests: it tells them one by one."""
    check, checker, before = fault.check, fault.checker, fault.before
    # The one that fails is known, and a small suite is run whole.
    if "pytest" in check.argv or (_is_small(before) and len(before.failing) < 2):
        return fault
    argv = search_argv(check.argv, fault.workspace.root, checker.programs.python)
    if not argv:
        return fault
    check = replace(check, kind="tests", argv=argv)
    before = checker.run(check)
    return replace(fault, check=check, before=before) if before.failing else fault


def _without_others(coverage: Coverage | None, fault: Fault) -> Coverage | None:
    """What a run executed, without failing tests of which the task does not speak, if it speaks of any."""
    named = set(fault.named([name for name, test in coverage.tests.items() if test.failed])) if coverage else set()
    if coverage is None or not named:
        return coverage
    tests = {name: test for name, test in coverage.tests.items() if not test.failed or name in named}
    return replace(coverage, tests=tests)


def _narrowed(fault: Fault) -> tuple[Check, Verdict]:
    """The check of the failing tests alone with its verdict; the whole one if it is small or not known test by test."""
    checker, check, before = fault.checker, fault.check, fault.before
    hangs = _HANGS in before.error
    if _is_small(before):
        return check, replace(before, timed_out=hangs)
    if not before.failing or "pytest" not in check.argv:
        return check, before
    # What the tests say first is what is read as the failure.
    named = set(fault.named(before.failing))
    failing = tuple(sorted(before.failing, key=lambda test: test not in named))
    narrow = replace(check, tests=failing[:_MOST_TESTS])
    # Each of them waits for its whole limit in every run, so that few are taken.
    if hangs:
        narrow = replace(check, tests=failing[:_MOST_HANGING], timeout_s=min(check.timeout_s, _HANGING_S))
    first = checker.run(narrow)
    if first.passed or not _alike(first, before):  # they need what the tests before them leave behind
        narrow = replace(narrow, tests=tuple(files_of(narrow.tests)))
        first = checker.run(narrow)
    elif first.failing and set(first.failing) < set(narrow.tests):
        narrow = replace(narrow, tests=first.failing)
        first = checker.run(narrow)
    return narrow, first


def _alike(one: Verdict, other: Verdict) -> bool:
    """Whether what the tests say of their failures has something in common."""
    first, second = ({normalised(line) for line in _SAID.findall(each.error)} for each in (one, other))
    return not first or not second or bool(first & second)


class _Scene(Struct):
    """What is known before the first candidate is judged."""

    root: Path
    before: Verdict
    texts: dict[str, str]  # the files in question
    coverage: Coverage | None  # of the program as it was found; None if that is not known
    likelier: Mapping[Line, float]  # lines that are suspected more than their part in the run tells, and by how much
    hints: Hints
    history: History

    def changes(self, program: Program, verdict: Verdict, which: Which) -> Iterator[Candidate | Prospect]:
        """The changes of a program with this verdict."""
        here = moved(self.coverage, self.texts, program.texts)
        failure = read_failure(verdict, self.root)
        suspicion = self._suspicion(here, program.texts, failure, verdict)
        if not program.changes and which == "executed":
            for number, candidate in enumerate(undone(program, self.history, suspicion)):
                # Ahead of operators of equal weight: what worked before is the better explanation.
                yield replace(candidate, order=(-1, number))
        sight = Sight(
            program=program,
            failure=failure,
            suspicion=suspicion,
            which=which,
            observed=partial(Observed.of, here),
            expected=self.before.expected,
            hints=self.hints,
        )
        yield from prospects(sight)

    def _suspicion(
        self, coverage: Coverage | None, texts: Mapping[str, str], failure: Failure, verdict: Verdict
    ) -> Suspicion:
        return localise(coverage, failure, flow_of(coverage, texts, verdict.difference), self.likelier)

    def suspects(self) -> tuple[Suspect, ...]:
        """The most suspicious lines of the program as it was found."""
        failure = read_failure(self.before, self.root)
        scores = self._suspicion(self.coverage, self.texts, failure, self.before).scores
        known = [line for line in scores if line[0] in self.texts and line[1]]
        ranked = sorted(known, key=lambda line: (-scores[line], line))[:_MOST_SUSPECTS]
        return tuple(self._suspect(path, line, scores[path, line]) for path, line in ranked)

    def _suspect(self, path: str, line: int, score: float) -> Suspect:
        text = self.texts[path].splitlines()[line - 1 : line]
        values = self.coverage.values.get((path, line), ()) if self.coverage else ()
        return Suspect(
            path=path,
            line=line,
            score=round(score, 3),
            text="".join(text).strip()[:_SHOWN_CHARS],
            values=tuple(values[:_SHOWN_SAMPLES]),
        )


def _look(fault: Fault, check: Check, before: Verdict, paths: list[str], coverage: Coverage | None) -> _Scene | str:
    """What the check executes and which files are in question; or why a search makes no sense.

    Args:
        check: the narrow one, with its verdict.
        paths: the files that may be changed.
        coverage: what it executes, where that is known.
    """
    checker, workspace = fault.checker, fault.workspace
    if coverage is not None and not coverage.paths & set(paths):
        coverage = None  # a slow machine may have ended the tracer before a test ran: `_is_run` tells
    suspicion = localise(coverage, read_failure(before, workspace.root))
    texts = _texts(workspace, _in_question(paths, fault.files, suspicion, known=coverage is not None))
    reason = why_not(before, texts)
    if not reason and coverage is None and not _is_run(checker, check, before, texts):
        reason = RUNS_NONE
    if reason:
        return reason
    history = fault.past(texts)
    likelier = _likelier(fault, texts, check.tests, history)
    return _Scene(
        root=workspace.root,
        before=before,
        texts=texts,
        coverage=coverage,
        likelier=likelier,
        hints=read_hints(texts, fault.task, fault.hints, shown_kinds(before)),
        history=history,
    )


def _likelier(fault: Fault, texts: Mapping[str, str], tests: Sequence[str], history: History) -> dict[Line, float]:
    """Lines of given files, of functions that the task or a failing test names, and lines that were changed lately."""
    in_tests = names_in_tests(_texts(fault.workspace, files_of(tests)), tests)
    changed = {(path, line) for path, lines in history.changed.items() for line in lines}
    sizes = {path: text.count("\n") + 1 for path, text in texts.items() if path in fault.files}
    given = {(path, line) for path, lines in sizes.items() for line in range(1, lines + 1)}
    found: dict[Line, float] = {}
    for lines, factor in (
        (given, _GIVEN),
        (named_lines(texts, fault.task), _NAMED),
        (named_lines(texts, in_tests), _NAMED_IN_TEST),
        (named_tables(texts, in_tests), _TABLE_IN_TEST),
        (changed, _CHANGED),
    ):
        found.update({line: factor * found.get(line, 1.0) for line in lines})
    return found


def _require_steady(fault: Fault, narrow: Check, first: Verdict, time_left: Callable[[], float]) -> None:
    """Raise Flaky if the unchanged program passes the tests now and then: then a pass tells of no repair."""
    if narrow.kind != "tests" or first.timed_out:
        return
    runs = min(_RED_RUNS, int(_STEADY_S / max(first.duration_s, 1.0)))
    for _ in range(runs):
        if time_left() < first.duration_s:
            return
        again = fault.checker.run(narrow)
        if why := why_flaky(first, again):
            raise Flaky(why)


def _confirmed(fault: Fault, narrow: Check, require_steady: Callable[[], None], changed: Mapping[str, str]) -> Verdict:
    """The verdict on a repair in a clean process, and whether what it prints is computed.

    The tests that failed are run by themselves first: most of what does not hold fails there.
    """
    require_steady()
    checker, workspace, check = fault.checker, fault.workspace, fault.check
    change = Change(before={path: workspace.read_bytes(path) for path in changed}, own=True)
    unchanged = {path: workspace.read_text(path).text for path in changed}
    with workspace.replaced(changed):
        if narrow is check:
            return confirm(checker, check, None, change, runs=0)
        verdict = checker.run(narrow)
        if verdict.passed:
            verdict = _run_all(fault, unchanged)
        return confirm(checker, check, verdict, change, runs=0) if verdict.passed else verdict


def _part_confirmed(fault: Fault, judge: Judge, changed: Mapping[str, str]) -> Verdict | None:
    """The verdict on all tests, if texts mend all failing ones that run what is changed and break none; else None."""
    before, reached = fault.before, judge.reached(changed)
    if not reached:
        return None
    with fault.workspace.replaced(changed):
        verdict = fault.checker.run(fault.check)
    mended = set(before.failing) - set(verdict.failing)
    fewer = set(verdict.failing) < set(before.failing) and (verdict.tests_passed or 0) > (before.tests_passed or 0)
    return verdict if fewer and reached <= mended else None


def _run_all(fault: Fault, unchanged: Mapping[str, str]) -> Verdict:
    """The verdict on all tests, without those that passed in the workspace and fail in this copy of it all the same."""
    checker, check, before = fault.checker, fault.check, fault.before
    if "pytest" not in check.argv:
        return checker.run(check)
    # Each excused test fails here as well, so that it takes one of the failures that end the run.
    apart = len(before.excused)
    while True:
        verdict = checker.run(replace(check, argv=(*check.argv, "--maxfail", str(_MOST_BROKEN + apart))))
        if verdict.passed or not verdict.failing:
            return verdict
        remaining = next((test for test in verdict.failing if test in before.failing), "")
        if remaining:
            return replace(verdict, note=f"{remaining}, which failed before, still fails")
        with fault.workspace.replaced(unchanged):
            here = checker.run(replace(check, tests=verdict.failing))
        # What fails without the change too (a path, a clock, a file that the copy lacks) is no fault of the candidate.
        broken = next((test for test in verdict.failing if test not in here.failing), "")
        if broken or apart > _MOST_APART:
            return replace(verdict, note=f"{broken or verdict.failing[0]}, which passed before, then fails")
        checker.excuse(here.failing)
        apart += len(here.failing)


def _is_run(checker: Checker, check: Check, before: Verdict, paths: Iterable[str]) -> bool:
    """Whether the check runs one of the files: it fails in another way if all of them are broken."""
    with checker.workspace.replaced(dict.fromkeys(paths, _BROKEN)):
        broken = checker.run(check)
    # A text that fails in its own way shows at once whether any of the files takes part, without a tracer that other
    # ways of running programs do not have.
    return (broken.status, broken.signature, broken.progress) != (before.status, before.signature, before.progress)


def _python_files(fault: Fault) -> list[str]:
    """Python files that may be changed, the given ones first; no tests, which a search would turn to what is there."""
    workspace = fault.workspace
    present = [path for path in fault.files if path.endswith(".py") and workspace.is_file(path)]
    found = dict.fromkeys([*present, *workspace.list_files(pattern="*.py")])
    tests = fault.check.kind == "tests" or fault.before.tests_total is not None
    kept = [path for path in found if not (path in fault.check.protected or (tests and is_pytest_file(path)))]
    return [path for path in kept if workspace.may_edit(path)]


def _in_question(paths: list[str], files: Sequence[str], suspicion: Suspicion, *, known: bool) -> list[str]:
    """The given files, then the others that the check executes or fails in, the most suspicious first.

    Args:
        known: what the check executes is known; else a limited number of files follow that no exception names.
    """
    highest: dict[str, float] = {}
    for (path, _), score in suspicion.scores.items():
        highest[path] = max(score, highest.get(path, 0.0))
    others = [path for path in paths if path not in files]
    executed = sorted((path for path in others if path in highest), key=lambda path: -highest[path])
    # Without a trace every file could be at fault; more than a few make a queue that no budget gets through.
    rest = [] if known and highest else [path for path in others if path not in highest][:_MAX_UNKNOWN_FILES]
    return [path for path in paths if path in files] + executed + rest


def _texts(workspace: Workspace, paths: list[str]) -> dict[str, str]:
    """The files that can be read as text; one that cannot is no subject of a search."""
    found: dict[str, str] = {}
    for path in paths:
        with suppress(WorkspaceError):
            found[path] = workspace.read_text(path).text
    return found
