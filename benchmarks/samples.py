"""Several answers side by side against a service that is right now and then: how many tasks they solve, and how soon.

    python benchmarks/samples.py [--tasks 100] [--samples 8] [--right 0.25] [--answer-s 1.0] [--limits]

The service is a scripted one on this machine, with a fixed seed. Every task is a program with an unfinished function
and its expected output, worked on in one attempt. Each task's time is compared with that of one right answer and its
check (the median of runs of their own, between the tasks). After each run it is looked for processes, threads and
temporary files that are left.

With `--limits` the service allows 50,000 tokens that fill up in 5 s, counts the longest possible answer, tells of that
with each answer, and refuses what goes beyond. Every run learns that anew.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codur.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1]))

from codur.config.settings import CodingSettings
from codur.session.task_run import run_task
from codur.types import Limits, RunResult, Task
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, fill, host, settings_for
from tests.support.groq_server import GroqServer, ServerReply, calls, error

WRONG = tuple(
    f'def median(values):\n    """The middle value."""\n    return {value}\n'
    for value in (
        "None",
        "sum(values)",
        "sorted(values)[0]",
        "max(values)",
        "values[0]",
        "sorted(values)[len(values) // 2]",
    )
)
TOKENS, FILLED_S = 50_000, 5.0
TIMES_ALLOWED, SOLVED_SHARE, EVERY = 2.0, 0.85, 10


@dataclass
class Service:
    """Gives right answers with a probability, and keeps limits if it has any."""

    right: float
    answer_s: float
    limited: bool = False
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    refused: int = 0
    counted: int = 0
    _level: float = TOKENS
    _at: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Any) -> ServerReply:
        if not isinstance(body, dict):
            return error(400, "The request was broken off.")
        if not body.get("tools"):
            return EDIT
        with self._lock:
            wait_s, told = self._take(body)
            if wait_s:
                self.refused += 1
                return error(429, "Rate limit reached.", code="rate_limit_exceeded", retry_after=wait_s, headers=told)
            code = MEDIAN_RIGHT if self.chance.random() < self.right else self.chance.choice(WRONG)
        reply = calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))
        return replace(reply, delay_s=self.answer_s, headers=told)

    def _take(self, body: Any) -> tuple[float, dict[str, str]]:
        """Seconds until there is room for a request (0: it is taken), and what is told of the limit."""
        if not self.limited:
            return 0.0, {}
        now = time.monotonic()
        self._level, self._at = min(TOKENS, self._level + (now - self._at) * TOKENS / FILLED_S), now
        needed = len(str(body["messages"])) // 4 + int(body["max_completion_tokens"])
        wait_s = max(0.0, (needed - self._level) * FILLED_S / TOKENS)
        if not wait_s:
            self._level -= needed
            self.counted += needed
        return wait_s, {
            "x-ratelimit-limit-tokens": str(TOKENS),
            "x-ratelimit-remaining-tokens": str(int(self._level)),
            "x-ratelimit-reset-tokens": f"{(TOKENS - self._level) * FILLED_S / TOKENS:.3f}s",
        }


@dataclass(frozen=True, kw_only=True)
class Row:
    """One task."""

    result: RunResult
    seconds: float
    left: tuple[str, ...]


def run(place: Path, service: Service, samples: int) -> Row:
    """Carry out one task in an empty directory."""
    place.mkdir()
    before = {*threading.enumerate(), *_children()}
    with GroqServer(service) as server:
        settings = settings_for(server, agents={"coding": CodingSettings(samples=samples)})
        task = Task(prompt="main.py is wrong", workspace=str(fill(place, NEEDS_MODEL)), limits=Limits(max_iterations=1))
        begun = time.monotonic()
        result = run_task(task, settings, host=host(), emit=lambda _event: None)
        seconds = time.monotonic() - begun
    return Row(result=result, seconds=seconds, left=tuple(_left(before)))


def _children() -> set[str]:
    """Process ids of what this process has started and not ended."""
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {word for path in found for word in path.read_text().split()}


def _left(before: set[threading.Thread | str]) -> Iterator[str]:
    """What a run has left: processes that it started, threads but for those of the server, temporary files."""
    yield from (f"process {word}" for word in _children() if word not in before)
    own = (item for item in threading.enumerate() if item not in before and "process_request_thread" not in item.name)
    yield from (f"thread {item.name}" for item in own)
    yield from (str(path) for path in Path(tempfile.gettempdir()).iterdir())


def measure(root: Path, service: Service, *, tasks: int, samples: int) -> tuple[list[Row], list[float]]:
    """The tasks, and the times of single right answers between them."""
    rows: list[Row] = []
    single: list[float] = []
    run(root / "first", Service(right=1.0, answer_s=0.0), 1)  # what is loaded once is nobody's time
    for number in range(tasks):
        if number % EVERY == 0:
            alone = run(root / f"single-{number}", Service(right=1.0, answer_s=service.answer_s), 1)
            if alone.result.outcome != "done":
                raise RuntimeError(f"one right answer was not enough: {alone.result.reason}")
            single.append(alone.seconds)
        rows.append(run(root / f"task-{number}", service, samples))
    return rows, single


def main() -> int:
    """Print the figures; 0 if they are reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--right", type=float, default=0.25)
    parser.add_argument("--answer-s", type=float, default=1.0)
    parser.add_argument("--limits", action="store_true")
    given = parser.parse_args()
    service = Service(right=given.right, answer_s=given.answer_s, limited=given.limits)
    with tempfile.TemporaryDirectory() as root:
        tempfile.tempdir = str(Path(root) / "temporary")  # of runs, so that what they leave is theirs
        Path(tempfile.tempdir).mkdir()
        rows, single = measure(Path(root), service, tasks=given.tasks, samples=given.samples)
        tempfile.tempdir = None
    solved = sum(row.result.outcome == "done" for row in rows)
    one = statistics.median(single)
    times = sorted(row.seconds / one for row in rows)
    left = [what for row in rows for what in row.left]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{given.samples} answers, each right with probability {given.right}, {given.answer_s} s an answer")
    print(f"solved: {solved} of {given.tasks}; calls: {sum(row.result.usage.calls for row in rows)}; left: {left or 0}")
    print(f"one answer and its check: median {one:.2f} s, {min(single):.2f} to {max(single):.2f} s")
    within = sum(value <= TIMES_ALLOWED for value in times)
    print(
        f"times as long: median {statistics.median(times):.2f}, most {times[-1]:.2f}; up to 2: {within} of {len(rows)}"
    )
    print(f"load of {os.cpu_count()} processors: {load}")
    if given.limits:
        least_s = max(0.0, service.counted - TOKENS) * FILLED_S / TOKENS
        total_s = sum(row.seconds for row in rows) + sum(single)
        print(f"refused by the service: {service.refused}; all in {total_s:.0f} s, by the limits alone {least_s:.0f} s")
    in_time = given.limits or within == given.tasks
    return 0 if solved >= SOLVED_SHARE * given.tasks and in_time and not left else 1


if __name__ == "__main__":
    sys.exit(main())
