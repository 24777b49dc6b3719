"""Runs checks and says what came of it. The verdict comes from here and from nowhere else."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from codur import checks
from codur.checks import suites
from codur.checks.check_programs import CheckPrograms, Programs, TestFiles
from codur.checks.compare import around, first_difference, progress
from codur.checks.describe import ENDED, FAILED_TEST, TRACEBACK, compiler_error, headline
from codur.checks.entry import is_test_code
from codur.checks.memory import CheckMemory, Told
from codur.checks.pristine import Pristine
from codur.checks.programs import native_build
from codur.checks.programs.native_build import NativeBuild
from codur.checks.signature import signature_of, told_apart
from codur.checks.stated_conditions import Conditions
from codur.checks.suites.junit import TestCounts, counts_of, less, read_report
from codur.checks.suites.left_out import LeftOut, is_green, left_out_note, named_failures
from codur.checks.suites.runner_output import (
    counts_in,
    is_plain_runner,
    told_so_far,
    was_exited,
    without,
)
from codur.checks.syntax import syntax_verdict
from codur.config.settings import VerificationSettings
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.parsing.bounded_text import bounded, plain
from codur.python.test_run import TestEnd, TestRun, read_run
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.copies import link_installed, put_as_found
from codur.workspace.workspace import FileChange, Workspace

SHOWN_CHARS = 2000
PYTEST_WRONG_USAGE = 4
PYTEST_NO_TESTS = 5
_OUTPUT_MARGIN = 65_536
_ALMOST = 1.0 - 1e-6
"""The most progress of a run that failed; one more of many thousand tests that passes is still told apart."""
_ENDED_EARLY = "the test run ended before all of it was reported, so its exit status proves nothing"
ACTED_ON = "which other programs act on"
_NO_TESTS = "no tests were found to run"
_TESTS_SAY_NOTHING = "the tests cannot be run, or failed before, so that they say nothing of the change"
_FINDINGS = regex(r"^(?:Found (\d+) (?:errors?|diagnostics?)\b|\W*(\d+) (?:problems?|errors?)[ ,])", re.MULTILINE)
"""How many mypy, ruff, eslint and pyright found."""
_OFFLINE = regex(
    r"^.*(?:Could not resolve host|failure in name resolution|in offline mode|EAI_AGAIN|dial tcp: lookup).*",
    re.MULTILINE,
)
"""Said by what fetches a dependency: cargo, Maven, npm, go. Programs have no network here."""
_UP_TO_DATE = regex(r"make(?:\[\d+\])?: (?:['`]\S+' is up to date|Nothing to be done for ['`]\S+')\.")
"""All that make says where a file of a target's name keeps it from doing anything."""
_QUIET = 0.4  # of the time of a run: a test that takes the rest of it hangs, as each is stopped far earlier
_NAMED = 3
_LIMITS = {"processes": "sandbox.processes", "memory": "sandbox.memory_mb"}
_NOT_UNDERSTOOD = regex(r"unrecognized arguments|Unknown config option")


