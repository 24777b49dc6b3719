"""What travels through the graph: `RunState` (small, serialisable) and `RunContext` (everything else)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from operator import add, or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast, get_args, get_origin, get_type_hints

from codur import planning
from codur.events import Emit, Guided
from codur.lazy import regex
from codur.patches import RepairReport
from codur.questions import Answer, Guidance, PlanEffects, Question
from codur.structs import Struct, field
from codur.types import (
    Attempt,
    Check,
    Discovery,
    Outcome,
    Plan,
    RouteStep,
    ScopeViolation,
    StepRecord,
    Task,
    ToolCall,
    Usage,
    Verdict,
)
from codur.workspace.private import may_hold_secrets

if TYPE_CHECKING:
    from codur.agents.external.delegation import ExternalAgents
    from codur.agents.instruction_text import Instructions
    from codur.agents.registry import AgentRegistry
    from codur.checks.checker import Checker
    from codur.config.prompts import PromptLibrary
    from codur.config.settings import Settings
    from codur.context.index import RepositoryIndex
    from codur.context.ranking import TestRun
    from codur.llm.pool import ModelPool
    from codur.sandbox.cancel import CancelToken
    from codur.sandbox.launcher import Launcher
    from codur.tools.toolbox import Toolbox
    from codur.workspace.artifacts import ArtifactStore
    from codur.workspace.workspace import Snapshot, Workspace

NodeName = Literal[
    "pattern_plan",
    "llm_pre_plan",
    "llm_plan",
    "policy",
    "make_check",
    "consult",
    "repair",
    "choose",
    "coding",
    "tool",
    "delegate",
    "execute",
    "review",
    "accept",
]
Route = NodeName | Literal["end"]


DATA, DEPENDENCIES = "data", "dependencies"
"""What follows a step's id in the keys of its typed output, and of what the files import that it read."""


