"""Helpers: what an operator makes of a source, and searches with the real checker in a scratch directory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.config.settings import VerificationSettings
from codur.events import Emit, ignore
from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.late_candidates import Prospect, Sight, Which, prospects
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import apply_edits
from codur.repair.code.source_file import Source, parse_source
from codur.repair.engine import Effort, Fault, RepairOutcome, search
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.observed_values import Observed
from codur.repair.operators.table import OPERATORS, Offer, changeable, heads, rows_for
from codur.repair.operators.table import offers as offers_of
from codur.repair.suspicion.localise import Suspicion
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace
from tests.support import plain_python

OUTPUT = Check(
    kind="output",
    argv=("{python}", "main.py"),
    entry="main.py",
    expected_file="expected.txt",
    protected=("expected.txt",),
    timeout_s=10.0,
    source="expected.txt",
)
TESTS = Check(
    kind="tests",
    argv=("{python}", "-m", "pytest"),
    protected=("test_main.py",),
    timeout_s=60.0,
    source="tests",
)
QUICK_PYTEST = "[pytest]\naddopts = -p no:hypothesispytest -p no:langsmith_plugin -p no:anyio -p no:xdist\n"
"""Leaves out plugins that happen to be installed beside Codur and cost a second a run."""


def source_of(text: str) -> Source:
    source = parse_source("main.py", dedent(text))
    assert source is not None
    return source


def offers(context: Context) -> Iterator[Offer]:
    """What the operators propose for a file, in the order of the text and then of the table."""
    for head in heads(context.source):
        for node in changeable(context.source, head):
            for row in rows_for(node):
                yield from offers_of(context, node, row)


def candidates(
    program: Program,
    failure: Failure,
    suspicion: Suspicion,
    which: Which = "all",
    observed: Mapping[str, Observed] | None = None,
    expected: str = "",
) -> list[Candidate]:
    """Every change of some statements of a program, in the order of its text."""
    seen = observed or {}
    sight = Sight(
        program=program,
        failure=failure,
        suspicion=suspicion,
        which=which,
        observed=lambda path: seen.get(path, Observed()),
        expected=expected,
    )
    return sorted(opened(prospects(sight)), key=lambda each: each.order)


def opened(waiting: Iterable[Candidate | Prospect]) -> Iterator[Candidate]:
    for each in waiting:
        if isinstance(each, Candidate):
            yield each
        else:
            while each.priority > 0:
                yield from opened(each.open())


def made_by(operator: str, text: str, failure: Failure | None = None) -> list[str]:
    """The texts that one operator makes of a source, in order."""
    assert operator in {row.name for row in OPERATORS}
    source = source_of(text)
    found = offers(Context.of(source, failure or Failure()))
    return [apply_edits(source.text, offer.proposal.edits) for offer in found if offer.operator == operator]


def all_offers(text: str) -> list[Offer]:
    return list(offers(Context.of(source_of(text), Failure())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A scratch workspace with a checker and the verdict on it."""

    workspace: Workspace
    checker: Checker
    check: Check
    before: Verdict

    def search(
        self,
        files: Sequence[str] = ("main.py",),
        *,
        budget_s: float = 60.0,
        max_order: int = 2,
        emit: Emit = ignore,
        cancel: CancelToken | None = None,
        clock: Callable[[], float] = time.monotonic,
        workers: int = 0,
        every: bool = False,
        task: str = "",
        hints: Sequence[str] = (),
    ) -> RepairOutcome:
        fault = Fault(checker=self.checker, check=self.check, before=self.before, files=files, task=task, hints=hints)
        effort = Effort(budget_s=budget_s, max_order=max_order, workers=workers, every=every, clock=clock)
        return search(fault, effort, emit=emit, cancel=cancel or CancelToken())

    def contents(self) -> dict[str, bytes]:
        root = self.workspace.root
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def bench(root: Path, files: Mapping[str, str | bytes], check: Check = OUTPUT, *, python: str = "") -> Bench:
    """The files in a directory, guarded and checked once."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
    workspace = Workspace.open(root)
    launcher = Launcher({"PATH": os.environ.get("PATH", "")})
    checker = Checker(
        workspace,
        VerificationSettings(),
        CheckPrograms(workspace, launcher, python=python or plain_python.executable()),
    )
    checker.guard(check)
    return Bench(workspace=workspace, checker=checker, check=check, before=checker.run(check))
