"""Runs checks and says what came of it. The verdict comes from here and from nowhere else."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from secrets import token_hex

from codur.checks.compare import around, equal, first_difference, progress
from codur.checks.describe import plain
from codur.checks.pristine import Pristine
from codur.checks.python_syntax import syntax_verdict
from codur.checks.signature import signature_of
from codur.checks.stated_conditions import Conditions
from codur.checks.suites.junit import TestCounts, counts_of, less, read_report
from codur.checks.suites.pytest_command import pytest_argv
from codur.checks.suites.summary import counts_in, is_plain_runner, was_exited
from codur.config.settings import VerificationSettings
from codur.errors import Interrupted, out_of_time
from codur.python.layout import import_roots
from codur.python.pytest_options import SEARCH_VARIABLES
from codur.python.test_run import TestEnd, TestRun, read_run, reported_argv
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher, ProcessResult
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace

SHOWN_CHARS = 2000
PYTEST_WRONG_USAGE = 4
PYTEST_NO_TESTS = 5
_OUTPUT_MARGIN = 65_536
_ALMOST = 1.0 - 1e-6
"""The most progress of a run that failed; one more of many thousand tests that passes is still told apart."""
_ENDED_EARLY = "the test run ended before all of it was reported, so its exit status proves nothing"
_NO_TESTS = "no tests were found to run"
_NAMED = 3
_NOT_UNDERSTOOD = re.compile(r"unrecognized arguments|Unknown config option")


class Checker:
    """Runs a workspace's check.

    Args:
        python: the interpreter for the workspace's programs.
        deadline: seconds left of the run; no program gets more.
        allow_run: whether programs may be started; if not, only the syntax is looked at.
    """

    def __init__(
        self,
        workspace: Workspace,
        launcher: Launcher,
        settings: VerificationSettings,
        *,
        python: str,
        deadline: Callable[[], float] | None = None,
        allow_run: bool = True,
    ) -> None:
        self._workspace = workspace
        self._launcher = launcher
        self._settings = settings
        self._python = python
        self._deadline = deadline or (lambda: float("inf"))
        self._allow_run = allow_run
        self._pristine = Pristine()
        self._conditions = Conditions()
        self._tripped: list[str] = []
        self._guarded: Check | None = None
        self._excused: frozenset[str] | None = None
        self._roots: tuple[str, ...] | None = None
        self._last_tests: Mapping[str, TestEnd] = {}
        self._patched: frozenset[str] | None = None

    @property
    def last_tests(self) -> Mapping[str, TestEnd]:
        """How the tests of the last run of pytest ended, by node id; empty if it did not tell."""
        return self._last_tests

    @property
    def workspace(self) -> Workspace:
        """What is checked."""
        return self._workspace

    @property
    def settings(self) -> VerificationSettings:
        """How it is checked."""
        return self._settings

    @property
    def pristine(self) -> Pristine:
        """The check's files as they were when it was guarded."""
        return self._pristine

    @property
    def conditions(self) -> Conditions:
        """What decides how its tests run."""
        return self._conditions

    @property
    def python(self) -> str:
        """The interpreter for the workspace's programs."""
        return self._python

    def environment(self, check: Check) -> dict[str, str]:
        """The check's variables, and one by which programs import the workspace's own packages, whatever is installed.

        A narrow check (`Check.tests`) is part of a search and runs the same each time.
        """
        if self._roots is None:
            self._roots = import_roots(self._workspace.root, self._python)
        stated = dict(check.env)
        paths = [stated.get("PYTHONPATH", ""), *(str(self._workspace.root / root) for root in self._roots)]
        found = {"PYTHONPATH": os.pathsep.join(filter(None, paths))} if any(paths) else {}
        return {**(SEARCH_VARIABLES if check.tests else {}), **stated, **found}

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """An empty directory outside the workspace; whatever programs leave in it, its removal follows no link."""
        return self._launcher.temporary_directory()

    def guard(self, check: Check) -> None:
        """Keep the check's files as they are now, and refuse edits to them from now on.

        Raises:
            WorkspaceError: one of them cannot be read.
        """
        self._guarded = check
        for each in filter(None, (check, check.beside)):
            self._pristine.keep(each, self._workspace)
            self._conditions.keep(each, self._workspace)
            self._workspace.protect(each.protected)

    def on(self, workspace: Workspace, launcher: Launcher | None = None, *, without: Iterable[str] = ()) -> Checker:
        """The same checker for a copy of the workspace; files of the check that are to be left out there stay known.

        Args:
            launcher: starts its programs; the same one if None.
        """
        other = Checker(
            workspace,
            launcher or self._launcher,
            self._settings,
            python=self._python,
            deadline=self._deadline,
            allow_run=self._allow_run,
        )
        other._pristine = self._pristine.without(without)
        other._pristine.restore(workspace)  # a copy has no ignored files, and the check may need one
        other._conditions = self._conditions.copy(workspace)
        other._excused, other._patched = self._excused, self._patched
        other._roots = import_roots(self._workspace.root, self._python) if self._roots is None else self._roots
        return other

    def within(self, cancel: CancelToken, time_left: Callable[[], float]) -> Checker:
        """The same checker with less time: its programs end with this token, and none starts when no time is left."""
        run_left, other = self._deadline, copy.copy(self)
        other._launcher = self._launcher.ended_by(Until(cancel, time_left))
        other._deadline = lambda: min(run_left(), time_left())
        return other

    def excuse(self, tests: Iterable[str]) -> None:
        """Leave these tests out of verdicts from now on: they fail here whatever the program does."""
        self._excused = (self._excused or frozenset()) | frozenset(tests)

    def run_guarded(self) -> Verdict | None:
        """Run the check that was guarded last; None if there is none.

        Raises:
            Interrupted, LimitReached, WorkspaceError: as `run`.
        """
        return self.run(self._guarded) if self._guarded is not None else None

    def run(self, check: Check | None) -> Verdict:
        """Run a check once.

        Returns:
            Its verdict; without a check (or with one of syntax alone), `no_check`, or `failed` for a syntax error.

        Raises:
            Interrupted: the run was cancelled.
            LimitReached: the run's time was used up.
            WorkspaceError: a file of the check cannot be read.
        """
        if check is None or check.kind == "syntax" or not self._allow_run:
            return syntax_verdict(self._workspace, check, sandbox=self._launcher.name)
        if check.text:
            return self._made(check, check.text.encode())
        found = self._pristine.restore(self._workspace)
        touched: tuple[str, ...] = ()
        self._tripped.clear()
        try:
            verdict = self._run(check)
        finally:
            touched = self._pristine.restore(self._workspace)
        if self._tripped:
            paths = ", ".join(dict.fromkeys(self._tripped))
            return tampered(verdict, f"the program wrote to {paths}, which other programs act on; that was undone")
        if touched or found:
            who = "the program" if touched else "something"
            note = f"{who} changed {', '.join(touched or found)}, which belongs to the check; put back"
            return replace(verdict, status="tampered", note=note, signature=f"tampered: {touched or found}")
        return verdict

    def _made(self, check: Check, text: bytes) -> Verdict:
        """A test that was made for the task and, if it passes, the project's own check."""
        path, beside = check.entry or "", check.beside
        with self._workspace.placed(path, text):
            verdict = self.run(replace(check, text="", beside=None))
            if not self._workspace.is_file(path) or self._workspace.read_bytes(path) != text:
                return tampered(verdict, f"the program changed {path}, which is the check")
        if beside is None or verdict.status not in {"passed", "failed"}:
            return verdict
        if not verdict.passed:
            return replace(verdict, progress=verdict.progress / 2)
        other = self.run(beside)
        if not other.passed:
            return replace(other, progress=(1 + other.progress) / 2) if other.status == "failed" else other
        ran, total = ((verdict.tests_passed, other.tests_passed), (verdict.tests_total, other.tests_total))
        return replace(other, check=check.label, tests_passed=_sum(ran), tests_total=_sum(total))

    # --- one run ------------------------------------------------------------------------------------------------------

    def _run(self, check: Check) -> Verdict:
        if check.kind == "output":
            return self._output(check)
        if check.kind == "tests" and "pytest" in check.argv:
            return self._pytest(check)
        return self._command(check)

    def _start(
        self, check: Check, argv: list[str], *, output_bytes: int = 0, writable: Sequence[Path] = (), stdin: bytes = b""
    ) -> ProcessResult:
        """Run a program; at least `output_bytes` of its output are kept.

        The check's files are read-only for it, and the expected output is hidden from it, as far as the sandbox can.
        """
        left = self._deadline()
        if left <= 0:
            raise out_of_time()
        stdin = self._pristine.data(check.stdin_file, self._workspace) if check.stdin_file else stdin
        result = self._launcher.run(
            argv,
            cwd=self._workspace.root,
            stdin=stdin,
            timeout_s=min(check.timeout_s, left),
            env=self.environment(check),
            max_output_bytes=max(self._settings.max_output_kb * 1024, output_bytes),
            read_only=self._inside(check.protected),
            hidden=self._hidden(check),
            writable=writable,
        )
        self._tripped += result.tripped
        if (result.timed_out or result.cancelled) and self._deadline() <= 0:
            raise out_of_time()
        if result.cancelled:
            raise Interrupted("interrupted")
        if result.limit:
            return replace(result, stderr=f"{result.stderr}\nended: more {result.limit} than a program may use".strip())
        return result

    def _hidden(self, check: Check) -> tuple[Path, ...]:
        """What the program under check must not see: the output that is expected of it."""
        return self._inside([check.expected_file] if check.kind == "output" and check.expected_file else [])

    def _inside(self, paths: Iterable[str]) -> tuple[Path, ...]:
        """Absolute paths of those that are relative to the workspace; others cannot be reached by a program anyway."""
        return tuple(self._workspace.root / path for path in paths if not Path(path).is_absolute())

    def _argv(self, check: Check) -> list[str]:
        return [self._python if item == "{python}" else item for item in check.argv]

    def _output(self, check: Check) -> Verdict:
        expected = self._pristine.expected(check, self._workspace)
        size = len(expected.encode("utf-8", "surrogatepass"))
        result = self._start(check, self._argv(check), output_bytes=2 * size + _OUTPUT_MARGIN)
        difference = first_difference(expected, result.stdout)
        same = equal(expected, result.stdout)
        passed = same and result.exit_status == 0
        error = "" if passed else self._error_text(result.stderr)
        line = difference.line if difference else 1
        note = f"the output is right, but the program ended with status {result.exit_status}" if same else ""
        return self._verdict(
            check,
            result,
            status="passed" if passed else "failed",
            difference=difference,
            expected=around(expected, line, limit=SHOWN_CHARS),
            actual=around(result.stdout, line, limit=SHOWN_CHARS),
            error=error if result.exit_status != 0 or not same else "",
            progress=progress(expected, result.stdout) if not (same and not passed) else 0.99,
            note="" if passed else note,
            signature=""
            if passed
            else signature_of(
                kind="output",
                timed_out=result.timed_out,
                exit_status=result.exit_status,
                error=error,
                difference=difference,
            ),
        )

    def _pytest(self, check: Check) -> Verdict:
        with self.temporary_directory() as temporary:
            report = temporary / "report.xml"
            events, word = report.with_name("events.jsonl"), token_hex()
            result, reports = self._start_tests(check, report, events, word)
            said = f"{result.stdout}\n{result.stderr}"
            if result.exit_status and _NOT_UNDERSTOOD.search(said):
                result, reports = self._start_tests(check, report, events, word, error=said)
            run = read_run(events, word)
            self._last_tests = run.ends if run else {}
            counts = read_report(report) or (counts_of(run) if run and result.exit_status != 0 else None)
        if result.exit_status == PYTEST_NO_TESTS or (result.exit_status == 0 and counts and not counts.total):
            return self._no_tests(check, result)
        untold = reports and (run is None or not run.is_whole)
        if result.exit_status == 0 and (counts is None or counts.failing or was_exited(result.stdout) or untold):
            return self._ended_early(check, result, counts)
        if run is None:
            return self._tests_verdict(check, result, counts)
        patched = self._newly_patched(run)
        told = result.exit_status != 0
        verdict = self._each_told(check, result, counts, run) if told else self._tests_verdict(check, result, counts)
        changed = verdict.passed and patched
        return tampered(verdict, f"the program changed the test framework: {patched}") if changed else verdict

    def _start_tests(
        self, check: Check, report: Path, events: Path, word: str, *, error: str = ""
    ) -> tuple[ProcessResult, bool]:
        """Run pytest so that it writes what becomes of each test, and whether it does; `error` as for `pytest_argv`.

        The word is read before anything of the workspace is loaded; by it the events are told from forged ones.
        """
        search = bool(check.tests)
        argv = pytest_argv(
            check.argv, self._python, self._workspace, self._launcher, report, error=error, search=search
        )
        seconds = min(check.timeout_s, self._deadline())
        reported = reported_argv(argv, events, timeout_s=seconds, tests=check.tests)
        stdin = f"{word}\n".encode() if reported else b""
        return self._start(check, reported or argv, writable=[events.parent], stdin=stdin), reported is not None

    def _newly_patched(self, run: TestRun) -> str:
        """What of the test framework was changed while the program ran, and was not in the first run."""
        if run.end is None:
            return ""
        self._patched = run.patched if self._patched is None else self._patched
        return ", ".join(sorted(run.patched - self._patched)[:_NAMED])

    def _each_told(self, check: Check, result: ProcessResult, counts: TestCounts | None, run: TestRun) -> Verdict:
        """The verdict on tests of which some failed; those are left out that could not pass here from the beginning."""
        failing = run.ids("failed")
        if self._excused is None and not check.tests and run.ids("passed"):
            self._excused = frozenset(name for name in failing if run.ends[name].blocked)
        excused = tuple(name for name in failing if name in (self._excused or ()))
        if failing and len(excused) == len(failing) and result.exit_status == 1:
            verdict = self._tests_verdict(check, replace(result, exit_status=0), less(counts, run, excused))
            return replace(verdict, exit_status=1, excused=excused, note=verdict.note or _left_out(excused, run))
        verdict = self._tests_verdict(check, result, less(counts, run, excused))
        culprits = tuple(name for name in failing if name not in excused)
        if run.running and result.timed_out:
            culprits = (*culprits, run.running)
        note = verdict.note or _left_out(excused, run)
        return replace(verdict, failing=culprits, excused=excused, unfit=run.unfit, note=note)

    def _command(self, check: Check) -> Verdict:
        result = self._start(check, self._argv(check))
        if not result.started and check.kind == "tests":
            return self._verdict(check, result, status="no_check", note=result.stderr)
        counts = counts_in(result.stdout + "\n" + result.stderr)
        if result.exit_status == 0 and is_plain_runner(check.label):
            if counts is None and self._conditions.known(check):
                return self._ended_early(check, result, counts)
            if counts is not None and counts.ran == 0:
                return self._no_tests(check, result)
        return self._tests_verdict(check, result, counts)

    def _no_tests(self, check: Check, result: ProcessResult) -> Verdict:
        verdict = self._verdict(check, result, status="no_check", note=_NO_TESTS)
        reason = self._conditions.why_none(check, self._workspace)
        return tampered(verdict, f"{_NO_TESTS}: {reason}") if reason else verdict

    def _ended_early(self, check: Check, result: ProcessResult, counts: TestCounts | None) -> Verdict:
        broken = self._tests_verdict(check, replace(result, exit_status=1), counts)
        return replace(broken, exit_status=result.exit_status, note=_ENDED_EARLY)

    def _tests_verdict(self, check: Check, result: ProcessResult, counts: TestCounts | None) -> Verdict:
        passed = result.exit_status == 0
        if not check.tests:
            self._conditions.remember(check, counts, passed=passed)
        share = counts.passed / counts.total if counts and counts.total else 0.0
        output = self._error_text(f"{result.stdout}\n{result.stderr}")
        error = "" if passed else self._inside_paths(counts.error) if counts and counts.error else output
        verdict = self._verdict(
            check,
            result,
            status="passed" if passed else "failed",
            error=error,
            progress=1.0 if passed else min(share, _ALMOST),
            tests_passed=counts.passed if counts else None,
            tests_total=counts.total if counts else None,
            signature=""
            if passed
            else signature_of(
                kind=check.kind,
                timed_out=result.timed_out,
                exit_status=result.exit_status,
                error=error,
                failing=counts.failing if counts else (),
            ),
        )
        fewer = passed and not check.tests
        reason = self._conditions.fewer(check, counts, self._workspace) if fewer else ""
        return tampered(verdict, reason) if reason else verdict

    def _verdict(self, check: Check, result: ProcessResult, **fields: object) -> Verdict:
        common = Verdict(
            status="failed",
            check=check.label,
            exit_status=result.exit_status,
            timed_out=result.timed_out,
            sandbox=self._launcher.name,
            duration_s=result.duration_s,
        )
        return replace(common, **fields)  # type: ignore[arg-type]

    def _error_text(self, text: str) -> str:
        """The tail of an error text, with paths relative to the workspace."""
        text = self._inside_paths(plain(text))
        return text if len(text) <= SHOWN_CHARS else f"…{text[-SHOWN_CHARS:]}"

    def _inside_paths(self, text: str) -> str:
        return text.replace(f"{self._workspace.root}/", "").strip()


def tampered(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that does not count, and why."""
    return replace(verdict, status="tampered", note=reason, signature=f"tampered: {reason}")


def _sum(counts: tuple[int | None, int | None]) -> int | None:
    first, second = counts
    return None if first is None or second is None else first + second


def _left_out(excused: Sequence[str], run: TestRun) -> str:
    """What is said of tests that are left out of a verdict; nothing if there are none."""
    if not excused:
        return ""
    names = ", ".join(excused[:_NAMED]) + (", …" if len(excused) > _NAMED else "")
    count = "1 test cannot run" if len(excused) == 1 else f"{len(excused)} tests cannot run"
    left_out = "is" if len(excused) == 1 else "are"
    return f"{count} here and {left_out} left out of the verdict: {names} ({run.ends[excused[0]].blocked})"
