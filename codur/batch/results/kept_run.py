"""What an attempt at a challenge leaves behind, so that it can be examined: record, trace, attempts, result, log."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from msgspec import to_builtins

from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.setup import Keeping
from codur.batch.work import file_name
from codur.errors import StateError, UsageError, reason_of
from codur.events import Emit, Event
from codur.lazy import regex
from codur.redaction import Redactor
from codur.sandbox.scratch import remove_tree
from codur.session.record.run_recording import begun_record, ended_record
from codur.session.record.trace import Trace
from codur.store.run_records import RunDirectory
from codur.structs import replace
from codur.types import RunResult, Task

RUNS, EXCHANGE, LOG, ATTEMPTS = "runs", "exchange.jsonl", "codur_debug.log", "attempts.txt"
_PLAIN = regex(rf"{RUNS}/[A-Za-z0-9_-][A-Za-z0-9._-]*")
"""The form of `ChallengeResult.kept`: results may be anyone's, and it becomes a link."""


class KeptRun:
    """One attempt's directory while it goes on; an `Emit` for it.

    Args:
        task: what the run is listed as.
        tell: gets every event.

    Raises:
        StateError: it cannot be made.
    """

    def __init__(self, path: Path, task: Task, redactor: Redactor, tell: Emit, *, log: bool) -> None:
        self._run = RunDirectory(path, redact=redactor)
        try:
            remove_tree(path)  # of the same work, done before
            path.mkdir(parents=True)
            self._log: TextIO | None = (path / LOG).open("w", encoding="utf-8", errors="replace") if log else None
        except OSError as error:
            raise StateError(f"{path} cannot be written: {reason_of(error)}") from error
        self._trace = Trace(tell, redactor, self._run.trace)
        self._begun = time.monotonic()
        self._record = begun_record(path.name, task)
        self._run.write_record(self._record)

    def __call__(self, event: Event) -> None:
        """Keep an event, and tell it.

        Raises:
            StateError: it cannot be written.
        """
        self._trace(event)
        if self._log is not None:
            self._log.write(_words(event, time.monotonic() - self._begun))
            self._log.flush()

    def end(self, result: RunResult) -> None:
        """Keep the result, and what each of its attempts changed and came to.

        Raises:
            StateError: it cannot be written.
        """
        self._run.write_result(to_builtins(result))
        if result.attempts:
            (self._run.path / ATTEMPTS).write_text(_attempts(result), encoding="utf-8", errors="replace")
        self._record = ended_record(self._record, result)
        self._run.write_record(self._record)

    def close(self) -> None:
        """Close the files; without a result, the record says that there is none."""
        if self._record.status == "running":
            self._run.write_record(replace(self._record, status="crashed"))
        self._trace.close()
        if self._log is not None:
            self._log.close()


@contextmanager
def kept_run(keeping: Keeping, name: str, task: Task, redactor: Redactor, tell: Emit) -> Iterator[KeptRun | None]:
    """The directory of an attempt while it goes on; None if nothing is kept."""
    if not keeping.below:
        yield None
        return
    path = Path(keeping.below) / name
    run = KeptRun(path, task, redactor, tell, log=keeping.log)
    try:
        yield run
    finally:
        run.close()


def kept_place(result: ChallengeResult) -> str:
    """Where a result's run is kept, relative to the results; empty if that is no plain name below `runs`."""
    return result.kept if _PLAIN.fullmatch(result.kept) else ""


def find_run(directory: Path, results: Collection[ChallengeResult], name: str) -> RunDirectory:
    """The kept run of a challenge.

    Args:
        directory: of the results.
        name: the challenge's name, or that of the run's directory, which tells agents and attempts apart.

    Raises:
        UsageError: there is none, or more than one.
    """
    fitting = [item for item in results if kept_place(item) in (f"{RUNS}/{name}", f"{RUNS}/{file_name(name, '', 1)}")]
    fitting = fitting or [item for item in results if item.name == name and kept_place(item)]
    if len(fitting) > 1:
        names = ", ".join(item.kept.removeprefix(f"{RUNS}/") for item in fitting)
        raise UsageError(f"{directory}: {name} was worked on more than once", remedy=f"Name one of: {names}")
    if not fitting or not (directory / fitting[0].kept).is_dir():
        known = ", ".join(sorted({item.name for item in results if kept_place(item)})[:20])
        raise UsageError(
            f"{directory}: nothing is kept of {name!r}",
            remedy=f"Name one of: {known}" if known else "Only `codur solve` of this version keeps runs.",
        )
    return RunDirectory(directory / fitting[0].kept)


def _attempts(result: RunResult) -> str:
    """Each attempt with what it changed and what the check said of it."""
    parts = [
        f"attempt {each.number} by {each.by}: {each.summary or 'no summary'}\n"
        f"verdict: {each.progress:.0%} of the check\n{each.error}\n\n{each.diff or '(nothing was changed)'}\n"
        for each in result.attempts
    ]
    return "\n".join(parts)


def _words(event: Event, seconds: float) -> str:
    """An event as a line of a log; longer texts below it."""
    given = {
        name: value for name, value in to_builtins(event).items() if name != "event" and value not in ("", (), None)
    }
    texts = {name: value for name, value in given.items() if isinstance(value, str) and "\n" in value}
    short = " ".join(f"{name}={value!r}" for name, value in given.items() if name not in texts)
    lines = [f"{seconds:9.3f} {event.kind} {short}".rstrip()]
    lines += [f"    {name}: {row}" for name, value in texts.items() for row in value.splitlines()]
    return "\n".join(lines) + "\n"
