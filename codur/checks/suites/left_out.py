"""Tests that are left out of verdicts: they fail here whatever the program does, or failed before the task began."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codur.checks.entry import subject_of
from codur.checks.suites import run_problem
from codur.checks.suites.junit import TestCounts
from codur.checks.suites.runner_output import UNLOADED, are_named
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON, plain_words
from codur.python.test_run import TestEnd, TestRun
from codur.types import Check
from codur.workspace.workspace import Workspace

_NAMED = 3
_BROKEN = regex(
    r"\[(?:build|setup) failed\]|could not compile|COMPILATION ERROR|BUILD FAILED|[Ff]ailed to load|while loading"
    r"|Cannot find module|SyntaxError|occurred outside of examples"
    r"|Unhandled (?:Errors|Rejection)"
    r"|^ *Errors +\d+ error|signal: \d|\b(?:Risky|Warnings): \d",
    re.MULTILINE,
)
"""Beside its tests a run fails for what is no test, so that these say not all of it."""
_RED = frozenset({1, 2, 101})  # the exit statuses of test runners, PHPUnit's 2 and cargo's 101 among them


class LeftOut:
    """Which tests are left out, beside those that a check names itself.

    They are found in the first run that tells how all tests end before anything is changed: an edit excuses none that
    it breaks.
    """

    def __init__(self, workspace: Workspace, python: str) -> None:
        self._workspace, self._python = workspace, python
        self._names: frozenset[str] | None = None  # None: no run told of all yet

    def add(self, tests: Iterable[str]) -> None:
        """Leave these out, too."""
        self._names = (self._names or frozenset()) | frozenset(tests)

    def copy(self, workspace: Workspace | None = None, *, settled: bool = False) -> LeftOut:
        """The same, for a copy of the workspace if one is given; `settled`: no run there finds any more of them."""
        other = copy.copy(self)
        other._workspace = workspace or self._workspace
        other._names = self._names or frozenset() if settled else self._names
        return other

    def of_pytest(self, check: Check, run: TestRun) -> tuple[str, ...]:
        """Those of the failing tests of a run of pytest."""
        failing = run.ids("failed")
        if self._is_open(check):
            blocked = [(name, why) for name in failing if (why := run.ends[name].blocked)]
            root = self._workspace.root
            found = [name for name, why in blocked if not run_problem.is_unwritten(name, why, root)]
            # Where nothing else ran, nothing is left out.
            self._names = frozenset(found if run.ids("passed") or len(found) < len(failing) else ())
        return self._among(failing, check)

    def of_words(self, check: Check, counts: TestCounts, ends: Mapping[str, TestEnd]) -> tuple[str, ...]:
        """Those of the failing tests of a runner that tells of them in words."""
        if self._is_open(check):
            found = [name for name in counts.failing if self._lacks_module(name, ends[name].text)]
            self._names = frozenset(found if counts.passed else ())
        return self._among(counts.failing, check)

    def _is_open(self, check: Check) -> bool:
        return self._names is None and not check.tests and not self._workspace.changed_files()

    def _among(self, failing: Iterable[str], check: Check) -> tuple[str, ...]:
        names = {*(self._names or ()), *check.left_out}
        return tuple(name for name in failing if name in names)

    def _lacks_module(self, name: str, said: str) -> bool:
        """Whether a test of Python fails for a module that is not installed, and is not what it is called after."""
        absent = run_problem.missing_modules(said, self._workspace.root, self._python)
        own = {subject_of(f"{word}.py") for word in re.findall(r"\w+", name)}
        return bool(absent) and own.isdisjoint(absent) and UNLOADED not in said


def named_failures(counts: TestCounts | None, output: str) -> TestCounts | None:
    """What a runner told, if each test that failed is known by its name and nothing else went wrong; else None."""
    return None if counts is None or not are_named(counts) or _BROKEN.search(output) else counts


def is_green(check: Check, exit_status: int | None, excused: Sequence[str], rest: TestCounts) -> bool:
    """Whether a run passed but for the tests that are left out: nothing else failed, and its exit status is theirs."""
    words = plain_words(check.argv)[1]
    # One program of Python and nothing else: its tests say all that its status does.
    python = bool(words) and (words[0] == PYTHON or Path(words[0]).name.startswith("python"))
    # What a runner ends with when tests failed; mocha with how many did.
    red = {*_RED, len(excused)} if check.kind == "tests" or python else ()
    return bool(excused) and not rest.failing and exit_status in red


def left_out_note(excused: Sequence[str], check: Check, run: TestRun | None = None) -> str:
    """What is said of tests that are left out of a verdict; nothing if there are none."""
    blocked = [name for name in excused if name not in check.left_out]
    said = (("cannot run here", blocked), ("failed before", [name for name in excused if name in check.left_out]))
    told = []
    for why, names in ((why, names) for why, names in said if names):
        reason = run.blocked_by(names) if run is not None else ""
        tests = f"1 test {why} and is" if len(names) == 1 else f"{len(names)} tests {why} and are"
        told.append(f"{tests} left out of the verdict: {listed(names, _NAMED)}{f' ({reason})' if reason else ''}")
    return "; ".join(told)
