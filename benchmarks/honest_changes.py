"""How often an honest change is called tampered: `python benchmarks/honest_changes.py CASES --number 40`.

Each case is a wrong program with its check and a reference that passes it. The reference is put in as a model's change
would be and confirmed; then an edit that changes nothing that the program does is confirmed on top of it. What is not
`passed` is printed. Cases are taken evenly from the whole list.

`--pairs PAIRS_DIR --root SCRATCH --real 20` adds real bugs with the maintainers' fixes (as `real_bugs.py` takes them).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from real_bug_cases import Pairs

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.find_check import CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.python.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.types import Verdict
from codur.workspace.workspace import Workspace


@dataclass
class Case:
    """A project, and texts by path that are put in one after the other, each an honest change of the one before."""

    name: str
    root: Path
    prompt: str
    changes: dict[str, dict[str, str]]
    environ: dict[str, str]


def main() -> None:
    """Print what became of the changes."""
    options = _options()
    counts = {"reference": Counter[str](), "neutral": Counter[str]()}
    for case in chain(_programs(options), _real_bugs(options)):
        python = find_python(case.root, case.environ)
        with Launcher(case.environ, python=python) as launcher:
            for kind, verdict in zip(case.changes, _verdicts(case, launcher, python), strict=False):
                counts[kind][verdict.status] += 1
                if not verdict.passed or verdict.note:
                    print(f"{case.name}: {kind}: {verdict.status}: {verdict.note}", flush=True)
    for kind, found in counts.items():
        print(f"{kind}: {found['tampered']} of {found.total()} called tampered; {dict(found)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, help="a directory with index.jsonl and the cases")
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--root", type=Path, help="what pairs.py downloads, and more rows")
    parser.add_argument("--real", type=int, default=20, help="how many of the real bugs")
    return parser.parse_args()


def _programs(options: argparse.Namespace) -> Iterator[Case]:
    """Single files whose output, or tests, are known."""
    rows = [json.loads(line) for line in (options.cases / "index.jsonl").read_text().splitlines()]
    for row in _evenly(rows, options.number):
        place = options.cases / row["dataset"] / row["id"]
        right = (place / "meta" / "reference.py").read_text()
        with TemporaryDirectory() as temporary:
            root = Path(copytree(place / "case", Path(temporary) / "case"))
            (root / "main.py").chmod(0o644)
            changes = {"reference": {"main.py": right}, "neutral": {"main.py": _edited(right)}}
            yield Case(row["id"], root, "fix main.py", changes, {"PATH": os.environ["PATH"]})


def _real_bugs(options: argparse.Namespace) -> Iterator[Case]:
    """Projects with a bug, and what their maintainers made of the files; only where all of them are Python."""
    if options.pairs is None:
        return
    pairs = Pairs(home=options.pairs.resolve(), root=(options.root or options.pairs).resolve())
    rows = [row for row in pairs.rows() if all(path.endswith(".py") for path in row["source_files"])]
    for row in _evenly(rows, options.real):
        files = row["source_files"]
        with TemporaryDirectory() as temporary:
            fixed, root = Path(temporary, "fixed"), Path(temporary, "project")
            pairs.make(row["id"], fixed)
            pairs.solve(row["id"], fixed)
            pairs.make(row["id"], root)
            right = {path: (fixed / path).read_text() for path in files}
            changes = {"reference": right, "neutral": {path: _edited(text) for path, text in right.items()}}
            path = f"{root / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
            yield Case(row["id"], root, "the tests fail, fix the bug", changes, {"PATH": path})


def _evenly(rows: list[Any], number: int) -> list[Any]:
    return rows[:: max(1, len(rows) // max(1, number))][:number]


def _edited(text: str) -> str:
    return ast.unparse(ast.parse(text)) + "\n# the same program\n"


def _verdicts(case: Case, launcher: Launcher, python: str) -> Iterator[Verdict]:
    """On the reference in place of the wrong program, and on a neutral edit of the reference."""
    settings = VerificationSettings()
    workspace = Workspace.open(case.root)
    check = find_check(workspace, settings, CheckRequest(prompt=case.prompt, files=_one(case)))
    if check is None:
        raise SystemExit(f"{case.name}: no check was found")
    checker = Checker(workspace, settings, CheckPrograms(workspace, launcher, python=python))
    checker.guard(check)
    earlier = checker.run(check)
    for texts in case.changes.values():
        before = {path: (case.root / path).read_bytes() for path in texts}
        for path, text in texts.items():
            workspace.write_text(path, text)
        verdict = checker.run(check)
        change = Change(before=before, prompt=case.prompt, earlier=earlier)
        yield confirm(checker, check, verdict, change, runs=0) if verdict.passed else verdict
        earlier = verdict


def _one(case: Case) -> tuple[str, ...]:
    """The file that the prompt names."""
    return tuple(path for path in case.changes["reference"] if path in case.prompt)


if __name__ == "__main__":
    main()
