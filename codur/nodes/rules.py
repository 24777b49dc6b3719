"""What is wrong with a plan, here and for this task. Shared by the nodes that look at a plan before it begins."""

from __future__ import annotations

from codur.nodes.state import RunContext, RunState
from codur.planning.validate import Asked, Capabilities, Problem, complete, find_problem
from codur.types import LOOKING_TASKS, Plan

_SURE = 0.8


def completed(plan: Plan, context: RunContext) -> Plan:
    """The plan with what it lacks, its steps in an order in which they can be carried out."""
    return complete(plan, explainer=context.agents.for_task("explanation").name)


def problem_of(plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """The first rule that the plan breaks, or None."""
    discovery, task = state["discovery"], state["task"]
    only_looks = discovery.task_type in LOOKING_TASKS and discovery.confidence >= _SURE and not task.check_is_goal
    return find_problem(
        plan,
        _capabilities(context),
        context.settings.tools,
        max_steps=context.settings.planning.max_steps,
        asked=Asked(prompt=task.prompt, only_looks=only_looks),
        outputs=state["outputs"],
    )


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
        argument_problem=lambda name, arguments: context.toolbox.check(name, arguments).text,
    )
