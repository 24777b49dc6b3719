"""What is wrong with a plan, here and for this task. Shared by the nodes that look at a plan before it begins."""

from collections.abc import Mapping
from typing import Any

from codur.nodes import parts
from codur.nodes.parts.step_criteria import criterion_problem
from codur.nodes.parts.updates import output_of
from codur.nodes.run_state import RunContext, RunState
from codur.planning.plans.step_references import UnresolvedReference, filled_step, referred
from codur.planning.plans.validation import Asked, Capabilities, Problem, beyond, chosen_problem, complete, find_problem
from codur.structs import replace
from codur.tools.arguments import meant
from codur.types import LOOKING_TASKS, Plan, Step

_SURE = 0.8


def completed(plan: Plan, state: RunState, context: RunContext) -> Plan:
    """The plan with what it lacks, arguments under their own names, its steps in an order that can be carried out."""
    explainer = context.agents.for_task("explanation", explicit=state["task"].agent).name
    steps = tuple(replace(step, arguments=_own_names(step, context)) for step in plan.steps)
    tools = context.toolbox

    def changes(name: str) -> bool:
        return (found := tools.get(name)) is not None and found.side_effect == "write"

    return complete(replace(plan, steps=steps), explainer=explainer, speaks=changes)


def _own_names(step: Step, context: RunContext) -> Mapping[str, Any]:
    """The arguments of a step under their own names, which what it does is told and judged by."""
    if step.action == "tool":
        return context.toolbox.own_names(step.capability, step.arguments)
    return meant(step.action, ("path", "text"), step.arguments)


def problem_of(plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """The first rule that the plan breaks, or None."""
    problem = find_problem(plan, _capabilities(plan, context), _asked(plan, state), state["outputs"])
    return problem or criterion_problem(plan, state, context)


def problem_at_last(step: Step, plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """What is wrong with a step now that its tool was chosen, or the outputs are there that it refers to, or None."""
    if step.decide:
        return chosen_problem(step, plan, _capabilities(plan, context), _asked(plan, state))
    if step.action != "tool" or not referred(step.arguments):
        return None
    try:
        arguments = filled_step(step, lambda name: output_of(name, state, context))
    except UnresolvedReference:
        return None  # the step itself tells it
    return beyond(replace(step, arguments=arguments), plan, _capabilities(plan, context), _asked(plan, state))


def _asked(plan: Plan, state: RunState) -> Asked:
    discovery, task = state["discovery"], state["task"]
    only_looks = discovery.task_type in LOOKING_TASKS and discovery.confidence >= _SURE and not task.check_is_goal
    deletes = any(step.capability == "delete_file" for step in plan.steps)
    may_go = parts.allowed_by_user.may_go(state) if deletes else frozenset[str]()
    return Asked(prompt="\n".join((task.prompt, *state["guidance"])), only_looks=only_looks, may_go=may_go)


def told(problem: Problem, plan: Plan) -> str:
    """The problem, with the place of its step if the plan was read from a file."""
    place = next((step.place for step in plan.steps if step.id == problem.step_id and step.place), "")
    return f"{place}: {problem.text}" if place else problem.text


def _capabilities(plan: Plan, context: RunContext) -> Capabilities:
    names = [step.capability for step in plan.steps if step.action == "tool"]  # a server's tool is known once asked for
    return Capabilities(
        tools=context.toolbox.effects(*names),
        allowed=context.settings.tools,
        max_steps=context.settings.planning.max_steps,
        agents=context.agents.names(),
        knows_agent=context.agents.knows,
        codes=context.agents.codes,
        only_codes=context.agents.only_codes,
        argument_problem=lambda name, arguments: context.toolbox.check(name, arguments).text,
    )
