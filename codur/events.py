"""Progress as data: the engine emits events, `ui` draws them. Nothing here prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codur.questions import Question
from codur.types import Origin, RunResult, Tier, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    kind: Literal["run_started"] = "run_started"
    prompt: str
    workspace: str
    sandbox: str = "none"
    sandbox_note: str = ""
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntered:
    kind: Literal["node_entered"] = "node_entered"
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A node has decided: where the run goes, who decided, and why."""

    kind: Literal["decided"] = "decided"
    node: str
    route: str
    origin: Origin
    tier: Tier
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The user is asked, and the run waits for the answer."""

    kind: Literal["asked"] = "asked"
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRan:
    """The check has run; `when` is `before` any change, after an `attempt`, or to `confirm` a pass."""

    kind: Literal["check_ran"] = "check_ran"
    when: Literal["before", "attempt", "confirm"]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A request is about to be sent."""

    kind: Literal["model_called"] = "model_called"
    profile: str
    model: str
    purpose: str
    prompt_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswered:
    kind: Literal["model_answered"] = "model_answered"
    profile: str
    purpose: str
    prompt_tokens: int
    completion_tokens: int
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWaiting:
    """A request failed in a way that passes; it is sent again after `seconds`."""

    kind: Literal["model_waiting"] = "model_waiting"
    profile: str
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitched:
    kind: Literal["model_switched"] = "model_switched"
    from_profile: str
    to_profile: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRan:
    kind: Literal["tool_ran"] = "tool_ran"
    tool: str
    code: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged:
    kind: Literal["file_changed"] = "file_changed"
    path: str
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairProgress:
    """The offline search so far: candidates judged, the best progress (0 to 1), where it looks."""

    kind: Literal["repair_progress"] = "repair_progress"
    tried: int
    best: float
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One line that the user should see."""

    kind: Literal["note"] = "note"
    level: Literal["info", "warning"] = "info"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    kind: Literal["run_finished"] = "run_finished"
    result: RunResult


Event = (
    RunStarted
    | NodeEntered
    | Decided
    | Asked
    | CheckRan
    | ModelCalled
    | ModelAnswered
    | ModelWaiting
    | ModelSwitched
    | ToolRan
    | FileChanged
    | RepairProgress
    | Note
    | RunFinished
)

Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An `Emit` that drops every event."""
