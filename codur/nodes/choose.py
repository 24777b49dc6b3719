"""Has a model choose where a few are left: among repairs that all pass the check, and among tools that can be next.

Without an answer, the first of the ranking is taken; of tools, what the plan says for that case.
"""

import json
from collections.abc import Mapping
from typing import Any

from codur.errors import LimitReached, ModelError, ModelUnavailable
from codur.events import ToolChosen
from codur.nodes.parts.updates import current_step, go, output_of, plannable, worker
from codur.nodes.run_state import RunContext, RunState, RunUpdate, task_told
from codur.planning.narrowing import (
    Decision,
    GuidedDecisionPoint,
    Narrowing,
    ToolCandidate,
    decide_next,
    guided_decision_points,
)
from codur.planning.plans.step_references import UnresolvedReference, escaped, filled_step
from codur.planning.repair_choice import ToolQuestion, choose_patch
from codur.structs import replace
from codur.tools.compatibility import CompatibilityGraph
from codur.types import CODE_TASKS, LOOKING_TASKS, Plan, Step


async def choose(state: RunState, context: RunContext) -> RunUpdate:
    """Ask the fast profile for the tool of a step that is left open, or for the number of a repair."""
    plan = state["plan"]
    if plan is not None and plan.steps[state["cursor"]].undecided:
        return await decided(plan, state, context)
    report = state["repair"]
    if report is None:
        raise AssertionError("there are no repairs to choose from")
    try:
        number = await choose_patch(
            state["task"].said_with(state["guidance"]), report.patches, _sources(state, context), context.asker
        )
        why = (
            "the answer named no repair; the first one is taken"
            if number is None
            else f"the model took repair {number}"
        )
    except (ModelError, LimitReached) as error:
        # No failure: the ranking has a first one, and the run goes on without the model.
        number, why = None, f"{error.message}; the first repair is taken"
    place = (1 if number is None else number or len(report.patches) + 1) - 1
    chosen = replace(report, chosen=place, chosen_by="rank" if number is None else "model")
    return go("repair", origin="repair", tier="guided", why=why, repair=chosen)


def _sources(state: RunState, context: RunContext) -> dict[str, str]:
    """The files that the repairs change, as they are."""
    changed = (json.loads(context.artifacts.get(each)) for each in state["patched"])
    workspace = context.for_models
    return {path: workspace.read_text(path).text for files in changed for path in files if not workspace.hides(path)}


