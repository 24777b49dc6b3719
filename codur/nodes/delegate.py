"""Picks the agent for a step. Decides only; `execute` runs it."""

from codur.agents.registry import Agent
from codur.events import Note
from codur.nodes.parts.updates import can_run, current_step, go, origin_of
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.types import CODE_TASKS


def delegate(state: RunState, context: RunContext) -> RunUpdate:
    """The agent that took over, or that the step or the user names, else by routing of the task's type.

    One that cannot run here is passed over for the next of `fallback_order` that can.
    """
    step = current_step(state)
    # Who took over edits; a step that is for somebody else stays with them.
    took_over = state["coder"] if step.action == "coding" else ""
    explicit = took_over or step.capability or state["task"].agent
    wanted = context.agents.for_discovery(state["discovery"], explicit=explicit or None)
    agent, notes = _able(wanted, state, context)
    reason = f"agent {agent.name}" + (f" in place of {wanted.name}" if agent.name != wanted.name else "")
    return RunUpdate(
        agent=agent.name,
        notes=notes,
        **go("delegate", "execute", origin=origin_of(state), tier=step.tier, reason=reason),
    )


def _able(wanted: Agent, state: RunState, context: RunContext) -> tuple[Agent, list[str]]:
    """The wanted agent or the first after it that can run, and why others cannot; the wanted one if none can."""
    in_words = state["discovery"].task_type not in CODE_TASKS
    notes: list[str] = []
    for agent in (wanted, *context.agents.fallbacks(besides=wanted.name, in_words=in_words)):
        if can_run(agent, context):
            for text in notes:
                context.emit(Note(level="warning", text=text))
            return agent, notes
        notes.append(f"{agent.name} is skipped: {_why_not(agent, context)}")
    return wanted, []  # nobody can: the wanted one's own reason is the one to tell


def _why_not(agent: Agent, context: RunContext) -> str:
    obstacle = context.externals.obstacle(agent) if agent.external else None
    return obstacle.text if obstacle is not None else context.models.problem(agent.profile)
