"""What other offline ways mend of the same buggy programs that `repair.py` is measured on.

Usage: python benchmarks/repair_peers.py BENCH_DIR --tools PYTHON [--dataset NAME] [--sample N] [--budget SECONDS]
           [--jobs N] [--peer NAME] [--verbose]

PYTHON is the interpreter of an environment of its own: `python -m venv DIR; DIR/bin/pip install cosmic-ray fluidfix
pytest pytest-cov`. The peers:

    mutants     every single mutant that cosmic-ray makes of the program, tried in its order, each with a plain run of
                the check: what a search without localisation, priors and warm processes comes to
    fluidfix    `fluidfix repair` on the program; it takes pytest checks only

They run with an empty environment and home. A case is over after the budget, as for Codur.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repair_cases import Row, home_of, is_correct, wanted

from codur.checks.compare import equal

CHECK_S = 5.0
MUTANTS = """
import json, sys
from pathlib import Path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
code = Path(sys.argv[1]).read_bytes().decode()
seen = set()
for name in sorted(operator_names()):
    place = 0
    while True:
        try:
            made = mutate_code(code, get_operator(name)(), place)
        except TypeError:  # it needs arguments of its own
            break
        if made is None:
            break
        place += 1
        if made not in seen:
            seen.add(made)
            print(json.dumps(made), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="What other offline ways mend of a set of buggy programs.")
    parser.add_argument("bench")
    parser.add_argument("--tools", required=True)
    parser.add_argument("--dataset", default="")
    parser.add_argument("--reach", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--peer", choices=PEERS, action="append")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    bench = Path(options.bench)
    cases = wanted(bench, options)
    print(f"{'peer':12} {'data set':20} {'cases':>6} {'plausible':>10} {'correct':>8} {'median s':>9}")
    for name in options.peer or PEERS:
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda case, name=name: _case(bench, case, name, options), cases))  # type: ignore[misc]
        for dataset in sorted({row["dataset"] for row in rows}):
            print(_figures(name, dataset, [row for row in rows if row["dataset"] == dataset]), flush=True)
    return 0


def _case(bench: Path, case: Row, name: str, options: argparse.Namespace) -> Row:
    home = home_of(bench, case)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "project")
        shutil.copytree(home / "case", root, copy_function=shutil.copyfile)
        text = PEERS[name](root, options.tools, options.budget)
        seconds = time.monotonic() - begun
    correct = text is not None and is_correct(home, {"main.py": text})
    if options.verbose:
        print(
            f"  {name} {case['id']}: {'correct' if correct else 'wrong' if text else '-'} {seconds:.1f} s", flush=True
        )
    return case | {"plausible": text is not None, "correct": correct, "seconds": seconds}


def _figures(name: str, dataset: str, rows: list[Row]) -> str:
    solved = sorted(row["seconds"] for row in rows if row["plausible"])
    median = solved[len(solved) // 2] if solved else 0.0
    correct = sum(row["correct"] for row in rows)
    return f"{name:12} {dataset:20} {len(rows):6} {len(solved):10} {correct:8} {median:9.1f}"


def _mutants(root: Path, tools: str, budget_s: float) -> str | None:
    """The first mutant that passes the check."""
    until = time.monotonic() + budget_s
    for text in _each_mutant(root, tools, until):
        (root / "main.py").write_text(text)
        if _passes(root, tools, until):
            return text
        if time.monotonic() > until:
            return None
    return None


def _each_mutant(root: Path, tools: str, until: float) -> Iterator[str]:
    original = root.parent / "original.py"
    shutil.copyfile(root / "main.py", original)
    words = [tools, "-c", MUTANTS, str(original)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment(root)) as maker:
        assert maker.stdout is not None
        for line in maker.stdout:
            yield json.loads(line)
            if time.monotonic() > until:
                break
        maker.kill()


def _passes(root: Path, tools: str, until: float) -> bool:
    """Whether the case's own check passes."""
    left = min(CHECK_S, max(0.1, until - time.monotonic()))
    given = root / "input.txt"
    tests = (root / "test_main.py").is_file()
    words = [tools, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"] if tests else [tools, "main.py"]
    try:
        done = subprocess.run(
            words,
            cwd=root,
            env=_environment(root),
            input=given.read_bytes() if given.is_file() else b"",
            capture_output=True,
            timeout=left,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    if tests or done.returncode:
        return done.returncode == 0
    return equal((root / "expected.txt").read_text(), done.stdout.decode(errors="replace"))


def _fluidfix(root: Path, tools: str, budget_s: float) -> str | None:
    if not (root / "test_main.py").is_file():
        return None
    before = (root / "main.py").read_text()
    words = [str(Path(tools).with_name("fluidfix")), "repair", str(root), "--file", "main.py", "--python", tools]
    try:
        subprocess.run(words, cwd=root, env=_environment(root), capture_output=True, timeout=budget_s, check=False)
    except subprocess.TimeoutExpired:
        return None
    text = (root / "main.py").read_text()
    return text if text != before and _passes(root, tools, time.monotonic() + CHECK_S) else None


def _environment(root: Path) -> dict[str, str]:
    return {"PATH": os.defpath, "HOME": str(root.parent), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}


PEERS: dict[str, Callable[[Path, str, float], str | None]] = {"mutants": _mutants, "fluidfix": _fluidfix}

if __name__ == "__main__":
    sys.exit(main())
