"""What is wrong with a plan, here and for this task. Shared by the nodes that look at a plan before it begins."""

from __future__ import annotations

from dataclasses import replace

from codur.nodes.criteria import criterion_problem
from codur.nodes.state import RunContext, RunState
from codur.nodes.updates import output_of
from codur.planning.references import UnresolvedReference, filled_step, referred
from codur.planning.validate import Asked, Capabilities, Problem, beyond, complete, find_problem
from codur.types import LOOKING_TASKS, Plan, Step

_SURE = 0.8


def completed(plan: Plan, state: RunState, context: RunContext) -> Plan:
    """The plan with what it lacks, its steps in an order in which they can be carried out."""
    return complete(plan, explainer=context.agents.for_task("explanation", explicit=state["task"].agent).name)


def problem_of(plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """The first rule that the plan breaks, or None."""
    problem = find_problem(
        plan,
        _capabilities(context),
        context.settings.tools,
        max_steps=context.settings.planning.max_steps,
        asked=_asked(state),
        outputs=state["outputs"],
    )
    return problem or criterion_problem(plan, state, context)


def problem_at_last(step: Step, plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """What is wrong with a step now that the outputs are there which its arguments refer to, or None."""
    if step.action != "tool" or not referred(step.arguments):
        return None
    try:
        arguments = filled_step(step, lambda name: output_of(name, state, context))
    except UnresolvedReference:
        return None  # the step itself tells it
    return beyond(replace(step, arguments=arguments), plan, _capabilities(context), _asked(state))


def _asked(state: RunState) -> Asked:
    discovery, task = state["discovery"], state["task"]
    only_looks = discovery.task_type in LOOKING_TASKS and discovery.confidence >= _SURE and not task.check_is_goal
    return Asked(prompt=task.prompt, only_looks=only_looks)


def told(problem: Problem, plan: Plan) -> str:
    """The problem, with the place of its step if the plan was read from a file."""
    place = next((step.place for step in plan.steps if step.id == problem.step_id and step.place), "")
    return f"{place}: {problem.text}" if place else problem.text


def _capabilities(context: RunContext) -> Capabilities:
    tools = {name: tool.side_effect for name in context.toolbox.names() if (tool := context.toolbox.get(name))}
    return Capabilities(
        tools=tools,
        agents=context.agents.names(),
        knows_agent=context.agents.knows,
        codes=context.agents.codes,
        only_codes=context.agents.only_codes,
        argument_problem=lambda name, arguments: context.toolbox.check(name, arguments).text,
    )
