"""Runs that are killed at random moments, and gone on with: how many sessions that spoils.

python -m tests.session.kill_loop 40
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.session.kit import MEDIAN_RIGHT, PATIENCE_S, Place, contents, place

LONGEST_S = 2.5
"""A run takes about this long without being killed."""


@dataclass(frozen=True)
class Count:
    """What became of sessions.

    Attributes:
        kills: processes that were killed.
        runs: sessions.
        finished: those that came to the right end.
        damaged: runs with a file that could not be read after a kill.
        lost: finished steps that were gone after a kill.
        asked_again: requests that were sent twice; one at most for each kill is unavoidable.
    """

    kills: int
    runs: int
    finished: int
    damaged: int
    lost: int
    asked_again: int


def kill_loop(kills: int, directory: Path, *, seed: int = 1) -> Count:
    """Kill `kills` processes; each run is killed at most four times, then let go on to its end."""
    dice = random.Random(seed)
    done = finished = damaged = lost = again = number = 0
    while done < kills:
        number += 1
        home = directory / str(number)
        home.mkdir()
        with place(home) as here:
            steps = 0
            for attempt in range(4):
                words = ("resume",) if attempt and _ids(here) else ("main.py is wrong",)
                process = here.start(*words)
                time.sleep(dice.uniform(0.2, LONGEST_S))
                ended = process.poll() is not None
                process.kill()
                process.communicate(timeout=PATIENCE_S)
                if ended:
                    break
                done += 1
                damaged += not _intact(here)
                now = _steps(here)
                lost += now < steps
                steps = now
                if done >= kills:
                    break
            finished += _ends_well(here)
            again += here.asked_again()
    return Count(kills=done, runs=number, finished=finished, damaged=damaged, lost=lost, asked_again=again)


def _ids(here: Place) -> list[str]:
    runs = here.state / "runs"
    return sorted(path.name for path in runs.iterdir() if (path / "run.json").exists()) if runs.is_dir() else []


def _steps(here: Place) -> int:
    """Finished steps on record."""
    numbers = [0]
    for run_id in _ids(here):
        log = here.state / "runs" / run_id / "steps.jsonl"
        lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
        numbers += [json.loads(line).get("number", 0) for line in lines]
    return max(numbers)


def _intact(here: Place) -> bool:
    """Whether every record can be read."""
    for run_id in _ids(here):
        run = here.state / "runs" / run_id
        try:
            json.loads((run / "run.json").read_bytes())
        except ValueError:
            return False
    return True


def _ends_well(here: Place) -> bool:
    """Let the run go on (or start it, if it was killed before it was on record); whether it ends as it should."""
    open_runs = [run for run in here.runs() if run["status"] != "finished"] if _ids(here) else []
    ran = here.run("resume") if open_runs else here.run("main.py is wrong") if not _ids(here) else None
    return (ran is None or ran.code == 0) and MEDIAN_RIGHT in contents(here.project)["main.py"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.stdout.write(f"{kill_loop(int(sys.argv[1]), Path(temporary))}\n")
