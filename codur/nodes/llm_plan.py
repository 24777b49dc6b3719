"""Phase 2: one call makes the plan; on a retry it sees what failed."""

from __future__ import annotations

from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import go, plan_after_model_error
from codur.planning.full_plan import PlanningBrief, make_plan, retry_plan
from codur.types import Plan


async def llm_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Make a plan, or, for the retry of a single edit, take the same step again without asking."""
    if state["attempts"]:
        agent = _who(state, context)
        again = retry_plan(state["plan"], agent=agent, codes=context.agents.codes(agent))
        if again is not None:
            return RunUpdate(plan=again, cursor=0, **go("llm_plan", "policy", origin="plan", reason=again.reason))
    spent = context.models.usage
    try:
        plan = await make_plan(
            _brief(state, context), pool=context.models, prompts=context.prompts, settings=context.settings
        )
    except (ModelAnswerError, ModelUnavailable, LimitReached) as error:
        return RunUpdate(
            usage=context.models.usage - spent,
            **plan_after_model_error(error, state, context),
            **go("llm_plan", "policy", origin="llm_error", reason=error.message),
        )
    return RunUpdate(
        plan=plan,
        cursor=0,
        reason="",
        usage=context.models.usage - spent,
        **go("llm_plan", "policy", origin="plan", tier="open", reason=_summary(plan)),
    )


def _who(state: RunState, context: RunContext) -> str:
    """Who tries again: the agent that took over, else the one that tried, else the user's choice or the default."""
    tried = next((item.by for item in reversed(state["attempts"]) if context.agents.knows(item.by)), "")
    default = context.settings.agents.preferences.default_agent
    return state["coder"] or tried or state["task"].agent or default


def _brief(state: RunState, context: RunContext) -> PlanningBrief:
    return PlanningBrief(
        prompt=state["task"].prompt,
        discovery=state["discovery"],
        files=context.workspace.list_files(),
        tools=context.toolbox.specs(context.toolbox.names()),
        agents=context.agents.described(),
        verdict=state["verdict"],
        attempts=state["attempts"],
        problem=state["reason"] if state["replans"] else "",
        steer=state["steer"],
    )


def _summary(plan: Plan) -> str:
    return f"{len(plan.steps)} steps: " + " → ".join(f"{step.action} {step.capability}".strip() for step in plan.steps)
