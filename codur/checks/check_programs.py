"""Runs the programs of checks: in the sandbox, with the project's own packages, and within the time of the run."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from codur.checks.describe import ENDED
from codur.errors import Interrupted, out_of_time
from codur.python.layout import import_roots
from codur.python.pytest_options import SEARCH_VARIABLES
from codur.python.pytest_runner import PytestRunner
from codur.python.test_run import reported_argv
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from codur.structs import Struct, replace
from codur.types import Check
from codur.workspace.copies import installed_in
from codur.workspace.workspace import Workspace


class TestFiles(Struct):
    """Where a run of pytest writes what becomes of its tests."""

    __test__ = False  # not a test class

    report: Path  # JUnit XML
    events: Path  # a line for each test as it ends
    word: str  # it is read before anything of the workspace is loaded; by it the events are told from forged ones


class Programs(Protocol):
    """What a checker has programs run by."""

    def run(self, check: Check, argv: Sequence[str], *, stdin: bytes, output_bytes: int) -> ProcessResult:
        """Run a program; at least `output_bytes` of its output are kept."""

    def run_tests(
        self, check: Check, files: TestFiles, /, *, output_bytes: int, error: str
    ) -> tuple[ProcessResult, bool]:
        """Run pytest so that it writes what becomes of each test, and whether it does; `error` as for `pytest_argv`."""


class CheckPrograms:
    """Starts programs.

    Args:
        python: the interpreter for the workspace's programs.
        deadline: seconds left of the run; no program gets more.
        found_at: where the workspace lies if it is a copy: an editable install still leads there.
    """

    def __init__(
        self,
        workspace: Workspace,
        launcher: Launcher,
        *,
        python: str,
        deadline: Callable[[], float] | None = None,
        found_at: Path | None = None,
    ) -> None:
        self._workspace = workspace
        self.launcher = launcher
        self.python = python
        self.time_left = deadline or (lambda: float("inf"))
        self._found_at = found_at or workspace.root
        self._roots: tuple[str, ...] | None = None
        self._installed: tuple[Path, ...] = ()  # what a copy has links to

    def on(self, workspace: Workspace, launcher: Launcher | None = None) -> CheckPrograms:
        """The same for a copy of the workspace."""
        other = copy.copy(self)
        other._installed = (*self._installed, *installed_in(self._workspace.root))
        other._workspace, other.launcher, other._roots = workspace, launcher or self.launcher, self._import_roots()
        return other

    def within(self, cancel: CancelToken, time_left: Callable[[], float]) -> CheckPrograms:
        """The same with less time: programs end with this token, and none starts when no time is left."""
        run_left, other = self.time_left, copy.copy(self)
        other.launcher = self.launcher.ended_by(Until(cancel, time_left))
        other.time_left = lambda: min(run_left(), time_left())
        return other

    def environment(self, check: Check) -> dict[str, str]:
        """The check's variables, and one by which programs import the workspace's own packages, whatever is installed.

        A narrow check (`Check.tests`) is part of a search and runs the same each time.
        """
        stated = dict(check.env)
        self._roots = self._import_roots()
        paths = [stated.get("PYTHONPATH", ""), *(str(self._workspace.root / root) for root in self._roots)]
        # The check's own directories go first; an installed copy of the package must not be tested in place of the
        # workspace's.
        found = {"PYTHONPATH": os.pathsep.join(filter(None, paths))} if any(paths) else {}
        return {**(SEARCH_VARIABLES if check.tests else {}), **stated, **found}

    def _import_roots(self) -> tuple[str, ...]:
        return import_roots(self._found_at, self.python) if self._roots is None else self._roots

    def hidden(self, check: Check) -> tuple[Path, ...]:
        """What the program under check must not see: the output that is expected of it."""
        return self._inside([check.expected_file] if check.kind == "output" and check.expected_file else [])

    def _inside(self, paths: Iterable[str]) -> tuple[Path, ...]:
        """Absolute paths of those that are relative to the workspace; others cannot be reached by a program anyway."""
        return tuple(self._workspace.root / path for path in paths if not Path(path).is_absolute())

    def run(
        self, check: Check, argv: Sequence[str], *, stdin: bytes, output_bytes: int, writable: Sequence[Path] = ()
    ) -> ProcessResult:
        """Run a program; at least `output_bytes` of its output are kept. `{python}` in `argv` is the interpreter.

        The check's files are read-only for it, and the expected output is hidden from it, as far as the sandbox can.
        Raises Interrupted: the run was cancelled; LimitReached: the run's time was used up.
        """
        left = self.time_left()
        if left <= 0:
            raise out_of_time()
        result = self.launcher.run(
            [self.python if item == "{python}" else item for item in argv],
            cwd=self._workspace.root,
            stdin=stdin,
            timeout_s=min(check.timeout_s, left),
            env=self.environment(check),
            max_output_bytes=output_bytes,
            read_only=self._inside(check.protected),
            hidden=self.hidden(check),
            writable=writable,
            readable=self._installed,
        )
        # The run's time was up, not the check's: that says nothing about the program.
        if (result.timed_out or result.cancelled) and self.time_left() <= 0:
            raise out_of_time()
        if result.cancelled:
            raise Interrupted("interrupted")
        if result.limit:
            return replace(result, stderr=f"{result.stderr}\n{ENDED} {result.limit} than a program may use".strip())
        return result

    def run_tests(self, check: Check, files: TestFiles, *, output_bytes: int, error: str) -> tuple[ProcessResult, bool]:
        """Run pytest so that it writes what becomes of each test, and whether it does; `error` as for `pytest_argv`."""
        argv = self.pytest_argv(check, files.report, error=error)
        seconds = min(check.timeout_s, self.time_left())
        reported = reported_argv(argv, files.events, timeout_s=seconds, tests=check.tests, sample_s=check.sample_s)
        # By standard input, because arguments, variables and files can be read by the tests, too; it is read before
        # these are loaded.
        stdin = f"{files.word}\n".encode() if reported else b""
        writable = [files.events.parent]
        result = self.run(check, reported or argv, stdin=stdin, output_bytes=output_bytes, writable=writable)
        return result, reported is not None

    def pytest_argv(self, check: Check, report: Path, *, error: str = "") -> list[str]:
        """The check's command with what makes its result readable, without options that the installed pytest lacks.

        The command of a narrow check runs the same each time; else plugins do what they do for the project.

        Args:
            check: its `argv` has `pytest` and may have `{python}`.
            report: where pytest writes its JUnit XML.
            error: what pytest printed when it did not understand the command; the options it names are left out.
        """
        argv = check.argv
        place = argv.index("pytest") + 1
        root, top = self._workspace.root, self._workspace.top
        runner = PytestRunner(python=self.python, root=root, launcher=self.launcher, top=top)
        interpreter, words = runner.understood(argv[place:], error=error, search=bool(check.tests))
        # One file that cannot be loaded, for want of a package perhaps, says nothing of the tests in the others.
        flags = ["-q", "--tb=short", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
        flags.append(f"--junitxml={report}")
        whole_values = ["-o", "verbosity_assertions=2"]  # what was compared, uncut; a pytest that lacks it passes over
        return [*(interpreter if item == "{python}" else item for item in argv[:place]), *words, *flags, *whole_values]
