"""Batches in tests: real directories, a real worker process, and a way to end it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.batch.batch_run import BatchResult, EngineOf, Output, solve_batch
from codur.batch.discovery import find_challenges
from codur.batch.engines.worker_supervisor import Supervisor
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.earlier import Mode
from codur.batch.results.progress import Watch
from codur.batch.setup import Place, Setup
from codur.batch.work import Work, work_of
from codur.config.settings import Settings
from codur.events import ModelPrompted
from codur.types import Limits
from tests.runs.kit import fill, host

PATIENCE_S = 300.0
BUG = {"main.py": "print(2)\n", "expected.txt": "1\n", "prompt.txt": "fix main.py\n"}
"""A challenge that nobody solves without a model when the search is off."""
SEARCH_OFF = structs.replace(Settings(), repair=structs.replace(Settings().repair, mode="off"))


def nothing(*_: object) -> None:
    """What a watch does by default."""


@dataclass
class Watched(Watch):
    """A watch that remembers what it saw, and calls back."""

    on_start: Callable[[Work], None] = nothing
    on_finish: Callable[[Work], None] = nothing
    on_phase: Callable[[Work, str], None] = nothing
    starts: list[str] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    phases: list[tuple[str, str]] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)
    prompts: list[tuple[str, str]] = field(default_factory=list)

    def started(self, work: Work) -> None:
        self.starts.append(work.title)
        self.on_start(work)

    def phase(self, work: Work, phase: str, calls: int) -> None:
        self.phases.append((work.title, phase))
        self.on_phase(work, phase)

    def finished(self, work: Work, result: ChallengeResult) -> None:
        self.finishes.append(work.title)
        self.on_finish(work)

    def prompted(self, work: Work, request: ModelPrompted) -> None:
        self.prompts.append((work.title, request.text))

    def again(self, work: Work) -> None:
        self.restarts.append(work.title)


def many(directory: Path, number: int, files: dict[str, str] | None = None) -> Path:
    """So many challenges, called `1` and so on."""
    for index in range(1, number + 1):
        fill(directory / str(index), files or BUG)
    return directory


def setup(settings: Settings = SEARCH_OFF, **fields: Any) -> Setup:
    given = {
        "place": Place.of(fields.pop("host", host(key=None))),
        "offline": True,
        "limits": Limits(),
        "processors": 2,
        **fields,
    }
    return Setup(settings=settings, **given)


def solve(
    directories: Path | Sequence[Path],
    results: Path,
    *,
    mode: Mode = "new",
    watch: Watched | None = None,
    which: dict[str, Any] | None = None,
    settings: Settings = SEARCH_OFF,
    junit: Path | None = None,
    engine: EngineOf = Supervisor,
    **fields: Any,
) -> BatchResult:
    """Run a batch to its end, and read its results: another one may write there afterwards."""
    places = [directories] if isinstance(directories, Path) else directories
    batch = solve_batch(
        work_of(find_challenges(places), **(which or {})),
        setup(settings, **fields),
        Output(results=results, mode=mode, junit=junit, engine=engine),
        watch=watch or Watched(),
    )
    return structs.replace(batch, results=tuple(batch.results))


def children(pid: int | None = None) -> list[int]:
    """Processes that a process (by default this one) has started and that still are there."""
    found: list[int] = []
    for task in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def worker_of(pid: int | None = None) -> int:
    """The worker of the batch that goes on in a process (by default this one).

    The system's list of children may lack some while others end (proc(5)), so it is read until the worker is in it.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for child in children(pid):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if b"codur.batch.worker.worker_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return child
        time.sleep(0.01)
    raise AssertionError("there is no worker")


def send_worker(number: signal.Signals) -> None:
    os.kill(worker_of(), number)


def rows(batch: BatchResult) -> list[tuple[str, str]]:
    return [(result.name, result.status) for result in batch.results]


def table(results: Iterable[ChallengeResult]) -> list[tuple[object, ...]]:
    """What two batches must have in common to be the same."""
    return [
        (item.name, item.agent, item.attempt, item.key, item.status, item.tier, item.reason, item.diff, item.verified)
        for item in results
    ]
