"""How many candidates are judged per second: in a warm worker, and in plain processes.

Usage: python benchmarks/repair_speed.py CASES_DIR… [--limit CASES] [--count CANDIDATES] [--workers N]

Cases are the directories at or below CASES_DIR with a `main.py` and a check (expected output or tests); each is copied.
The candidates are small changes of `main.py`: another comparison or arithmetic sign, a constant plus one.
`cpu` is processor time of the workers and of this program, so that other work on the machine does not count; `hang` is
how many candidates ran out of time, which takes the longest.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import statistics
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.find_check import CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.repair.judge.candidate_judge import Judge
from codur.sandbox.launcher import Launcher
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace

SIGNS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "//", "%": "*"}
PLAIN = 8
"""Candidates judged in plain processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A copied case that fails its check."""

    name: str
    workspace: Workspace
    checker: Checker
    check: Check
    before: Verdict
    candidates: list[dict[str, str]]

    def judge(self, workers: int) -> Judge:
        return Judge(self.checker, self.check, self.before, workers=workers)


def changes(text: str) -> Iterator[str]:
    """Sources with one token changed, those that compile."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        new = SIGNS.get(token.string) if token.type == tokenize.OP else None
        if token.type == tokenize.NUMBER and token.string.isdigit():
            new = str(int(token.string) + 1)
        if new is None:
            continue
        row, column = token.start
        line = lines[row - 1]
        changed = [*lines[: row - 1], line[:column] + new + line[token.end[1] :], *lines[row:]]
        try:
            compile("".join(changed), "main.py", "exec")
        except SyntaxError:
            continue
        yield "".join(changed)


def cases(directories: list[Path], limit: int, count: int, copies: Path) -> Iterator[Case]:
    found = sorted({path.parent for directory in directories for path in directory.rglob("main.py")})
    for directory in found[:limit]:
        target = copies / str(len(list(copies.iterdir())))
        shutil.copytree(directory, target)
        (target / "main.py").chmod(0o644)
        workspace = Workspace.open(target)
        launcher = Launcher(dict(os.environ))
        settings = VerificationSettings()
        check = find_check(workspace, settings, CheckRequest(prompt="fix main.py", files=("main.py",)))
        if check is None or check.kind == "syntax":
            continue
        checker = Checker(workspace, settings, CheckPrograms(workspace, launcher, python=sys.executable))
        checker.guard(check)
        texts = list(changes(workspace.read_text("main.py").text)) or [workspace.read_text("main.py").text + "\n"]
        texts = [texts[number % len(texts)] + "\n" * (number // len(texts)) for number in range(count)]
        yield Case(
            name=directory.parent.name if directory.name == "case" else directory.name,
            workspace=workspace,
            checker=checker,
            check=check,
            before=checker.run(check),
            candidates=[{"main.py": text} for text in texts],
        )


def used(pid: int) -> float:
    """Processor seconds of a process, of those that it has waited for, and of those below it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(used(int(child)) for child in below)


def measure(case: Case, workers: int) -> tuple[float, ...]:
    """Seconds to start; candidates per second warm, by processor time and plain; and how many ran out of time."""
    begun = time.perf_counter()
    with case.judge(workers) as judge:
        judge.prepare()
        list(judge.judge_many(case.candidates[:1]))
        start = time.perf_counter() - begun
        begun, before = time.perf_counter(), used(os.getpid())
        verdicts = list(judge.judge_many(case.candidates))
        warm = len(verdicts) / (time.perf_counter() - begun)
        cpu = len(verdicts) / max(used(os.getpid()) - before, 1e-6)
        note, in_plain = judge.note, judge.plain
    begun = time.perf_counter()
    with case.judge(0) as judge:
        plain = PLAIN / max(
            sum(1 for _ in judge.judge_many(case.candidates[:PLAIN])) and time.perf_counter() - begun, 1e-6
        )
    hang = sum(verdict is not None and verdict.timed_out for verdict in verdicts)
    shown = f"{start:7.2f} {warm:7.0f} {cpu:7.0f} {plain:7.1f} {hang:5} {in_plain:5}  {note}"
    print(f"{case.name[:28]:28} {case.check.kind:7} {shown}", flush=True)
    return start, warm, cpu, plain


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    heads = ("start s", "warm/s", "cpu/s", "plain/s")
    print(f"{'case':28} {'check':7} {' '.join(f'{head:>7}' for head in heads)}  hang plain  why plain")
    with tempfile.TemporaryDirectory() as copies:
        found = cases(options.directories, options.limit, options.count, Path(copies).resolve())
        rows = [measure(case, options.workers) for case in found]
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print(f"{'median':36} {medians[0]:7.2f} {medians[1]:7.0f} {medians[2]:7.0f} {medians[3]:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