async def decided(plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """The plan with the tool of its step: taken by code, named by a model, or left to an agent with all its tools."""
    step, spent = current_step(state), context.models.usage
    stated = _stated(step, state, context)
    point, shown = _point(step, stated, state, context)

    def problem(tool: str, arguments: Mapping[str, Any]) -> str:
        return context.toolbox.check(tool, {**_taken(tool, stated, context), **arguments}).text

    why = ""
    try:
        asker = None
        if context.models.available(context.models.profiles.fast):
            asker = ToolQuestion(task_told(state), step.objective, context.asker, context.toolbox.spec)
        decision = await decide_next(point, shown, asker, problem=problem)
    except (ModelUnavailable, LimitReached) as error:
        decision, why = await decide_next(point, shown, None, problem=problem), f"{error.message}; "
    used = context.models.usage - spent
    context.emit(
        ToolChosen(
            after=decision.after_step,
            tier=decision.tier,
            candidates=decision.candidates,
            choice=decision.choice,
            duration_s=decision.duration_s,
            by="model" if decision.by == "callback" else decision.by,
            scores=decision.scores,
            settled=decision.settled,
            tokens=used.total_tokens,
        )
    )
    if decision.choice:
        arguments = {**_taken(decision.choice, stated, context), **decision.arguments}
        step = replace(step, capability=decision.choice, arguments=_literal(arguments), tier=decision.tier)
    else:
        # Left to who works on the code or, where the task is none about code, who looks and answers.
        explainer = context.agents.for_task("explanation", explicit=state["task"].agent)
        agent = worker(state, context) if state["discovery"].task_type in CODE_TASKS else explainer
        step = replace(step, action="delegate", capability=agent.name, arguments={}, tier="open")
    steps = (*plan.steps[: state["cursor"]], step, *plan.steps[state["cursor"] + 1 :])
    way = go("policy", origin=plan.origin, tier=decision.tier, why=why + _told(decision, used.total_tokens))
    return RunUpdate(**way, plan=replace(plan, steps=steps))


def _point(
    step: Step, stated: Mapping[str, Any], state: RunState, context: RunContext
) -> tuple[GuidedDecisionPoint, Mapping[str, Any]]:
    """The choice after the step before, and what that step gave."""
    settings, task_type = context.settings.tools, state["discovery"].task_type
    graph = CompatibilityGraph([tool for name in _allowed(state, context) if (tool := context.toolbox.get(name))])
    # The step whose output decides: the last of its inputs that belongs to the plan.
    steps = {item.id: item for item in (state["plan"].steps if state["plan"] else ())}
    before = next((steps[name] for name in reversed(step.inputs) if name in steps), None)
    after = before.capability if before is not None and graph.get(before.capability) is not None else ""
    given = output_of(before.id, state, context) if before is not None else None
    data = given.data if given is not None else None
    shown = data if isinstance(data, dict) else {"text": given.text if given is not None else ""}
    narrowing = Narrowing(
        max_candidates=settings.max_candidates if step.max_candidates < 0 else step.max_candidates,
        min_compatibility=settings.min_compatibility if step.min_compatibility < 0 else step.min_compatibility,
        task_type=None if task_type == "unknown" else task_type,
        data=(data or {}) if after else None,
        known={"path": state["discovery"].files},
        decision_prompt=step.decision_prompt or settings.decision_prompt,
        fallback_tool=step.fallback_tool or settings.fallback_tool or None,
        promote=settings.promote,
    )
    points = guided_decision_points(after, narrowing, graph=graph)
    point = points[0] if points else GuidedDecisionPoint(after_step=after, candidate_tools=())
    known = tuple(_with_stated(each, stated, context) for each in point.candidate_tools)
    return replace(point, candidate_tools=known), shown


def _allowed(state: RunState, context: RunContext) -> list[str]:
    """The tools that the step may come to: those of plans that are permitted; no edits where the task only looks."""
    settings = context.settings.tools
    looks = state["discovery"].task_type in LOOKING_TASKS and not state["task"].check_is_goal
    off = {
        "write": looks or not settings.allow_write,
        "run": not settings.allow_run,
        "network": not settings.allow_network,
    }
    found = ((name, context.toolbox.get(name)) for name in plannable(context))
    return [name for name, tool in found if tool is not None and not off.get(tool.side_effect, False)]


def _stated(step: Step, state: RunState, context: RunContext) -> Mapping[str, Any]:
    """The arguments that the plan gives the step, whichever tool it comes to."""
    try:
        return filled_step(step, lambda name: output_of(name, state, context))
    except UnresolvedReference:
        return {}


def _taken(tool: str, stated: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """What a tool takes of the arguments that are stated."""
    if not stated or context.toolbox.get(tool) is None:
        return {}
    (spec,) = context.toolbox.specs((tool,))
    return {name: value for name, value in stated.items() if name in spec.parameters.get("properties", {})}


def _with_stated(each: ToolCandidate, stated: Mapping[str, Any], context: RunContext) -> ToolCandidate:
    """The candidate, known whole if the plan states what the output did not give."""
    arguments = {**(each.arguments or {}), **_taken(each.name, stated, context)}
    whole = bool(arguments) and context.toolbox.check(each.name, arguments).ok
    return replace(each, arguments=arguments) if whole else each


def _literal(value: Any) -> Any:
    """The arguments so that nothing in them is taken for a reference."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, Mapping):
        return {key: _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if isinstance(value, list | tuple) else value


def _told(decision: Decision, tokens: int) -> str:
    rows = zip(decision.candidates, decision.scores, strict=True)
    among = ", ".join(f"{name} {score:.2f}" for name, score in rows)
    choice = decision.choice or "left to an agent with all its tools"
    cost = f"; {tokens:,} tokens" if tokens else ""
    return f"{choice}: {decision.reason}{f' ({among})' if among else ''}{cost}"
