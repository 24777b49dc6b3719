"""Phase 2: one call makes the plan; on a retry it sees what failed."""

import asyncio
from collections.abc import Collection

from codur.agents.registry import Agent
from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.llm.profiles.auto import server_problem
from codur.llm.profiles.endpoint import is_local
from codur.nodes.parts.offline_work import plan_after_error
from codur.nodes.parts.sources import instruction_notes, listed_files, task_with_git
from codur.nodes.parts.updates import (
    delegated,
    failed_steps,
    go,
    plannable,
    require_room,
    warn,
    worker,
)
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.planning.plans.full_plan import PlanningBrief, make_plan, nearest_to, retry_plan
from codur.types import Plan, TaskType

_BY_NAME = frozenset({"list_mcp_tools", "call_mcp_tool"})
"""What a plan need not ask for: each server's tools are offered by their names."""


async def llm_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Make a plan, or, for the retry of a single edit, take the same step again without asking."""
    again = _again(state, context)
    anew = again is not None and _planned_anew(state, context)
    if again is not None and not anew:
        return _retried(again)
    others = delegated(state, context)
    if others is not None and state["task"].agent:  # who named a program did not choose a service to plan for it
        return go("policy", origin="user", why=others.reason, plan=others, cursor=0)
    notes = instruction_notes(context)
    try:
        # Before the servers are started: a task that fits no request needs none of them.
        require_room(state, context)
        notes += warn(await asyncio.to_thread(context.toolbox.with_servers), context, told=state["notes"])
        brief = await asyncio.to_thread(_brief, state, context)
        plan = await make_plan(brief, context.asker, max_steps=context.settings.planning.max_steps)
    except (ModelAnswerError, ModelUnavailable, LimitReached) as error:
        if again is not None:  # there is something to go on with
            return RunUpdate(**_retried(again), replans=1, notes=notes)
        found = plan_after_error(error, state, context)
        return RunUpdate(**found, **go("policy", origin="llm_error", why=error.message, notes=notes))
    steps = " → ".join(f"{step.action} {step.capability}".strip() for step in plan.steps)
    why, replans = f"{len(plan.steps)} steps: {steps}", 1 if anew else 0
    return go(
        "policy", origin="plan", tier="open", why=why, plan=plan, cursor=0, reason="", notes=notes, replans=replans
    )


def _again(state: RunState, context: RunContext) -> Plan | None:
    """The plan of a retry that needs no model; None if there was no attempt, or more than a single edit."""
    if not state["attempts"]:
        return None
    tried = next((item.by for item in reversed(state["attempts"]) if context.agents.knows(item.by)), "")
    agent = state["coder"] or tried or worker(state, context).name  # who took over, else who tried, else the default
    return retry_plan(state["plan"], agent=agent, codes=context.agents.codes(agent))


def _retried(again: Plan) -> RunUpdate:
    return go("policy", origin=again.origin, why=again.reason, plan=again, cursor=0)


def _planned_anew(state: RunState, context: RunContext) -> bool:
    """Whether a single edit that came no further and failed in two ways is worth a plan: once, if a call is left.

    What the user planned, and what another program works on, is done as it was said.
    """
    last = state["attempts"][-2:]
    failed_in_two_ways = state["stalls"] > 1 and len({attempt.signature for attempt in last}) > 1
    left = state["task"].limits.max_llm_calls - context.models.usage.calls
    own = state["plan"] is not None and state["plan"].origin == "user"
    # Another program plans by itself, and starting it again is the dearest attempt of all.
    free = not own and not worker(state, context).external
    return context.settings.planning.replan_edits and failed_in_two_ways and free and left > 1 and not state["replans"]


def _brief(state: RunState, context: RunContext) -> PlanningBrief:
    name = context.models.profiles.default
    files = state["discovery"].files
    shown = listed_files(state, context)
    fitting = _fitting(state["discovery"].task_type, state["task"].prompt, context)
    return PlanningBrief(
        prompt=task_with_git(state, context),
        discovery=state["discovery"],
        files=shown,
        read_only=frozenset(path for path in shown if path[:1] != "…" and not context.workspace.may_edit(path)),
        tools=context.toolbox.specs(_plannable(fitting, state, context)),
        agents=context.agents.described(
            lambda agent: _is_candidate(agent, state, context), cost=lambda agent: _cost(agent, context)
        ),
        verdict=state["verdict"],
        attempts=state["attempts"],
        problem=_problem(state, context),
        former=state["plan"] if state["replans"] or state["rejections"] else None,
        failed=_failed(state, context),
        steer=state["task"].hint,
        instructions=context.instructions.for_planning(name, context.models.sizes.fitted(name), files),
        fitting=fitting,
    )


def _is_candidate(agent: Agent, state: RunState, context: RunContext) -> bool:
    """Whether a plan may name an agent: it can run here, and is not of another service than the user's choice."""
    named = context.agents.resolve(state["task"].agent) if state["task"].agent else None
    if agent.external:
        return context.externals.obstacle(agent) is None if named is None else agent.name == named.name
    models, profile = context.models, context.models.profiles.named(agent.profile)
    provider = models.profile(profile).provider
    if named is not None and not named.external and provider != models.profile(named.profile).provider:
        return False
    if profile == models.profiles.default:
        return models.available(profile)
    return not models.problem(profile) and not server_problem(context.settings, profile)[0]


