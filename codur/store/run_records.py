"""The records of runs: one directory a run, which only its owner may enter.

    <state>/runs/<id>/run.json           what was asked, where, and what became of it; replaced as a whole
                     /trace.jsonl        the events
                     /steps.jsonl        what each finished node decided, to go on from
                     /journal.jsonl      what was changed in the workspace
                     /result.json        the whole result
                     /artifacts/         outputs of steps
                     /quarantine/        what programs made and must not leave behind

Nothing that is here is deleted because it cannot be read: it is told, and left where it is.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.errors import UsageError, reason_of
from codur.lazy import regex
from codur.redaction import redact_value
from codur.store import atomic
from codur.store.append_log import AppendLog
from codur.store.atomic import PRIVATE_DIRECTORY, state_errors, write_private
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord, UnusableRecord, record_from
from codur.structs import Struct, replace

_ID = regex(r"\d{8}-\d{4}-[a-z2-7]{3,}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"  # 32, so that each byte stands for one of them as often
_MAX_BYTES = 16_000_000  # a result with long outputs; more is no record
_RECORD, _RESULT, _PLAN = "run.json", "result.json", "plan.yaml"


class Unreadable(Struct):
    """A run whose record cannot be read, and why."""

    id: str
    problem: str


class RunDirectory:
    """One run's directory.

    Args:
        path: the directory; `RunStore.new` makes it.
        redact: applied to every text that is written here.
    """

    def __init__(self, path: Path, *, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self.id = path.name
        self.redact = redact
        self.journal = path / "journal.jsonl"
        self.artifacts = path / "artifacts"
        self.quarantine = path / "quarantine"
        self.trace = AppendLog(path / "trace.jsonl")
        self.steps = AppendLog(path / "steps.jsonl")

    def record(self) -> RunRecord:
        """The record; a run whose process has gone is `crashed`.

        Raises:
            UsageError: it is missing, damaged or of a newer version of Codur.
        """
        try:
            record = record_from(self._json(_RECORD), self.id)
        except UnusableRecord as problem:
            raise _unusable(self, str(problem)) from problem
        if record.status == "running" and not is_alive(record.pid, record.process):
            return replace(record, status="crashed")
        return record

    def write_record(self, record: RunRecord) -> None:
        """Replace the record. Raises StateError: it cannot be written."""
        self._replace(_RECORD, to_builtins(record))

    def result(self) -> dict[str, Any] | None:
        """The whole result; None if the run never came to one. Raises UsageError: it is damaged."""
        return self._json(_RESULT) if (self.path / _RESULT).exists() else None

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Keep the whole result. Raises StateError: it cannot be written."""
        self._replace(_RESULT, result)

    def write_plan(self, text: str) -> Path:
        """Keep a plan file; gives its path. Raises StateError: it cannot be written."""
        path = self.path / _PLAN
        with state_errors(path):
            write_private(path, text.encode("utf-8", "replace"))
        return path

    def _json(self, name: str) -> dict[str, Any]:
        try:
            with (self.path / name).open("rb") as stream:
                value = json.loads(stream.read(_MAX_BYTES))
        except OSError as error:
            raise _unusable(self, f"{name} cannot be read: {reason_of(error)}") from error
        except (ValueError, RecursionError) as error:
            raise _unusable(self, f"{name} is damaged") from error
        if not isinstance(value, dict):
            raise _unusable(self, f"{name} is not a record of Codur")
        return value

    def _replace(self, name: str, value: Mapping[str, Any]) -> None:
        with state_errors(self.path):
            write_private(self.path / name, json.dumps(redact_value(value, self.redact)).encode("ascii"))


NEWEST = "last"
"""The word for the newest run."""


