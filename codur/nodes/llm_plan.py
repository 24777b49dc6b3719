"""Phase 2: one call makes the plan; on a retry it sees what failed."""

from __future__ import annotations

from collections.abc import Collection

from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.nodes.sources import instruction_notes
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import delegated, go, plan_after_model_error, plannable, require_room, worker
from codur.planning.facts import LISTED_FILES
from codur.planning.full_plan import PlanningBrief, make_plan, retry_plan
from codur.types import Plan, TaskType


async def llm_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Make a plan, or, for the retry of a single edit, take the same step again without asking."""
    if state["attempts"]:
        agent = _who(state, context)
        again = retry_plan(state["plan"], agent=agent, codes=context.agents.codes(agent))
        if again is not None:
            return RunUpdate(plan=again, cursor=0, **go("llm_plan", "policy", origin="plan", reason=again.reason))
    others = delegated(state, context)
    if others is not None and state["task"].agent:  # who named a program did not choose a service to plan for it
        return RunUpdate(plan=others, cursor=0, **go("llm_plan", "policy", origin="user", reason=others.reason))
    spent = context.models.usage
    notes = instruction_notes(context)
    try:
        require_room(state, context)
        plan = await make_plan(
            _brief(state, context), pool=context.models, prompts=context.prompts, settings=context.settings
        )
    except (ModelAnswerError, ModelUnavailable, LimitReached) as error:
        return RunUpdate(
            usage=context.models.usage - spent,
            notes=notes,
            **plan_after_model_error(error, state, context),
            **go("llm_plan", "policy", origin="llm_error", reason=error.message),
        )
    return RunUpdate(
        plan=plan,
        cursor=0,
        reason="",
        usage=context.models.usage - spent,
        notes=notes,
        **go("llm_plan", "policy", origin="plan", tier="open", reason=_summary(plan)),
    )


def _who(state: RunState, context: RunContext) -> str:
    """Who tries again: the agent that took over, else the one that tried, else the user's choice or the default."""
    tried = next((item.by for item in reversed(state["attempts"]) if context.agents.knows(item.by)), "")
    return state["coder"] or tried or worker(state, context).name


def _brief(state: RunState, context: RunContext) -> PlanningBrief:
    name = context.models.default_profile
    files = state["discovery"].files
    shown = context.workspace.list_files()
    fitting = _fitting(state["discovery"].task_type, context)
    return PlanningBrief(
        prompt=state["task"].prompt,
        discovery=state["discovery"],
        files=shown,
        read_only=frozenset(path for path in shown[:LISTED_FILES] if not context.workspace.may_edit(path)),
        tools=context.toolbox.specs(_plannable(fitting, state, context)),
        agents=context.agents.described(),
        verdict=state["verdict"],
        attempts=state["attempts"],
        problem=_problem(state, context),
        steer=state["steer"],
        instructions=context.instructions.for_planning(name, context.models.fitted(name), files),
        fitting=fitting,
    )


def _plannable(fitting: Collection[str] | None, state: RunState, context: RunContext) -> list[str]:
    """The tools that a step can name; for a second plan those that fit the kind of task and those of the first."""
    names, plan = plannable(context), state["plan"]
    if fitting is None or plan is None or plan.origin != "plan":
        return names
    return [name for name in names if name in {*fitting, *(step.capability for step in plan.steps)}]


def _problem(state: RunState, context: RunContext) -> str:
    """Why the plan before was not carried out, with what the user answered meanwhile; empty if there was none."""
    if not (state["replans"] or state["rejections"] or state["answers"]):
        return ""
    reason = state["reason"]
    asked = [record.output_ref for record in state["records"] if record.node == "consult" and record.ok]
    answers = [answer for answer in map(context.artifacts.get, asked) if answer not in reason]
    return " ".join((reason, *(f"The user answered before: {answer}" for answer in answers))).strip()


def _fitting(task_type: TaskType, context: RunContext) -> frozenset[str] | None:
    """The tools that serve the kind of task; None if it is not known, or narrowing is off."""
    if not context.settings.planning.narrow_tools or task_type == "unknown":
        return None
    rows = ((name, context.toolbox.get(name)) for name in context.toolbox.names())
    return frozenset(name for name, found in rows if found is not None and task_type in found.task_types)


def _summary(plan: Plan) -> str:
    return f"{len(plan.steps)} steps: " + " → ".join(f"{step.action} {step.capability}".strip() for step in plan.steps)