class Checker:
    """Runs a workspace's check.

    Args:
        programs: runs its programs.
        allow_run: whether programs may be started; if not, only the syntax is looked at.
        memory: keeps what the last run of all tests told.

    Attributes:
        pristine: the check's files as they were when it was guarded.
        conditions: what decides how its tests run.
        native: the extensions that tests and programs of Python load, built anew where a change touches their sources.
        passed_apart: checks, and contents of copies without the expected output, in which they passed.
        last_tests: how the tests of the last run of pytest ended, by node id; empty if it did not tell.
        long: whether that run was cut off for its many tests, and not for one that hangs, or ended as a sample of them.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: VerificationSettings,
        programs: CheckPrograms,
        *,
        allow_run: bool = True,
        memory: CheckMemory | None = None,
    ) -> None:
        self.workspace = workspace
        self.settings = settings
        self.programs = programs
        self.allow_run = allow_run
        self.pristine = Pristine()
        self.conditions = Conditions()
        self.passed_apart: set[tuple[Check, bytes]] = set()
        self.native = NativeBuild()
        self._failed: dict[tuple[object, ...], frozenset[str]] = {}  # of each run here the tests that failed
        self._compared: set[tuple[object, ...]] = set()  # runs of which it is known what fails in a copy alone
        self._memory = memory
        self._told: Told | None = None  # of a run that need not be made again
        self._tripped: list[str] = []
        self._guarded: Check | None = None
        self._given: dict[str, str] = {}  # words of commands that stand for files, with these
        self._left_out = LeftOut(workspace, programs.python)
        self._most_output = settings.max_output_kb * 1024
        self.last_tests: Mapping[str, TestEnd] = {}
        self.long: Literal["", "whole", "sample"] = ""
        # of the first run: plugins that patch the framework are the project's own
        self._patched: frozenset[str] | None = None

    def stdin_of(self, check: Check) -> bytes:
        """What the check gives on standard input. Raises WorkspaceError: its file cannot be read."""
        return self.pristine.data(check.stdin_file, self.workspace) if check.stdin_file else b""

    def guard(self, check: Check) -> None:
        """Keep the check's files as they are, and refuse edits to them. Raises WorkspaceError: one cannot be read."""
        self._guarded = check
        for each in filter(None, (check, check.beside)):
            self.pristine.keep(each, self.workspace)
            self.conditions.keep(each, self.workspace)
            self.native.keep(self.workspace)
            self.workspace.protect(each.protected, filter(is_test_code, each.protected))
            files = {word: word if word.endswith(".py") else f"{word.replace('.', '/')}.py" for word in each.argv[1:]}
            self._given |= {word: path for word, path in files.items() if self.workspace.is_file(path)}

    def free(self, paths: Collection[str]) -> None:
        """Let files of the check be changed from now on."""
        self.admit(paths)
        self.workspace.unprotect(paths)

    def admit(self, paths: Collection[str]) -> None:
        """Let files of the check stand as they are now and later; who may change them is not said by that."""
        self.pristine = self.pristine.without(paths)

    def retake(self) -> tuple[str, ...]:
        """Take the files as the user left them; gives those he changed. Raises WorkspaceError: one cannot be read."""
        changed = self.pristine.retake(self.workspace)
        for check in filter(None, (self._guarded, self._guarded.beside if self._guarded else None)) if changed else ():
            self.conditions.forget(check)
        return changed

    def on(self, workspace: Workspace, launcher: Launcher | None = None, *, without: Iterable[str] = ()) -> Checker:
        """The same checker for a copy of the workspace; files of the check that are to be left out there stay known."""
        programs = self.programs.on(workspace, launcher)
        link_installed(self.workspace.root, workspace.root)
        other = Checker(workspace, self.settings, programs, allow_run=self.allow_run)
        other.native = self.native
        other.pristine, other.passed_apart = self.pristine.without(without), self.passed_apart
        # Before the conditions are copied: they are read from the files.
        other.pristine.restore(workspace)  # a copy has no ignored files, and the check may need one
        other.conditions = self.conditions.copy(workspace)
        other._patched, other._given = self._patched, self._given
        # After a run nothing more is excused: a copy may hold changes, and knows nothing of them.
        other._left_out = self._left_out.copy(workspace, settled=bool(self._failed))
        return other

    def within(self, cancel: CancelToken, time_left: Callable[[], float]) -> Checker:
        """The same checker with less time: its programs end with this token, and none starts when no time is left."""
        other = copy.copy(self)
        other._left_out = self._left_out.copy()
        other.programs = self.programs.within(cancel, time_left)
        return other

    def excuse(self, tests: Iterable[str]) -> None:
        """Leave these tests out of verdicts from now on: they fail here whatever the program does."""
        self._left_out.add(tests)

    def run_guarded(self) -> Verdict | None:
        """Run the check that was guarded last; None if there is none. Raises as `run`."""
        return self.run(self._guarded) if self._guarded is not None else None

    def recalls(self, check: Check | None) -> bool:
        """Whether the next run of a check would be of the very files of the last one, so that it need not be made."""
        if self._memory is not None and check is not None and self.allow_run and _is_whole(check):
            self._told = self._memory.recall(check, self.workspace, self.programs.python)
        return self._told is not None

    def run(self, check: Check | None) -> Verdict:
        """Run a check once; without one (or with one of syntax alone) nothing runs, and a syntax error is a failure.

        Of data it is that whatever else is checked, where it is the change's.

        Raises Interrupted: the run was cancelled; LimitReached: its time was used up; WorkspaceError: a file cannot be
        read.
        """
        alone = check is None or check.kind == "syntax" or not self.allow_run
        parsed = syntax_verdict(self.workspace, check, alone=alone, sandbox=self.programs.launcher.name)
        if check is None or alone or parsed.status == "failed":
            self._told = None
            return parsed
        if check.text:  # a made test, which lies in the workspace only as long as it runs
            return self._made(check, check.text.encode())
        if check.beside is not None:
            return self._then_beside(check, check.beside, self.run(replace(check, beside=None)))
        if check.kind == "kept_output":
            return checks.programs.kept_output.verdict_on(check, self)
        if self.native.is_stale(check, self.workspace) and (built := self._of_what_is_built(check)):
            return built
        # Before and after: a file that was changed in between runs makes the verdict as doubtful as one changed by the
        # program.
        found = self.pristine.restore(self.workspace)
        # A file of tests that the task let go is gone for the runner as well, which would fail for want of it.
        gone = {word for word, path in self._given.items() if word in check.argv and not self.workspace.is_file(path)}
        if gone and check.kind == "tests":
            check = replace(check, argv=tuple(word for word in check.argv if word not in gone))
        touched: tuple[str, ...] = ()
        self._tripped.clear()
        try:
            verdict = self.judge(check, self.programs)
            self._failed[_run_of(check)] = frozenset(verdict.failing)
        finally:
            touched = self.pristine.restore(self.workspace)
            self._told = None
        if self._memory is not None and (self._tripped or touched or found):
            self._memory.forget()
        # Told before the check's own files: it is the graver of the two.
        if self._tripped:
            paths = ", ".join(dict.fromkeys(self._tripped))
            return tampered(verdict, f"the program wrote to {paths}, {ACTED_ON}; that was undone")
        if touched or found:
            who = "the program" if touched else "something"
            note = f"{who} changed {', '.join(touched or found)}, which belongs to the check; put back"
            return replace(verdict, status="tampered", note=note, signature=f"tampered: {touched or found}")
        return verdict

    def _of_what_is_built(self, check: Check) -> Verdict | None:
        try:
            return self._built_anew(check)
        except WorkspaceError as error:  # too large to copy
            note = f"its extension cannot be built in a copy: {error.message}"
            changed = self.native.is_changed(self.workspace)
            return Verdict(status="no_check", check=check.label, note=note) if changed else None

    def _built_anew(self, check: Check) -> Verdict | None:
        """The verdict in a copy for which the extensions that the tests load were built of the sources as they are.

        None if these were found so and cannot be built here: then what is there is all that can be tested.
        """
        changes = self.workspace.changes() if self.native.is_changed(self.workspace) else ()
        run, error, sandbox = _run_of(check), "", self.programs.launcher.name
        with self.programs.launcher.temporary_directory() as temporary:
            there, built = self._in_copy(temporary / "now", ())
            if changes and (built.error or run not in self._compared):
                self._compared.add(run)
                error = self._without(changes, check, temporary / "before")
                there._left_out = self._left_out.copy(there.workspace)
            if built.error and (not changes or error):
                note = f"its extension cannot be built here: {headline(built.error)}"
                return Verdict(status="no_check", check=check.label, note=note, sandbox=sandbox) if changes else None
            if built.error:
                said = self._error_text(built.error)
                signature = signature_of(kind="command", exit_status=1, error=headline(said))
                return Verdict(
                    status="failed", check=native_build.COMMAND, error=said, signature=signature, sandbox=sandbox
                )
            verdict = there.run(check)
            self.last_tests, self.long = there.last_tests, there.long
            return verdict

    def _without(self, changes: Iterable[FileChange], check: Check, place: Path) -> str:
        """Why the sources as they were cannot be built in a copy; what fails there and did not here is left out."""
        there, built = self._in_copy(place, changes)
        if not built.error:
            # For want of a version, of what lies elsewhere: it says nothing of the change.
            failing = frozenset(there.run(check).failing)
            self.excuse(failing - self._failed.get(_run_of(check), failing))
        return built.error

    def _in_copy(self, place: Path, changes: Iterable[FileChange]) -> tuple[Checker, native_build.Built]:
        """The same checker on a copy without these changes, in which the extensions are built."""
        copy = self.workspace.scratch_copy(place / self.workspace.root.name)
        put_as_found(copy.root, {change.path: change.before for change in changes})
        there = self.on(copy)
        built = self.native.built(copy, there.programs)
        there.native = NativeBuild()
        return there, built

    def _made(self, check: Check, text: bytes) -> Verdict:
        """A test that was made for the task and, if it passes, the project's own check."""
        path, beside = check.entry or "", check.beside
        with self.workspace.placed(path, text):
            verdict = self.run(replace(check, text="", beside=None))
            # Looked at while it is still in place: afterwards it is taken away, whatever it says.
            if not self.workspace.is_file(path) or self.workspace.read_bytes(path) != text:
                return tampered(verdict, f"the program changed {path}, which is the check")
        if check.ran_without:
            return self._made_for_runner(check, verdict)
        return verdict if beside is None else self._then_beside(check, beside, verdict)

    def _then_beside(self, check: Check, beside: Check, verdict: Verdict) -> Verdict:
        """The verdict on a check and, if that passed, on the project's own beside it."""
        differs = check.runs and verdict.status == "no_check"  # the tests tell more of it
        if not (verdict.passed or differs):
            return replace(verdict, progress=verdict.progress / 2) if verdict.status == "failed" else verdict
        other = self.run(beside)
        if differs and other.passed:
            return verdict
        if check.kind == "command" and not other.passed:
            new = self._not_before(beside, other)
            if new is None:
                return replace(verdict, note=_TESTS_SAY_NOTHING)
            other = new
        if not other.passed:
            return replace(other, progress=(1 + other.progress) / 2) if other.status == "failed" else other
        if check.of_linter or check.runs:
            return replace(other, check=check.label, note="; ".join(filter(None, (verdict.note, other.note))))
        ran, total = ((verdict.tests_passed, other.tests_passed), (verdict.tests_total, other.tests_total))
        return replace(other, check=check.label, tests_passed=_sum(ran), tests_total=_sum(total))

    def _not_before(self, check: Check, verdict: Verdict) -> Verdict | None:
        """The verdict without what fails in a copy without the changes; None if that says nothing of them.

        Until the change is there nobody needs to know, so that it was not run before.
        """
        changes = self.workspace.changes()
        if not changes or verdict.status not in {"failed", "no_check"}:
            return verdict if changes and verdict.status == "tampered" else None
        with self.programs.launcher.temporary_directory() as temporary:
            before = self._in_copy(temporary / "before", changes)[0].run(check)
        if before.passed or not before.failing or verdict.status == "no_check":
            return verdict if before.passed or before.status != verdict.status else None
        self.excuse(before.failing)
        return self.run(check)

    def _made_for_runner(self, check: Check, verdict: Verdict) -> Verdict:
        """The verdict on a made test that another runner ran, alone or with the project's own.

        These run once more without it, as it may have shut them out or written over some: all that passed before must.
        """
        if verdict.passed and (verdict.tests_total or 0) <= (check.ran_without if check.is_among else 0):
            return tampered(verdict, f"{check.entry} was not among the tests that ran")
        # Where fewer run than without it, something did not compile, or the run ended: what is told of the rest is
        # no pass.
        whole = verdict.passed or (verdict.tests_passed or 0) >= (check.ran_without if check.is_among else 1)
        all_pass = whole and verdict.tests_passed == verdict.tests_total and not verdict.timed_out
        if check.beside is None or verdict.status not in {"passed", "failed"} or not all_pass:
            return verdict
        other = self.run(check.beside)
        if not other.passed:
            return replace(other, progress=(1 + other.progress) / 2) if verdict.passed else verdict
        if check.is_among and (verdict.tests_total or 0) <= (other.tests_total or 0):
            return tampered(verdict, f"{check.entry} was not among the tests that ran")
        ran, edited = other.tests_passed or 0, (each for each in self.workspace.changes() if each.before is not None)
        if ran < check.ran_without and not any(is_test_code(each.path) for each in edited):
            return tampered(other, f"{check.ran_without} tests passed before, {ran} do now")
        # What is wrong beside that is the test's form, as a linter of all files finds it, or that it covers a part.
        made = 0 if check.is_among else verdict.tests_total or 0
        passed = verdict.tests_passed if check.is_among else ran + made
        return replace(other, check=check.label, tests_passed=passed, tests_total=passed)

    # --- one run ------------------------------------------------------------------------------------------------------

    def judge(self, check: Check, programs: Programs) -> Verdict:
        """The verdict on what these programs do; the check's files are not looked at. Raises as `run`."""
        if check.kind == "output":
            return self._output(check, programs)
        if check.kind == "tests" and "pytest" in check.argv:
            return self._pytest(check, programs)
        return self._command(check, programs)

    def _start(self, check: Check, programs: Programs, *, output_bytes: int = 0) -> ProcessResult:
        if self._told is not None:
            return self._told.result
        keep = self._remembering(check) if check.kind == "tests" else None
        result = programs.run(
            check, check.argv, stdin=self.stdin_of(check), output_bytes=max(self._most_output, output_bytes)
        )
        self._tripped += result.tripped
        if keep is not None:
            keep(Told(result=result))
        return result

    def _start_tests(
        self, check: Check, programs: Programs, files: TestFiles, error: str = ""
    ) -> tuple[ProcessResult, bool]:
        if (told := self._told) is not None:
            files.report.write_bytes(told.report)
            files.events.write_bytes(told.events)
            return told.result, told.reports
        keep = self._remembering(check)
        result, reports = programs.run_tests(check, files, output_bytes=self._most_output, error=error)
        self._tripped += result.tripped
        if keep is not None:
            report, events = (path.read_bytes() if path.is_file() else b"" for path in (files.report, files.events))
            keep(Told(result=result, reports=reports, report=report, events=events, word=files.word))
        return result, reports

    def _remembering(self, check: Check) -> Callable[[Told], None] | None:
        """What keeps what a run of all tests tells; None for another run."""
        if self._memory is None or not _is_whole(check):
            return None
        return self._memory.begin(check, self.workspace, self.programs.python)

    def _output(self, check: Check, programs: Programs) -> Verdict:
        expected = self.pristine.expected(check, self.workspace)
        size = len(expected.encode("utf-8", "surrogatepass"))
        # More than expected is kept, so that an output which is too long is seen to be, and where.
        result = self._start(check, programs, output_bytes=2 * size + _OUTPUT_MARGIN)
        difference = first_difference(expected, result.stdout)
        same = difference is None
        passed = same and result.exit_status == 0
        line = difference.line if difference else 1
        note = f"the output is right, but the program ended with status {result.exit_status}" if same else ""
        return self._verdict(
            check,
            result,
            status="passed" if passed else "failed",
            difference=difference,
            expected=around(expected, line, limit=SHOWN_CHARS),
            actual=around(result.stdout, line, limit=SHOWN_CHARS),
            error="" if passed else self._error_text(result.stderr),
            # A right output with a wrong status is nearly done, and must not count as done.
            progress=progress(expected, result.stdout) if passed or not same else 0.99,
            note="" if passed else note,
        )

    def _pytest(self, check: Check, programs: Programs) -> Verdict:
        word = self._told.word if self._told is not None else token_hex()
        with self.programs.launcher.temporary_directory() as temporary:
            files = TestFiles(report=temporary / "report.xml", events=temporary / "events.jsonl", word=word)
            result, reports = self._start_tests(check, programs, files)
            said = f"{result.stdout}\n{result.stderr}"
            # Options of a plugin that is not there, or of a newer pytest: once more without what it names.
            if result.exit_status and _NOT_UNDERSTOOD.search(said):
                result, reports = self._start_tests(check, programs, files, error=said)
            run = read_run(files.events, files.word)
            self.last_tests = run.ends if run else {}
            many = run is not None and result.timed_out and run.quiet_s < _QUIET * result.duration_s
            self.long = "whole" if many else "sample" if run is not None and run.is_sample else ""
            result = replace(result, timed_out=result.timed_out or bool(self.long))
            counts = read_report(files.report) or (counts_of(run) if run and result.exit_status != 0 else None)
        if result.exit_status == PYTEST_NO_TESTS or (result.exit_status == 0 and counts and not counts.total):
            return self._no_tests(check, result)
        untold = reports and (run is None or not run.is_whole)
        # Status 0 alone proves nothing: `os._exit(0)` in a test gives it, too.
        if result.exit_status == 0 and (counts is None or counts.failing or was_exited(result.stdout) or untold):
            return self._ended_early(check, result, counts)
        if run is None:
            return self._tests_verdict(check, result, counts)
        patched = self._newly_patched(run)
        told = result.exit_status != 0
        verdict = self._each_told(check, result, counts, run) if told else self._tests_verdict(check, result, counts)
        changed = verdict.passed and patched
        return tampered(verdict, f"the program changed the test framework: {patched}") if changed else verdict

    def _newly_patched(self, run: TestRun) -> str:
        """What of the test framework was changed while the program ran, and was not in the first run."""
        if run.end is None:
            return ""
        self._patched = run.patched if self._patched is None else self._patched
        return ", ".join(sorted(run.patched - self._patched)[:_NAMED])

    def _each_told(self, check: Check, result: ProcessResult, counts: TestCounts | None, run: TestRun) -> Verdict:
        """The verdict on tests of which some failed; those are left out that could not pass here from the beginning."""
        failing = run.ids("failed")
        excused = self._left_out.of_pytest(check, run)
        # Of a run that ended early, what did not run is not known.
        if failing and len(excused) == len(failing) and result.exit_status == 1 and run.is_complete:
            verdict = self._tests_verdict(check, replace(result, exit_status=0), less(counts, run, excused))
            note, unfit = verdict.note or left_out_note(excused, check, run), run.blocked_by(excused)
            return replace(verdict, exit_status=1, excused=excused, unfit=unfit, note=note)
        verdict = self._tests_verdict(check, result, less(counts, run, excused))
        if run.end is None and (run.collected or 0) > len(run.ends):  # what was not reached is no pass
            verdict = replace(verdict, progress=len(run.ids("passed")) / (run.collected or 1))
        culprits = tuple(name for name in failing if name not in excused)
        if run.running and result.timed_out and not self.long:
            culprits = (*culprits, run.running)
        note = verdict.note or _over(result) or left_out_note(excused, check, run)
        return replace(verdict, failing=culprits, excused=excused, unfit=run.unfit, note=note)

    def _command(self, check: Check, programs: Programs) -> Verdict:
        result = self._start(check, programs)
        if check.whole:
            self.long = "whole" if result.timed_out else ""
        # No runner, no tests: that is not a failure of the program.
        if not result.started and check.kind == "tests":
            return self._verdict(check, result, status="no_check", note=result.stderr)
        if check.of_linter:  # what it counts are no tests, and beside its findings it warns of much
            found = replace(result, stderr="") if result.stdout.strip() else result
            return self._tests_verdict(check, found, None)
        output = f"{result.stdout}\n{result.stderr}"
        counts = counts_in(output) or (told_so_far(output) if result.timed_out else None)
        result, counts, excused = self._without_left_out(check, result, counts)
        # Right after a failure it is a file that has the target's name; after a pass all is built already.
        if result.exit_status == 0 and self.conditions.is_red(check) and _UP_TO_DATE.fullmatch(result.stdout.strip()):
            return self._no_tests(check, result)
        if result.exit_status == 0 and is_plain_runner(check.label):
            # It told numbers before and tells none now: something kept it from its end. Or it told of failures, and
            # something that runs at its end set the status.
            if self.conditions.known(check) if counts is None else counts.passed < counts.total:
                return self._ended_early(check, result, counts)
            if counts is not None and counts.ran == counts.total == 0:
                return self._no_tests(check, result)
        verdict = self._tests_verdict(check, result, counts)
        if counts is not None and check.entry and any(name.endswith(check.entry) for name in counts.passing):
            return tampered(verdict, f"{check.entry} told of no test")  # a runner counts the file itself
        failing = counts.failing if counts is not None and self.last_tests else ()
        verdict = replace(verdict, failing=failing, excused=excused, note=verdict.note or left_out_note(excused, check))
        if counts is not None or verdict.passed:
            return verdict
        # Where tests ran, what they needed was there: that one of them asks for a host is its own failure.
        unfit = _OFFLINE.search(verdict.error)
        absent = suites.run_problem.no_program(output, result.exit_status) if check.kind == "tests" else ""
        return replace(verdict, unfit=unfit[0].strip() if unfit else absent) if unfit or absent else verdict

    def _without_left_out(
        self, check: Check, result: ProcessResult, counts: TestCounts | None
    ) -> tuple[ProcessResult, TestCounts | None, tuple[str, ...]]:
        """The end and the counts of a run of tests that are told in words without those that are left out, and these.

        Nothing is, unless each test that failed is named and nothing else is wrong.
        """
        named = None if result.timed_out else named_failures(counts, f"{result.stdout}\n{result.stderr}")
        told = zip(named.failing, named.words, strict=True) if named else ()
        self.last_tests = {name: TestEnd(outcome="failed", text=words) for name, words in told}
        if named is None:
            return result, counts, ()
        excused = self._left_out.of_words(check, named, self.last_tests)
        rest = without(named, excused)
        green = is_green(check, result.exit_status, excused, rest)
        return replace(result, exit_status=0) if green else result, rest, excused

    def _no_tests(self, check: Check, result: ProcessResult) -> Verdict:
        verdict = self._verdict(check, result, status="no_check", note=_NO_TESTS)
        reason = self.conditions.why_none(check, self.workspace)
        return tampered(verdict, f"{_NO_TESTS}: {reason}") if reason else verdict

    def _ended_early(self, check: Check, result: ProcessResult, counts: TestCounts | None) -> Verdict:
        broken = self._tests_verdict(check, replace(result, exit_status=1), counts)
        return replace(broken, exit_status=result.exit_status, note=_ENDED_EARLY)

    def _tests_verdict(self, check: Check, result: ProcessResult, counts: TestCounts | None) -> Verdict:
        passed = result.exit_status == 0
        if not check.tests:
            self.conditions.remember(check, counts, passed=passed)
        share = counts.passed / counts.total if counts and counts.total else 0.0
        if not counts and (found := _FINDINGS.search(result.stdout)):
            share = 1 / (2 + int(found[1] or found[2]))  # a linter that finds less came further
        output = self._error_text(f"{result.stdout}\n{result.stderr}")
        error = "" if passed else self._inside_paths(counts.error) if counts and counts.error else output
        failing = counts.failing if counts else ()
        # The last line of most runners says no more than that something failed; that of a traceback says what.
        if not (passed or result.timed_out or TRACEBACK in error) and (not failing or error.startswith(FAILED_TEST)):
            failing = (*failing, told_apart(error))
        verdict = self._verdict(
            check,
            result,
            told=failing,
            status="passed" if passed else "failed",
            error=error,
            progress=1.0 if passed else min(share, _ALMOST),
            tests_passed=counts.passed if counts and counts.total else None,
            tests_total=counts.total or None if counts else None,
        )
        fewer = passed and not check.tests
        reason = self.conditions.fewer(check, counts, self.workspace) if fewer else ""
        return tampered(verdict, reason) if reason else verdict

    def _verdict(self, check: Check, result: ProcessResult, *, told: tuple[str, ...] = (), **fields: Any) -> Verdict:
        """A verdict with these fields; `told` is what tells its failure from others beside its error."""
        verdict = Verdict(
            check=check.label,
            exit_status=result.exit_status,
            timed_out=result.timed_out,
            sandbox=self.programs.launcher.name,
            duration_s=result.duration_s,
            **fields,
        )
        if verdict.status != "failed":
            return verdict
        ended: int | Literal["timeout"] | None = "timeout" if result.timed_out else result.exit_status
        error = headline(verdict.error) if TRACEBACK in verdict.error else verdict.error
        difference = verdict.difference
        signature = signature_of(kind=check.kind, exit_status=ended, error=error, difference=difference, failing=told)
        return replace(verdict, signature=signature)

    def _error_text(self, text: str) -> str:
        """The tail of an error text, of a compiler's its beginning, with paths relative to the workspace."""
        text = self._inside_paths(plain(text))
        if len(text) <= SHOWN_CHARS:
            return text
        begin = compiler_error(text)
        return bounded(text[begin:], SHOWN_CHARS) if begin >= 0 else f"…{text[-SHOWN_CHARS:]}"

    def _inside_paths(self, text: str) -> str:
        return text.replace(f"{self.workspace.root}/", "").strip()


def tampered(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that does not count, and why."""
    return replace(verdict, status="tampered", note=reason, signature=f"tampered: {reason}")


def _sum(counts: tuple[int | None, int | None]) -> int | None:
    first, second = counts
    return None if first is None or second is None else first + second


def _over(result: ProcessResult) -> str:
    """That a run was ended for what it used, and the setting of that."""
    setting = _LIMITS.get(result.limit, "")
    return f"it was {ENDED} {result.limit} than a program may use ({setting})" if setting else ""


def _run_of(check: Check) -> tuple[object, ...]:
    return check.argv, check.tests, check.entry


def _is_whole(check: Check) -> bool:
    """Whether a check runs all tests, and none that was made for a task."""
    return check.kind == "tests" and not (check.tests or check.text or check.beside or check.sample_s)
