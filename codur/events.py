"""Progress as data: the engine emits events, `ui` draws them. Nothing here prints."""

from collections.abc import Callable
from typing import Literal

from codur.questions import PlanEffects, Question
from codur.structs import Struct
from codur.types import Origin, Plan, RunResult, Tier, Verdict


class _Event(Struct, tag_field="event"):
    @property
    def kind(self) -> str:
        """Its name in a trace and in JSON."""
        return str(self.__struct_config__.tag)


class RunStarted(_Event, tag="run_started"):
    prompt: str
    workspace: str
    sandbox: str = "none"
    sandbox_note: str = ""
    run_id: str = ""


class NodeEntered(_Event, tag="node_entered"):
    node: str


class Decided(_Event, tag="decided"):
    """A node has decided: where the run goes, who decided, and why."""

    node: str
    route: str
    origin: Origin
    tier: Tier
    reason: str = ""


class Asked(_Event, tag="asked"):
    """The user is asked, and the run waits for the answer."""

    question: Question


class PlanShown(_Event, tag="plan_shown"):
    """A plan that the user wants to see, and has approved of beforehand, is about to be carried out."""

    plan: Plan
    effects: PlanEffects


class StepBegan(_Event, tag="step_began"):
    """A step of a plan of several is about to be carried out: which (from 1), and what each of them is for."""

    number: int
    steps: tuple[str, ...]


class TestMade(_Event, tag="test_made"):
    """A test was made for the task and is used without a question; `failure` is how it fails now."""

    __test__ = False  # not a test class

    path: str
    text: str
    failure: str


class CheckBegan(_Event, tag="check_began"):
    """The check is about to be run: what it is, in a few words."""

    check: str


class CheckRan(_Event, tag="check_ran"):
    """The check has run: `before` any change, or after an `attempt`, of which `number` says which it is (from 1).

    Records of earlier versions told apart what was left of a pass when it was looked at closely (`confirm`).
    """

    when: Literal["before", "attempt", "confirm"]
    verdict: Verdict
    number: int = 0


class ModelCalled(_Event, tag="model_called"):
    """A request is about to be sent."""

    profile: str
    model: str
    purpose: str
    prompt_chars: int


class ModelPrompted(_Event, tag="model_prompted"):
    """A request as it is sent, without secrets; told only where that is asked for."""

    profile: str
    model: str
    purpose: str
    text: str


class ModelChosen(_Event, tag="model_chosen"):
    """What `auto` stands for in this run; `profile` and `model` are empty if no model is at hand."""

    profile: str
    model: str
    reason: str


class AnswerDelta(_Event, tag="answer_delta"):
    """The next words of an answer that is streamed; a new request begins a new answer."""

    profile: str
    purpose: str
    text: str


class ModelAnswered(_Event, tag="model_answered"):
    """An answer is there; `text` is what it says, with the tools that it calls, cut."""

    profile: str
    purpose: str
    prompt_tokens: int
    completion_tokens: int
    duration_s: float
    cost_usd: float = 0.0
    text: str = ""


class ModelWaiting(_Event, tag="model_waiting"):
    """A request failed in a way that passes; it is sent again after `seconds`."""

    profile: str
    seconds: float
    reason: str


class ModelSwitched(_Event, tag="model_switched"):
    from_profile: str
    to_profile: str
    reason: str


class ToolRan(_Event, tag="tool_ran"):
    tool: str
    code: str
    summary: str = ""


class ToolChosen(_Event, tag="tool_chosen"):
    """The next tool of an agent or of a plan's step: what could follow and who was left to choose (the tier).

    Attributes:
        choice: empty if the choice was left open.
        duration_s: time that it took, in seconds.
        by: who decided; `fallback` is what applies when a model named none.
        scores: how well each of the candidates fits what the tool before gave, 0 to 1; 0 where that is not known.
        settled: what the tool before gave settled all arguments, and the choice took them so; the tool only reads.
        tokens: what the model's answer cost, with its request.
    """

    after: str
    tier: Tier
    candidates: tuple[str, ...]
    choice: str
    duration_s: float
    by: Literal["code", "model", "fallback"] = "model"
    scores: tuple[float, ...] = ()
    settled: bool = False
    tokens: int = 0


class AgentMessage(_Event, tag="agent_message"):
    """An external agent said something on its way; its last word is the step's output."""

    agent: str
    text: str


class Guided(_Event, tag="guided"):
    """The user said something while the task works, and models are told it from now on."""

    text: str


class FileChanged(_Event, tag="file_changed"):
    """A file differs from what it was when the run began; `diff` is the beginning of how."""

    path: str
    added: int = 0
    removed: int = 0
    diff: str = ""


class RepairProgress(_Event, tag="repair_progress"):
    """The offline search so far.

    Attributes:
        tried, passing: candidates judged, and those that pass.
        best, best_place: the best progress (0 to 1), and where the candidate that came so far changes something.
        place: where it looks.
    """

    tried: int
    best: float
    place: str = ""
    passing: int = 0
    best_place: str = ""


class Note(_Event, tag="note"):
    """One line that the user should see."""

    level: Literal["info", "warning"] = "info"
    text: str


class RunFinished(_Event, tag="run_finished"):
    result: RunResult


Event = (
    RunStarted
    | NodeEntered
    | Decided
    | Asked
    | PlanShown
    | StepBegan
    | TestMade
    | CheckBegan
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
    | Guided
    | FileChanged
    | RepairProgress
    | Note
    | RunFinished
)

Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An `Emit` that drops every event."""
