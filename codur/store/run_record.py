"""What a run's `run.json` holds, and reading it back without trusting it."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import ValidationError

from codur.structs import Struct, convert, field, names

RunStatus = Literal["running", "finished", "interrupted", "crashed"]

SCHEMA: Final = 1
_LATER = {"graph"}  # fields that older records do not have


class UnusableRecord(ValueError):
    """A record is no record, or not one of this version; the text says why."""


class RunSummary(Struct):
    """What a run ended with, as far as a list shows it; costs in US dollars, times in seconds."""

    outcome: str = ""
    exit_code: int = 0
    reason: str = ""
    verdict: str = ""
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_s: float = 0.0
    changed_files: tuple[str, ...] = ()


class RunRecord(Struct):
    """What `run.json` holds."""

    schema: int = SCHEMA
    id: str
    prompt: str
    workspace: str  # the directory, absolute and without links
    started: str  # time of the start, UTC, ISO 8601
    # pid, process: the process that carries it out, and what tells it from a later one with the same id
    pid: int = 0
    process: str = ""
    version: str = ""
    sandbox: str = "none"
    sandbox_note: str = ""
    task: Mapping[str, Any] = field(default_factory=dict)  # the task's fields as the session keeps them, to go on with
    secret: bool = False  # the task held something secret, which is not kept; it cannot be gone on with
    resumed: int = 0  # how often it was gone on with
    graph: str = ""  # what tells the graph that it takes from those of other versions; empty if unknown
    status: RunStatus = "running"
    summary: RunSummary = RunSummary()

    @property
    def can_be_resumed(self) -> bool:
        """Whether it was cut off, and its task was kept."""
        return self.status in {"interrupted", "crashed"} and bool(self.task)


def record_from(value: Mapping[str, Any], run_id: str) -> RunRecord:
    """The record that a JSON object is.

    Args:
        run_id: the run that it must be of.

    Raises:
        UnusableRecord: it is none, or a newer version wrote it.
    """
    schema = value.get("schema")
    # Told apart from damage: a newer Codur can still read it.
    if isinstance(schema, int) and schema > SCHEMA:
        raise UnusableRecord("it was written by a newer version of Codur")
    try:
        record: RunRecord = convert(value, RunRecord)
    except ValidationError as error:
        raise UnusableRecord("it is damaged") from error
    whole = value.keys() >= {*names(RunRecord)} - _LATER and value["summary"].keys() >= {*names(RunSummary)}
    if record.id != run_id or not whole:
        raise UnusableRecord("it is damaged")
    return record
