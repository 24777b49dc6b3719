"""Small helpers that nodes share to write their updates."""

from __future__ import annotations

from collections.abc import Iterable

from codur.errors import CodurError, LimitReached
from codur.events import FileChanged
from codur.nodes.state import NodeName, Route, RunContext, RunState, RunUpdate
from codur.types import Origin, Outcome, Plan, RouteStep, Step, Tier
from codur.workspace.diff import line_counts


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


def current_step(state: RunState) -> Step:
    """The step that policy let through."""
    plan = state["plan"]
    if plan is None:
        raise AssertionError("a step was asked for before there was a plan")
    return plan.steps[state["cursor"]]


def origin_of(state: RunState) -> Origin:
    """Who made the present plan."""
    return state["plan"].origin if state["plan"] else "pattern"


def outcome_of(error: CodurError) -> Outcome:
    """How a run ends that a model's failure ended."""
    return "limit" if isinstance(error, LimitReached) else "no_model"


def can_repair(state: RunState, context: RunContext) -> bool:
    """Whether an offline search makes sense: a red check, Python sources, not switched off."""
    before = state["before"]
    check = state["discovery"].check
    return (
        context.settings.repair.mode != "off"
        and context.settings.tools.allow_write
        and before is not None
        and before.status == "failed"
        and check is not None
        and check.kind != "syntax"
        and any(path.endswith(".py") for path in state["discovery"].files)
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