class RunStore:
    """All runs of a state directory.

    Args:
        state: where they are; `prepare` is the caller's to call before `new`.
        redact: applied to every text that is written.
    """

    def __init__(self, state: StateDirectory, *, redact: Callable[[str], str] = str) -> None:
        self._root = state.runs
        self._redact = redact

    def new_id(self, now: datetime | None = None) -> str:
        """An id that no run has: the time (UTC) and three letters."""
        time = (now or datetime.now(UTC)).strftime("%Y%m%d-%H%M")
        letters = 3  # short enough to be typed; more only where they are taken
        while (self._root / (name := f"{time}-{_some(letters)}")).exists():
            letters += 1
        return name

    def new(self, record: RunRecord) -> RunDirectory:
        """Make a run's directory, with the record in it. Raises StateError: it cannot be made."""
        path = self._root / record.id
        with state_errors(self._root):
            path.mkdir(mode=PRIVATE_DIRECTORY)
        run = RunDirectory(path, redact=self._redact)
        run.write_record(record)
        return run

    def open(self, run_id: str) -> RunDirectory:
        """The directory of a run by its whole id."""
        return RunDirectory(self._root / run_id, redact=self._redact)

    def list(self, workspace: Path | None = None) -> Sequence[RunRecord]:
        """The records that can be read, newest first; those of one workspace if it is given."""
        return self.scan(workspace)[0]

    def scan(self, workspace: Path | None = None) -> tuple[Sequence[RunRecord], Sequence[Unreadable]]:
        """As `list`, and what could not be read."""
        records, unreadable = [], []
        for run_id in self._ids():
            try:
                record = self.open(run_id).record()
            except UsageError as error:
                unreadable.append(Unreadable(id=run_id, problem=error.message))
                continue
            if workspace is None or record.workspace == str(workspace):
                records.append(record)
        return sorted(records, key=lambda record: (record.started, record.id), reverse=True), unreadable

    def find(
        self,
        wanted: str | None = None,
        *,
        workspace: Path | None = None,
        fits: Callable[[RunRecord], bool] | None = None,
        that: str = "is kept",
    ) -> RunDirectory:
        """The run with this id, or with this unique beginning of one; without any, or for `last`, the newest.

        Args:
            workspace, fits: for the newest, only runs of this directory that fit are looked at.
            that: what those do that fit, for the error.

        Raises:
            UsageError: there is none, or more than one begins so.
        """
        if wanted in (None, NEWEST):
            return self._newest(workspace, fits, that)
        found = [run_id for run_id in self._ids() if run_id.startswith(wanted)] if wanted else []
        if wanted in found:
            found = [wanted]
        if len(found) == 1:
            return self.open(found[0])
        if found:
            raise UsageError(
                f"{len(found)} runs begin with {wanted!r}: {', '.join(found[:5])}", remedy="Give more of the id."
            )
        raise UsageError(f"there is no run {wanted[:60]!r}", remedy="`codur runs --all` lists the runs that are kept.")

    def _newest(self, workspace: Path | None, fits: Callable[[RunRecord], bool] | None, that: str) -> RunDirectory:
        for record in self.list(workspace):
            if fits is None or fits(record):
                return self.open(record.id)
        where = f" of {workspace}" if workspace else ""
        raise UsageError(f"no run{where} {that}", remedy="`codur runs --all` lists the runs that are kept.")

    def _ids(self) -> Sequence[str]:
        """Ids in the order of their times; what has no such name was not put there by Codur."""
        try:
            with os.scandir(self._root) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(
                f"{self._root} cannot be read: {reason_of(error)}",
                remedy="Check its permissions, or set XDG_STATE_HOME.",
            ) from error
        return sorted(name for name in names if _ID.fullmatch(name))


def this_process() -> dict[str, Any]:
    """The fields of a record that name this process."""
    return {"pid": os.getpid(), "process": mark_of(os.getpid())}


def _some(letters: int) -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(letters))


def _unusable(run: RunDirectory, problem: str) -> UsageError:
    return UsageError(
        f"the record of run {run.id} cannot be used: {problem}", remedy=f"It is left as it is, in {run.path}."
    )


_START_FIELD = 22  # field of `/proc/<pid>/stat` with the start, in clock ticks since boot (proc_pid_stat(5))


def mark_of(pid: int) -> str:
    """What tells a process from a later one with the same id; empty where the system does not say, or it has ended."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    after_name = stat.rpartition(")")[2].split()  # a name may hold blanks and brackets
    if after_name[:1] == ["Z"]:  # ended, and only not yet waited for
        return ""
    return f"{boot}:{after_name[_START_FIELD - 3]}"


def is_alive(pid: int, mark: str) -> bool:
    """Whether the process is there that had this id and this mark."""
    # Where processes have marks, one without is gone: its record was written in its last moment.
    if mark or Path("/proc/self/stat").exists():
        return bool(mark) and mark_of(pid) == mark
    return atomic.is_alive(pid)
