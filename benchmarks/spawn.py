"""Measure what the sandbox adds to the start of a program.

    python benchmarks/spawn.py [--runs N] [--check MS]

Each round starts the same two programs (`python -c pass`, and a `main.py` that prints) bare and through the launcher
with each back end that works here, one after the other, so that a change of the machine's speed meets all of them.
Printed are medians in milliseconds, and the median of the differences to the bare start of the same round. `--check`
makes the exit status 1 if a back end adds more than that.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from codur.config.settings import SandboxSettings
from codur.errors import CodurError
from codur.python.interpreter import find_python
from codur.sandbox.environment import child_environment
from codur.sandbox.launcher import Launcher

BACKENDS: tuple[Literal["none", "landlock", "namespaces", "bubblewrap"], ...] = (
    "none",
    "landlock",
    "namespaces",
    "bubblewrap",
)
WARM_UP = 3


def bare(argv: list[str], workspace: Path, env: dict[str, str]) -> None:
    subprocess.run(argv, cwd=workspace, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def launched(launcher: Launcher, argv: list[str], workspace: Path) -> None:
    result = launcher.run(argv, cwd=workspace, timeout_s=60.0)
    if result.exit_status != 0:
        raise SystemExit(f"{launcher.name}: the program failed: {result.stderr}")


def launchers() -> dict[str, Launcher]:
    """A launcher for each back end that works here."""
    found: dict[str, Launcher] = {}
    for name in BACKENDS:
        launcher = Launcher(os.environ, sandbox=SandboxSettings(backend=name))
        try:
            print(f"{launcher.name}: works")
        except CodurError as error:
            print(f"{name}: left out: {error}")
            continue
        found[name] = launcher
    return found


def timed(start: Callable[[], None]) -> float:
    begin = time.perf_counter()
    start()
    return (time.perf_counter() - begin) * 1000


def measure(name: str, argv: list[str], workspace: Path, ways: dict[str, Launcher], runs: int) -> float:
    """Print a table for one program; returns the largest difference."""
    env = {**child_environment(os.environ), "TMPDIR": tempfile.gettempdir()}
    rounds: list[dict[str, float]] = []
    for number in range(-WARM_UP, runs):
        times = {"bare": timed(partial(bare, argv, workspace, env))}
        for way, launcher in ways.items():
            times[way] = timed(partial(launched, launcher, argv, workspace))
        if number >= 0:
            rounds.append(times)
    print(f"\n{name}: {runs} rounds\n  {'way':<12}{'median ms':>10}{'added ms':>10}{'ratio':>8}")
    worst = 0.0
    for way in rounds[0]:
        added = statistics.median(each[way] - each["bare"] for each in rounds)
        ratio = statistics.median(each[way] / each["bare"] for each in rounds)
        print(f"  {way:<12}{statistics.median(each[way] for each in rounds):>10.2f}{added:>10.2f}{ratio:>8.2f}")
        worst = max(worst, added)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--check", type=float, default=0.0, metavar="MS")
    given = parser.parse_args()
    ways = launchers()
    with tempfile.TemporaryDirectory() as directory:
        workspace = Path(directory)
        (workspace / "main.py").write_text("print('hello')\n")
        python = find_python(workspace, os.environ)
        worst = max(
            measure("python -c pass", [python, "-c", "pass"], workspace, ways, given.runs),
            measure("python main.py", [python, "main.py"], workspace, ways, given.runs),
        )
    for launcher in ways.values():
        launcher.close()
    return 1 if given.check and worst > given.check else 0


if __name__ == "__main__":
    sys.exit(main())
