"""How often an honest change is called tampered: `python benchmarks/honest_changes.py CASES --number 40`.

Each case is a wrong program with its check and a reference that passes it. The reference is put in as a model's change
would be and confirmed; then an edit that changes nothing that the program does is confirmed on top of it. What is not
`passed` is printed. Cases are taken evenly from the whole list.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.discover import CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.sandbox.launcher import Launcher
from codur.types import Verdict
from codur.workspace.workspace import Workspace

PROMPT = "fix main.py"


def main() -> None:
    """Print what became of the changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, help="a directory with index.jsonl and the cases")
    parser.add_argument("--number", type=int, default=40)
    given = parser.parse_args()
    rows = [json.loads(line) for line in (given.cases / "index.jsonl").read_text().splitlines()]
    chosen = rows[:: max(1, len(rows) // given.number)][: given.number]
    counts = {"reference": Counter[str](), "neutral": Counter[str]()}
    with Launcher({"PATH": os.environ["PATH"]}, python=sys.executable) as launcher:
        for row in chosen:
            place = given.cases / row["dataset"] / row["id"]
            for kind, verdict in zip(counts, _verdicts(place, launcher), strict=False):
                counts[kind][verdict.status] += 1
                if not verdict.passed or verdict.note:
                    print(f"{row['id']}: {kind}: {verdict.status}: {verdict.note}", flush=True)
    for kind, found in counts.items():
        print(f"{kind}: {found['tampered']} of {found.total()} called tampered; {dict(found)}")


def _verdicts(place: Path, launcher: Launcher) -> Iterator[Verdict]:
    """On the reference in place of the wrong program, and on a neutral edit of the reference."""
    right = (place / "meta" / "reference.py").read_text()
    edited = ast.unparse(ast.parse(right)) + "\n# the same program\n"
    for before, after in (((place / "case" / "main.py").read_text(), right), (right, edited)):
        with TemporaryDirectory() as temporary:
            root = Path(copytree(place / "case", Path(temporary) / "case"))
            (root / "main.py").chmod(0o644)
            (root / "main.py").write_text(before)
            yield _confirmed(Workspace.open(root), launcher, after)


def _confirmed(workspace: Workspace, launcher: Launcher, text: str) -> Verdict:
    check = find_check(workspace, VerificationSettings(), CheckRequest(prompt=PROMPT, files=("main.py",)))
    checker = Checker(workspace, VerificationSettings(), CheckPrograms(workspace, launcher, python=sys.executable))
    if check is None:
        raise SystemExit(f"{workspace.root}: no check was found")
    checker.guard(check)
    earlier = checker.run(check)
    workspace.write_text("main.py", text)
    verdict = checker.run(check)
    originals = {change.path: change.before for change in workspace.changes()}
    return (
        confirm(checker, check, verdict, Change(before=originals, prompt=PROMPT, earlier=earlier), runs=0)
        if verdict.passed
        else verdict
    )


if __name__ == "__main__":
    main()
