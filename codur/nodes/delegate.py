"""Picks the agent for a step. Decides only; `execute` runs it."""

from codur.nodes.parts.updates import current_step, first_able, go, origin_of, warn
from codur.nodes.run_state import RunContext, RunState, RunUpdate


def delegate(state: RunState, context: RunContext) -> RunUpdate:
    """The agent that took over, or that the step or the user names, else by routing of the task's type.

    One that cannot run here is passed over for the next of `fallback_order` that can.
    """
    step = current_step(state)
    # Who took over edits; a step that is for somebody else stays with them.
    took_over = state["coder"] if step.action == "coding" else ""
    explicit = took_over or step.capability or state["task"].agent
    wanted = context.agents.for_discovery(state["discovery"], explicit=explicit or None)
    agent, notes = first_able(wanted, state, context)
    if agent is None:  # the wanted one's own reason is the one to tell
        agent, notes = wanted, []
    why = f"agent {agent.name}" + (f" in place of {wanted.name}" if agent.name != wanted.name else "")
    notes = warn(notes, context)
    return go("execute", origin=origin_of(state), tier=step.tier, why=why, agent=agent.name, notes=notes)
