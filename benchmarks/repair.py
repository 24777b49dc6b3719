"""How many of a set of buggy programs the offline repair mends: its own check passes, and hidden tests agree.

Usage: python benchmarks/repair.py BENCH_DIR [--dataset NAME] [--reach NAME] [--only ID,…] [--sample N] [--jobs N]
           [--workers N] [--budget SECONDS] [--json FILE] [--verbose]

BENCH_DIR holds `index.jsonl` (a line a case: `dataset`, `id`, `check`, `reach`, `edit_kind`) and DATASET/ID/case/, the
workspace with its check. DATASET/ID/meta/ holds what is for scoring alone: `test_hidden.py`, or `hidden/*.in` with
`*.out`. Each case runs in a process of its own, on a scratch copy, as `codur repair` would run it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from repair_cases import Row, home_of, is_correct, is_scored, wanted

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.find_check import CheckRequest, find_check
from codur.config.settings import SandboxSettings, VerificationSettings
from codur.events import ignore
from codur.repair.engine import Effort, Fault, search
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace


def main() -> int:
    options = _options()
    if options.case:
        print(json.dumps(_case(Path(options.bench), json.loads(options.case), options.budget, options.workers)))
        return 0
    cases = wanted(Path(options.bench), options)
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(lambda case: _in_process(options, case), cases):
            rows.append(row)
            if options.verbose:
                print(_line(row), flush=True)
    if options.json:
        Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(_tables(rows))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How many buggy programs the offline repair mends.")
    parser.add_argument("bench")
    parser.add_argument("--dataset", default="")
    parser.add_argument("--reach", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0, help="every n-th case, so that about N are left")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--json", default="")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--case", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_process(options: argparse.Namespace, case: Row) -> Row:
    """The case's row; one that ends in any other way counts as not solved."""
    given = ["--case", json.dumps(case), "--budget", str(options.budget), "--workers", str(options.workers)]
    done = subprocess.run(
        [sys.executable, __file__, options.bench, *given], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return case | {"plausible": False, "correct": False, "tier": "", "seconds": 0.0, "tried": 0, "operators": []}
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def _case(bench: Path, case: Row, budget_s: float, workers: int) -> Row:
    """One search, and its score."""
    home = home_of(bench, case)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as close:
        root = Path(temporary) / "project"
        shutil.copytree(home / "case", root, copy_function=shutil.copyfile)
        scratch = Path(temporary) / "scratch"
        workspace = Workspace.open(root)
        settings = VerificationSettings()
        launcher = close.enter_context(Launcher({"PATH": os.environ["PATH"]}, sandbox=SandboxSettings()))
        checker = Checker(workspace, settings, CheckPrograms(workspace, launcher, python=sys.executable))
        check = find_check(workspace, settings, CheckRequest(prompt="fix main.py", files=["main.py"]))
        if check is None:
            raise SystemExit(f"{case['id']}: no check was found")
        checker.guard(check)
        before = checker.run(check)
        started = time.monotonic()
        copy = workspace.scratch_copy(scratch)
        fault = Fault(checker=checker.on(copy), check=check, before=before, files=["main.py"])
        effort = Effort(budget_s=budget_s, max_order=2, workers=workers)
        outcome = search(fault, effort, emit=ignore, cancel=CancelToken())
        seconds = time.monotonic() - started
    patches = [repair.files for repair in outcome.repairs]
    judged = [is_correct(home, dict(files)) for files in patches]
    return case | {
        "plausible": bool(outcome.files),
        "correct": bool(judged[:1] and judged[0]),
        "scored": is_scored(home),
        "among_alternatives": any(judged),
        "tier": outcome.tier if outcome.files else "",
        "seconds": round(seconds, 2),
        "tried": outcome.tried,
        "passing": outcome.passing,
        "operators": list(outcome.operators),
        "explanation": outcome.explanation,
        "note": outcome.note,
    }


# --- the table --------------------------------------------------------------------------------------------------------


def _line(row: Row) -> str:
    said = "correct" if row["correct"] else "-" if not row["plausible"] else "wrong" if row["scored"] else "unscored"
    return (
        f"{row['id']:22} {row['reach']:14} {row['edit_kind']:20} {said:8} {row['tier']:14} {row['seconds']:6.1f} s "
        f"{row['tried']:6} tried  {', '.join(row['operators'])}{'  plain: ' + row['note'] if row['note'] else ''}"
    )


def _tables(rows: Sequence[Row]) -> str:
    return "\n\n".join(
        _table(title, rows, key)
        for title, key in (
            ("data set", lambda row: [row["dataset"]]),
            ("data set, reach", lambda row: [f"{row['dataset']} {row['reach']}"]),
            ("operator", lambda row: row["operators"] or ["(none)"]),
        )
    )


def _table(title: str, rows: Sequence[Row], key: Callable[[Row], Iterable[str]]) -> str:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        for name in key(row):
            groups.setdefault(name, []).append(row)
    head = (
        f"{title:32} {'cases':>6} {'plausible':>10} {'correct':>8} {'wrong':>6} {'unscored':>9} "
        f"{'deterministic':>14} {'correct':>8}"
    )
    lines = [f"{head} {'median s':>9} {'judged/s':>9}"]
    lines += [_figures(name, group) for name, group in sorted(groups.items())]
    return "\n".join(lines)


def _figures(name: str, rows: Sequence[Row]) -> str:
    plausible, correct = sum(row["plausible"] for row in rows), sum(row["correct"] for row in rows)
    unscored = sum(row["plausible"] and not row.get("scored", True) for row in rows)
    sure = [row for row in rows if row["tier"] == "deterministic" and row.get("scored", True)]
    right = sum(row["correct"] for row in sure)
    share = f"{right / len(sure):.0%}" if sure else "-"
    median = statistics.median([row["seconds"] for row in rows if row["plausible"]] or [0.0])
    rate = sum(row["tried"] for row in rows) / max(sum(row["seconds"] for row in rows), 0.01)
    counts = f"{len(rows):6} {plausible:10} {correct:8} {plausible - correct - unscored:6} {unscored:9}"
    return f"{name:32} {counts} {len(sure):14} {share:>8} {median:9.1f} {rate:9.0f}"


if __name__ == "__main__":
    sys.exit(main())
