"""What a run does with its exchange with models, besides having it: records it, replays it, shows it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur import __version__
from codur.events import Note
from codur.llm import replay
from codur.llm.clock import Clock
from codur.structs import Struct

if TYPE_CHECKING:
    from codur.config.settings import Settings
    from codur.session.record.run_recording import Recording
    from codur.types import Task


class Exchanges(Struct):
    """What the user wants with the exchange."""

    record: Path | None = None  # a file to make of it; None for none
    replay: Path | None = None  # a file to answer from, instead of asking anybody; None for none
    show: bool = False  # show each request as it is sent


class SkippedTime(Clock):
    """A clock for runs that wait for nobody: what was to be slept through has passed at once."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def now(self) -> float:
        """The time, in seconds."""
        return time.time() + self._skipped

    monotonic = now

    async def sleep(self, seconds: float) -> None:
        """Skip these seconds."""
        self._skipped += seconds


@contextmanager
def exchanging(wanted: Exchanges, task: Task, settings: Settings, record: Recording) -> Iterator[dict[str, Any]]:
    """Which `PoolOptions` differ from other runs'. Raises UsageError: a recording cannot be made, or not be read."""
    arguments: dict[str, Any] = {"prompted": partial(record.prompted, show=wanted.show)}
    if wanted.replay is not None:
        arguments |= _replay(wanted.replay, task, settings, record)
    if wanted.record is None:
        yield arguments
        return
    recorder = replay.Recorder(
        wanted.record, task=task.prompt, workspace=task.workspace, version=__version__, redactor=record.redactor
    )
    try:
        yield {**arguments, "recorder": recorder}
    finally:
        recorder.close()


def _replay(path: Path, task: Task, settings: Settings, record: Recording) -> dict[str, Any]:
    replayed = replay.Replay(
        replay.read_recording(path),
        workspace=task.workspace,
        tell=lambda text: record.emit(Note(level="warning", text=text)),
    )
    # Nothing of a replay is shared: it spends no budget and waits for nobody.
    return {"models": replayed.models(settings.llm.profiles), "clock": SkippedTime(), "shared": None}
