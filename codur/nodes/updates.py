"""Small helpers that nodes share to write their updates."""

from __future__ import annotations

import json
from collections.abc import Iterable

from codur.errors import CodurError, LimitReached, ModelAnswerError, ModelUnavailable
from codur.events import FileChanged
from codur.nodes.state import NodeName, Route, RunContext, RunState, RunUpdate
from codur.planning.references import Output
from codur.planning.schedule import blocked_by
from codur.types import CODE_TASKS, Origin, Outcome, Plan, RouteStep, Step, StepRecord, Tier
from codur.workspace.diff import line_counts

DATA = "data"
"""What follows a step's id in the key of its typed output."""


def go(node: NodeName, route: Route, *, origin: Origin, tier: Tier = "deterministic", reason: str = "") -> RunUpdate:
    """The update that routes, with the decision on record."""
    return RunUpdate(route=route, trail=[RouteStep(node=node, route=route, origin=origin, tier=tier, reason=reason)])


def tell_changes(paths: Iterable[str], context: RunContext) -> None:
    """Emit what changed in these files since the run began."""
    changes = {change.path: change for change in context.workspace.changes()}
    for path in paths:
        if path in changes:
            added, removed = line_counts(changes[path].before, changes[path].after)
            context.emit(FileChanged(path=path, added=added, removed=removed))


def why_not(state: RunState, context: RunContext) -> ModelUnavailable:
    """The error for a task that needs a model and has none."""
    agent = state["coder"] or state["task"].agent
    return context.models.why_unavailable(context.agents.resolve(agent).profile if agent else None)


def can_ask(state: RunState, context: RunContext) -> bool:
    """Whether a model can be asked: the default one, or that of the agent that took over or that the user named."""
    agent = state["coder"] or state["task"].agent
    return context.models.available(context.agents.resolve(agent).profile if agent else None)


def edits(step: Step, context: RunContext) -> bool:
    """Whether a step may change files."""
    if step.action == "tool":
        tool = context.toolbox.get(step.capability)
        return tool is not None and tool.side_effect == "write"
    if step.action == "delegate":
        return not context.agents.knows(step.capability) or agent_may_edit(step.capability, context)
    return step.action in {"coding", "repair"}


def agent_may_edit(agent: str, context: RunContext) -> bool:
    """Whether an agent changes files that is asked in words (a profile by itself then explains)."""
    config = context.agents.resolve(agent, in_words=True).config
    tools = [context.toolbox.get(name) for name in config.tools]
    return config.type == "coding" or any(tool is not None and tool.side_effect == "write" for tool in tools)


def unfinished(state: RunState, context: RunContext) -> str:
    """Why a task about code is not done, whatever the plan's last step says; empty if nothing speaks against it."""
    if state["discovery"].task_type not in CODE_TASKS:
        return ""
    verdict = state["verdict"]
    if verdict is not None and verdict.status not in {"passed", "no_check"}:
        return "the check does not pass"
    if (verdict is None or not verdict.passed) and not context.workspace.changed_files():
        return "nothing was changed"
    return ""


def current_step(state: RunState) -> Step:
    """The step that policy let through."""
    plan = state["plan"]
    if plan is None:
        raise AssertionError("a step was asked for before there was a plan")
    return plan.steps[state["cursor"]]


def failed_steps(state: RunState) -> tuple[StepRecord, ...]:
    """The steps of the present plan that failed."""
    return tuple(record for record in state["records"][state["since"] :] if not record.ok)


def blocked(state: RunState) -> tuple[str, ...]:
    """Ids of the steps of the present plan that cannot run, because one whose output they need failed."""
    plan = state["plan"]
    return blocked_by(plan, {record.step_id for record in failed_steps(state)}) if plan else ()


def output_of(step_id: str, state: RunState, context: RunContext) -> Output | None:
    """What a step gave, with its typed output if it has one; None if it gave nothing."""
    outputs = state["outputs"]
    if step_id not in outputs:
        return None
    data = outputs.get(f"{step_id}.{DATA}")
    return Output(
        text=context.artifacts.get(outputs[step_id]), data=json.loads(context.artifacts.get(data)) if data else None
    )


def origin_of(state: RunState) -> Origin:
    """Who made the present plan."""
    return state["plan"].origin if state["plan"] else "pattern"


def outcome_of(error: CodurError) -> Outcome:
    """How a run ends that a model's failure ended: a limit, no model reached, or answers that cannot be used."""
    if isinstance(error, LimitReached):
        return "limit"
    return "not_achieved" if isinstance(error, ModelAnswerError) else "no_model"


def can_repair(state: RunState, context: RunContext) -> bool:
    """Whether an offline search makes sense: a red check, Python sources, not switched off."""
    before = state["before"]
    check = state["discovery"].check
    return (
        (context.settings.repair.mode != "off" or state["task"].repair is not None)
        and context.settings.tools.allow_write
        and context.settings.tools.allow_run
        and before is not None
        and before.status == "failed"
        and check is not None
        and check.kind != "syntax"
        and (state["task"].repair is not None or any(path.endswith(".py") for path in state["discovery"].files))
    )


def repair_tried(state: RunState) -> bool:
    """Whether an offline search has run already."""
    return any(record.node == "repair" for record in state["records"])


def plan_after_model_error(error: CodurError, state: RunState, context: RunContext) -> RunUpdate:
    """What a planning node decides when no model answers: offline work if there is any, else the end.

    A model's failure is a decision of its own; it never leads back into planning.
    """
    outcome = outcome_of(error)
    end = RunUpdate(outcome=outcome, reason=error.message, remedy=error.remedy)
    if can_repair(state, context) and not repair_tried(state):
        step = Step(id="repair", action="repair", objective="Search for a fix without a model.")
        plan = Plan(steps=(step,), origin="llm_error", reason=f"{error.message}; working offline")
        return RunUpdate(plan=plan, cursor=0, **end)
    step = Step(id="end", action="respond")
    plan = Plan(steps=(step,), origin="llm_error", reason=error.message, outcome=outcome)
    return RunUpdate(plan=plan, cursor=0, **end)
