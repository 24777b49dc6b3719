"""The cases of a set of buggy programs, and the score of a repair by hidden tests. See `repair.py` for the layout."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codur.checks.compare import equal

HIDDEN_S = 10.0
Row = dict[str, Any]


def wanted(bench: Path, options: argparse.Namespace) -> list[Row]:
    """The cases that the options `dataset`, `reach`, `only` and `sample` leave."""
    cases = [json.loads(line) for line in (bench / "index.jsonl").read_text().splitlines()]
    only = set(filter(None, options.only.split(",")))
    cases = [
        case
        for case in cases
        if case["dataset"].startswith(options.dataset)
        and (not options.reach or case["reach"] == options.reach)
        and (not only or case["id"] in only)
    ]
    return cases[:: max(1, len(cases) // options.sample)] if options.sample else cases


def home_of(bench: Path, case: Row) -> Path:
    """The case's directory; parts of a data set that differ in their source share one."""
    names = (case["dataset"], case["dataset"].rpartition("_")[0])
    return next(home for name in names if name and (home := bench / str(name) / str(case["id"])).is_dir())


def is_scored(home: Path) -> bool:
    """Whether a case has hidden tests; without them nobody knows whether a plausible repair is correct."""
    return (home / "meta" / "test_hidden.py").is_file() or any((home / "meta" / "hidden").glob("*.in"))


def is_correct(home: Path, files: dict[str, str]) -> bool:
    """Whether a repair passes the hidden tests too; False if there are none."""
    if not is_scored(home):
        return False
    with tempfile.TemporaryDirectory() as temporary:
        for name, text in files.items():
            Path(temporary, name).write_text(text)
        hidden = home / "meta" / "test_hidden.py"
        if hidden.is_file():
            shutil.copyfile(hidden, Path(temporary, "test_hidden.py"))
            plain = ["-q", "-x", "-p", "no:cacheprovider"]
            return _run([sys.executable, "-m", "pytest", *plain, "test_hidden.py"], temporary, b"", 60.0) is not None
        for given in sorted((home / "meta" / "hidden").glob("*.in")):
            printed = _run([sys.executable, "main.py"], temporary, given.read_bytes(), HIDDEN_S)
            if printed is None or not equal(given.with_suffix(".out").read_text(), printed):
                return False
    return True


def _run(argv: Sequence[str], cwd: str, stdin: bytes, limit_s: float) -> str | None:
    """What a program prints; None if it fails or takes too long."""
    try:
        done = subprocess.run(argv, cwd=cwd, input=stdin, capture_output=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
