"""The only gate between deciding and doing. Deterministic; never calls a model."""

from __future__ import annotations

from codur.nodes.state import Route, RunContext, RunState, RunUpdate
from codur.nodes.updates import can_ask, go, unfinished, why_not
from codur.planning.validate import Capabilities, Problem, complete, find_problem
from codur.types import Action, Plan, Step

REPLANS = 1
"""How often a plan that cannot be carried out is sent back."""

_NODE_OF: dict[Action, Route] = {"tool": "tool", "coding": "coding", "delegate": "delegate", "repair": "repair"}


def policy(state: RunState, context: RunContext) -> RunUpdate:
    """Let the next step through, send the plan back, or end the run."""
    plan = state["plan"]
    if plan is None:
        raise AssertionError("policy was reached without a plan")
    if state["cursor"] == 0:
        limit = context.settings.planning.max_steps
        problem = find_problem(plan, _capabilities(context), context.settings.tools, max_steps=limit)
        if problem is not None:
            return _reject(problem, plan, state, context)
        plan = complete(plan, explainer=context.agents.for_task("explanation").name)
    step = plan.steps[state["cursor"]]
    if step.action in {"respond", "ask"}:
        return RunUpdate(plan=plan, **_last_word(step, plan, state, context))
    if step.action in {"coding", "delegate"} and not can_ask(state, context):
        return RunUpdate(plan=plan, **_no_model(state, context))
    node = "delegate" if _is_for_others(step, state, context) else _NODE_OF[step.action]
    return RunUpdate(plan=plan, **go("policy", node, origin=plan.origin, tier=step.tier, reason=step.objective))


def _is_for_others(step: Step, state: RunState, context: RunContext) -> bool:
    """Whether a step of edits falls to an agent that is another program, which is delegated to."""
    if step.action != "coding":
        return False
    named = state["coder"] or step.capability or state["task"].agent
    return context.agents.for_discovery(state["discovery"], explicit=named or None).external


def _capabilities(context: RunContext) -> Capabilities:
    tools = {name: tool.side_effect for name in context.toolbox.names() if (tool := context.toolbox.get(name))}
    return Capabilities(
        tools=tools, agents=context.agents.names(), knows_agent=context.agents.knows, codes=context.agents.codes
    )


def _reject(problem: Problem, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    if problem.refused:
        return RunUpdate(
            outcome="refused",
            reason=problem.text,
            remedy="Allow it in the settings or with a CODUR_TOOLS__… variable.",
            **go("policy", "end", origin=plan.origin, reason=problem.text),
        )
    if state["replans"] < REPLANS and can_ask(state, context) and plan.origin != "pattern":
        return RunUpdate(
            replans=1, reason=problem.text, **go("policy", "llm_plan", origin=plan.origin, reason=problem.text)
        )
    return RunUpdate(
        outcome="not_achieved",
        reason=f"no plan could be carried out: {problem.text}",
        remedy="Say the task in other words, or in smaller parts.",
        **go("policy", "end", origin=plan.origin, reason=problem.text),
    )


def _last_word(step: Step, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """End with the step's text; without one, with the last output; a question ends the run unanswered."""
    text = str(step.arguments.get("text", ""))
    answer_ref = context.artifacts.put(text) if text else _last_output(state)
    outcome = plan.outcome
    reason = plan.reason if outcome != "done" else ""
    if step.action == "ask":
        outcome, reason = "not_achieved", "the task needs an answer from you first"
    elif outcome == "done" and plan.origin != "pattern":
        reason = unfinished(state, context)
        outcome = "not_achieved" if reason else "done"
    solved_by = "pattern" if plan.origin == "pattern" else state["solved_by"]
    return RunUpdate(
        answer_ref=answer_ref,
        outcome=outcome,
        reason=reason,
        solved_by=solved_by if outcome == "done" else "",
        **go("policy", "end", origin=plan.origin, reason=plan.reason),
    )


def _last_output(state: RunState) -> str:
    return list(state["outputs"].values())[-1] if state["outputs"] else ""


def _no_model(state: RunState, context: RunContext) -> RunUpdate:
    error = why_not(state, context)
    return RunUpdate(
        outcome="no_model",
        reason=error.message,
        remedy=error.remedy,
        **go("policy", "end", origin="llm_error", reason=error.message),
    )