def merge_outputs(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Reducer: the new keys over the old ones; with a step's output goes all that an earlier step of its id gave."""
    gone = {f"{step_id}.{kind}" for step_id in new for kind in (DATA, DEPENDENCIES)}
    return {**{key: value for key, value in old.items() if key not in gone}, **new}


class PlanFields(TypedDict, total=False):
    """What is to be done next, by whom, and what the user says of it."""

    route: Route
    discovery: Discovery
    plan: Plan | None
    cursor: int
    """Index of the step that policy let through, or of the next one to look at."""
    since: int
    """How many steps were on record when the present plan was accepted."""
    agent: str
    """The agent that `delegate` picked, for `execute`."""
    coder: str
    """The agent that edits from now on, if `review` handed over; empty: as the plan says."""
    replans: Annotated[int, add]
    """Plans sent back because they could not be carried out, from the start or after a step that failed."""
    rejections: Annotated[int, add]
    """Plans sent back because the user rejected them and said why."""
    answers: Annotated[int, add]
    """Plans made anew because the user answered the question that the last one ended with."""
    question: Question | None
    """What the user is asked now."""
    answer: Answer | None
    """What came back; `policy` takes it from there."""
    approved: PlanEffects | None
    """What the user has approved of: plans that do no more than this need no further approval."""
    making: Literal["", "made", "without"]
    """Whether a test was made for the task, or found among those that fail; empty while it was not tried."""
    test_knows: int
    """Of what the user said while the task worked, so much was said when that test was written."""
    proposed: Check | None
    """A test that was made, while the user is asked about it."""
    keep_test: bool
    """The test that was made stays if the task is done."""


class ProgressFields(TypedDict, total=False):
    """What was done, and what the check said of it."""

    before: Verdict | None
    verdict: Verdict | None
    outputs: Annotated[dict[str, str], merge_outputs]
    """Reference of each finished step's output, by step id; of more that it gave, by `ID.data`, `ID.dependencies`."""
    iteration: Annotated[int, add]
    """Attempts judged; only `review` adds to it."""
    stalls: int
    """Attempts in a row without progress, of the agent at work."""
    steer: str
    """The hint given to the next attempt after a stall; empty otherwise."""
    failures: Annotated[dict[str, Verdict], or_]
    """The verdict on each change that failed, by the name of the change (`Attempt.edit`)."""
    looked: list[str]
    """What the coding agent had a look at, as `path:start-end`, the latest last; its next request shows it."""
    repair: RepairReport | None
    """What the last offline search came to."""
    patched: tuple[str, ...]
    """References of the new texts of each of its repairs, in their order."""
    attempts: Annotated[list[Attempt], add]
    records: Annotated[list[StepRecord], add]
    usage: Annotated[Usage, add]
    trail: Annotated[list[RouteStep], add]
    notes: Annotated[list[str], add]
    guidance: Annotated[list[str], add]
    """What the user said while the task worked."""
    violations: Annotated[list[ScopeViolation], add]
    """What programs changed out of scope."""


class EndFields(TypedDict, total=False):
    """How the run ends, once that is decided."""

    answer_ref: str
    solved_by: str
    outcome: Outcome | None
    stays: bool
    """The work is finished, and stays although the run does not end as done."""
    reason: str
    remedy: str


class RunUpdate(PlanFields, ProgressFields, EndFields, total=False):
    """What a node returns: the fields that it changes; for fields with a reducer, what it adds."""


class RunState(RunUpdate):
    """The state of a run: every field of an update, and the task, which no node changes."""

    task: Task


def initial_state(task: Task) -> RunState:
    """The state in which a run starts: all of it is empty but for what the task says."""
    told = {"task": task, "route": "pattern_plan", "keep_test": task.keep_test}
    empty = {name: _empty(kind) for name, kind in get_type_hints(RunState).items() if name not in told}
    return cast("RunState", {**empty, **told})


def _empty(kind: Any) -> Any:
    """The value of a field of this type that nothing was put into."""
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return None if type(None) in get_args(kind) else (get_origin(kind) or kind)()


def apply(state: RunState, update: RunUpdate) -> RunState:
    """The state after an update: reducers add, other fields are replaced, as LangGraph does."""
    merged: dict[str, Any] = dict(state)
    reducers = _reducers()
    for key, value in update.items():
        merged[key] = reducers[key](merged[key], value) if key in reducers else value
    return cast("RunState", merged)


@cache
def _reducers() -> dict[str, Callable[[Any, Any], Any]]:
    """The reducer of each field that has one."""
    hints = get_type_hints(RunState, include_extras=True)
    return {key: hint.__metadata__[0] for key, hint in hints.items() if hasattr(hint, "__metadata__")}


_EARLIER = "Earlier in this conversation, the latest first (only for what the task refers to):"
_DIFFS = regex(
    r"^(Changed|Tried, and put back):\n(?=diff --git )"
    r"(?:(?:[-+ @\\…]|diff |index |new |deleted |old |similarity |rename |copy ).*\n?)+",
    re.MULTILINE,
)
_CHANGED_FILE = regex(r"^diff --git a/.* b/(.+)$", re.MULTILINE)
_OLDER = (
    "(The test that was written for this task is older than the last of that. What was said holds, whatever the test "
    "expects: where it contradicts that, do as was said, and call finish beside your edits to say so.)"
)


def task_told(state: RunState, *, in_short: bool = False) -> str:
    """The task as models are told it, with what was said since and what came before, of that `in_short` the files."""
    task = state["task"]
    older = (_OLDER,) if is_test_older(state) else ()
    before = _DIFFS.sub(_named_files, task.earlier) if in_short else task.earlier
    earlier = (f"{_EARLIER}\n{before}",) if before else ()
    return "\n\n".join((task.said_with(state["guidance"]), *older, *earlier))


def _named_files(diffs: re.Match[str]) -> str:
    return f"{diffs[1]}: {', '.join(dict.fromkeys(_CHANGED_FILE.findall(diffs[0])))}"


def is_test_older(state: RunState) -> bool:
    """Whether the test that was made for the task, and is its check, knows less than the user has said by now."""
    return state["making"] == "made" and len(state["guidance"]) > state["test_knows"]


class BestState(Struct, frozen=False, kw_only=False):
    """The best state of the workspace so far, which `--keep` leaves behind, and where the next attempt starts from.

    They differ only after an agent took over that starts from the clean workspace.

    Attributes:
        snapshot, start: the workspace's contents; None is the workspace as it was found.
        progress, start_progress: the progress of their verdicts; below 0 while nothing was checked.
        first: the first state that came no further, and lost nothing; if there is none, the last that lost something.
        lost: `first` is of that kind, which `--keep` does not leave behind.
        part: the last state that mends all tests that run what it changes; it stays.
        apart: the tests that fail there all the same.
        harmless: the last state that fails in nothing but what failed before; an agent may say that the task is done.
        words: what tests said that failed before anything was changed, by their ids.
        claimed: what the agent said, with its last edit, of the tests that failed before: why they do not count.
        waiting: edits that an agent gave and that wait for the user's leave.
        unusable: the check that could not be run as the program was.
        retaken: the user changed files of the check while he was asked, so that no earlier verdict holds.
    """

    snapshot: Snapshot | None = None
    progress: float = -1.0
    start: Snapshot | None = None
    start_progress: float = -1.0
    first: Snapshot | None = None
    lost: bool = False
    part: Snapshot | None = None
    apart: tuple[str, ...] = ()
    harmless: Snapshot | None = None
    words: dict[str, str] = field(default_factory=dict)
    claimed: str = ""
    waiting: tuple[ToolCall, ...] = ()
    unusable: Check | None = None
    retaken: bool = False

    def found(self, progress: float) -> None:
        """Take note of how far the untouched workspace comes."""
        self.progress = self.start_progress = progress

    def gained(self, snapshot: Snapshot, progress: float) -> None:
        """Start from this state, which came further, from now on."""
        self.start, self.start_progress = snapshot, progress
        if progress > self.progress:
            self.snapshot, self.progress = snapshot, progress

    def reached(self, snapshot: Snapshot, progress: float) -> None:
        """Take note of a state that came no further than the untouched workspace."""
        if self.first is None or self.lost:
            self.first, self.lost = snapshot, progress < self.progress

    @property
    def furthest(self) -> Snapshot | None:
        """The state that is worth most of those that are no solution; None if there is none."""
        known = (self.snapshot, self.harmless, None if self.lost else self.first)
        return next((state for state in known if state is not None), None)

    def start_clean(self, progress: float) -> None:
        """Start from the workspace as it was found."""
        self.start, self.start_progress = None, progress


class Latest(Struct, frozen=False, kw_only=False):
    """The state after the last node that ran, so that a run that is stopped can still tell what it did."""

    state: RunState | None = None


class RunContext(Struct):
    """What nodes work with and the state must not hold: configuration, clients, the workspace."""

    settings: Settings
    workspace: Workspace
    launcher: Launcher
    find_python: Callable[[], str]
    find_checker: Callable[[], Checker]
    toolbox: Toolbox
    find_repository: Callable[[], RepositoryIndex]
    models: ModelPool
    agents: AgentRegistry
    instructions: Instructions
    find_externals: Callable[[], ExternalAgents]
    prompts: PromptLibrary
    artifacts: ArtifactStore
    cancel: CancelToken
    emit: Emit
    time_left: Callable[[], float]  # seconds until the run's time limit
    scratch: Callable[[], Path]  # makes an empty directory outside the workspace; the session removes it at the end
    best: BestState
    latest: Latest
    consult: Callable[[Question], Answer] | None = None  # asks the user; None if there is nobody to ask
    # what tests executed, by the failing ones that were run for it
    traced: dict[tuple[str, ...], tuple[TestRun, ...]] = field(default_factory=dict)
    # sets of failing tests that were seen to fail by themselves as they do among all others
    alone: set[tuple[str, ...]] = field(default_factory=set)
    # waits until an offline search may begin, as it keeps the processors busy; held while it lasts
    search_turn: Callable[[], AbstractContextManager[object]] = nullcontext
    # keeps a plan for later; gives the path of its file, or an empty text if nothing is kept
    keep_plan: Callable[[Plan], str] = lambda _plan: ""
    guidance: Guidance = field(default_factory=Guidance)  # what the user says meanwhile
    load_graph: Callable[[], object] = nullcontext  # loads what asks models, which takes longer than most checks

    @property
    def python(self) -> str:
        """The workspace's interpreter; it, and the next three, are found when a run first needs them."""
        return self.find_python()

    @property
    def checker(self) -> Checker:
        """Runs the check."""
        return self.find_checker()

    @property
    def repository(self) -> RepositoryIndex:
        """What is known of the workspace's sources."""
        return self.find_repository()

    @property
    def externals(self) -> ExternalAgents:
        """The agents that are other programs."""
        return self.find_externals()

    @property
    def for_models(self) -> Workspace:
        """The workspace as models see it: without the content of files that may hold secrets, and of links to them."""
        return self.workspace.withholding(may_hold_secrets)

    def heard(self) -> tuple[str, ...]:
        """All that the user has said, for a request that is about to be made; what is new of it is told."""
        before = len(self.guidance.given)
        said = self.guidance.take()
        for text in said[before:]:
            self.emit(Guided(text=text))
        return said

    @property
    def asker(self) -> planning.replies.Asker:
        """Who is asked what has to be planned and judged."""
        return planning.replies.Asker(self.models, self.prompts, self.settings.planning.max_retry_attempts)
