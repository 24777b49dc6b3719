"""What travels through the graph: `RunState` (small, serialisable) and `RunContext` (everything else)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from codur.events import Emit
from codur.types import (
    Attempt,
    Discovery,
    Outcome,
    Plan,
    RouteStep,
    StepRecord,
    Task,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from codur.agents.registry import AgentRegistry
    from codur.config.prompts import PromptLibrary
    from codur.config.settings import Settings
    from codur.llm.pool import ModelPool
    from codur.sandbox.cancel import CancelToken
    from codur.tools.toolbox import Toolbox
    from codur.verification.checker import Checker
    from codur.workspace.artifacts import ArtifactStore
    from codur.workspace.workspace import Workspace

NodeName = Literal[
    "pattern_plan",
    "llm_pre_plan",
    "llm_plan",
    "policy",
    "repair",
    "coding",
    "tool",
    "delegate",
    "execute",
    "review",
]
Route = NodeName | Literal["end"]


class RunState(TypedDict):
    """The state of a run. Fields with a reducer are updated by what a node adds; the others are replaced."""

    task: Task
    route: Route
    discovery: Discovery
    before: Verdict | None
    verdict: Verdict | None
    plan: Plan | None
    cursor: int
    """Index of the step that policy let through, or of the next one to look at."""
    agent: str
    """The agent that `delegate` picked."""
    outputs: Annotated[dict[str, str], lambda old, new: {**old, **new}]
    """Reference of each finished step's output, by step id."""
    iteration: Annotated[int, add]
    """Attempts judged; only `review` adds to it."""
    replans: Annotated[int, add]
    """Plans sent back by `policy`."""
    stalls: int
    """Attempts in a row without progress."""
    steer: str
    """The hint given to the next attempt after a stall; empty otherwise."""
    attempts: Annotated[list[Attempt], add]
    records: Annotated[list[StepRecord], add]
    usage: Annotated[Usage, add]
    trail: Annotated[list[RouteStep], add]
    notes: Annotated[list[str], add]
    answer_ref: str
    solved_by: str
    outcome: Outcome | None
    reason: str
    remedy: str