def _cost(agent: Agent, context: RunContext) -> str:
    """What an agent costs, in a few words."""
    priced = agent.config if agent.external else context.models.profile(agent.profile)
    if priced.price_in or priced.price_out:
        return f"${priced.price_in:g} in, ${priced.price_out:g} out per million tokens"
    provider = context.settings.providers.get(getattr(priced, "provider", ""))
    free = provider is not None and not provider.api_key_env and is_local(provider.base_url or "")
    return "free" if free else "price not known"


def _plannable(fitting: Collection[str] | None, state: RunState, context: RunContext) -> list[str]:
    """The tools that a step can name; for a second plan those that fit the kind of task and those of the first."""
    names, plan = [name for name in plannable(context) if name not in _BY_NAME], state["plan"]
    if fitting is None or plan is None or plan.origin != "plan":
        return names
    return [name for name in names if name in {*fitting, *(step.capability for step in plan.steps)}]


def _problem(state: RunState, context: RunContext) -> str:
    """Why the plan before was not carried out, with what the user answered meanwhile; empty if there was none."""
    if not (state["replans"] or state["rejections"] or state["answers"] or state["reason"]):
        return ""
    reason = state["reason"]
    asked = [record.output_ref for record in state["records"] if record.node == "consult" and record.ok]
    answers = [answer for answer in map(context.artifacts.get, asked) if answer not in reason]
    return " ".join((reason, *(f"The user answered before: {answer}" for answer in answers))).strip()


def _failed(state: RunState, context: RunContext) -> str:
    """What the step of the last plan gave that failed; empty if none did, or an attempt tells it."""
    last = failed_steps(state)[-1:] if state["replans"] and not state["attempts"] else ()
    return context.artifacts.get(last[0].output_ref) if last and last[0].output_ref else ""


def _fitting(task_type: TaskType, prompt: str, context: RunContext) -> frozenset[str] | None:
    """The tools that serve the kind of task, and those of servers nearest to its words; None if that is not known."""
    if not context.settings.planning.narrow_tools:
        return None
    found = [tool for name in context.toolbox.names() if (tool := context.toolbox.get(name)) is not None]
    foreign = [(tool.name, tool.description) for tool in found if tool.parameters is not None]
    if task_type == "unknown" and not foreign:
        return None
    fitting = [tool.name for tool in found if task_type == "unknown" or task_type in tool.task_types]
    return frozenset(fitting) - {name for name, _ in foreign} | nearest_to(prompt, foreign)
