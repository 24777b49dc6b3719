"""Progress as data: the engine emits events, `ui` draws them. Nothing here prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codur.questions import PlanEffects, Question
from codur.types import Origin, Plan, RunResult, Tier, Verdict


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
class PlanShown:
    """A plan that the user wants to see, and has approved of beforehand, is about to be carried out."""

    kind: Literal["plan_shown"] = "plan_shown"
    plan: Plan
    effects: PlanEffects


@dataclass(frozen=True, slots=True, kw_only=True)
class TestMade:
    """A test was made for the task and is used without a question; `failure` is how it fails now."""

    __test__ = False  # not a test class

    kind: Literal["test_made"] = "test_made"
    path: str
    text: str
    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRan:
    """The check has run: `before` any change, or after an `attempt`, of which `number` says which it is (from 1)."""

    kind: Literal["check_ran"] = "check_ran"
    when: Literal["before", "attempt"]
    verdict: Verdict
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A request is about to be sent."""

    kind: Literal["model_called"] = "model_called"
    profile: str
    model: str
    purpose: str
    prompt_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrompted:
    """A request as it is sent, without secrets; told only where that is asked for."""

    kind: Literal["model_prompted"] = "model_prompted"
    profile: str
    model: str
    purpose: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChosen:
    """What `auto` stands for in this run; `profile` and `model` are empty if no model is at hand."""

    kind: Literal["model_chosen"] = "model_chosen"
    profile: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelta:
    """The next words of an answer that is streamed; a new request begins a new answer."""

    kind: Literal["answer_delta"] = "answer_delta"
    profile: str
    purpose: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswered:
    kind: Literal["model_answered"] = "model_answered"
    profile: str
    purpose: str
    prompt_tokens: int
    completion_tokens: int
    duration_s: float
    cost_usd: float = 0.0


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
class ToolChosen:
    """The next tool of an agent or of a plan's step: what could follow and who was left to choose (the tier).

    Attributes:
        choice: empty if the choice was left open.
        duration_s: time that it took, in seconds.
        by: who decided; `fallback` is what applies when a model named none.
        scores: how well each of the candidates fits what the tool before gave, 0 to 1; 0 where that is not known.
        settled: what the tool before gave settled all arguments, and the choice took them so; the tool only reads.
        tokens: what the model's answer cost, with its request.
    """

    kind: Literal["tool_chosen"] = "tool_chosen"
    after: str
    tier: Tier
    candidates: tuple[str, ...]
    choice: str
    duration_s: float
    by: Literal["code", "model", "fallback"] = "model"
    scores: tuple[float, ...] = ()
    settled: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """An external agent said something on its way; its last word is the step's output."""

    kind: Literal["agent_message"] = "agent_message"
    agent: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged:
    kind: Literal["file_changed"] = "file_changed"
    path: str
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairProgress:
    """The offline search so far.

    Attributes:
        tried, passing: candidates judged, and those that pass.
        best, best_place: the best progress (0 to 1), and where the candidate that came so far changes something.
        place: where it looks.
    """

    kind: Literal["repair_progress"] = "repair_progress"
    tried: int
    best: float
    place: str = ""
    passing: int = 0
    best_place: str = ""


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
    | PlanShown
    | TestMade
    | CheckRan
    | ModelChosen
    | ModelCalled
    | ModelPrompted
    | AnswerDelta
    | ModelAnswered
    | ModelWaiting
    | ModelSwitched
    | ToolChosen
    | ToolRan
    | AgentMessage
    | FileChanged
    | RepairProgress
    | Note
    | RunFinished
)

Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An `Emit` that drops every event."""
