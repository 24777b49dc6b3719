"""Picks the agent for a step. Decides only; `execute` runs it."""

from __future__ import annotations

from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import current_step, go, origin_of


def delegate(state: RunState, context: RunContext) -> RunUpdate:
    """The agent that the step names, else the one that the user named, else by routing of the task's type."""
    step = current_step(state)
    explicit = step.capability or state["task"].agent
    agent = context.agents.for_task(state["discovery"].task_type, explicit=explicit or None)
    return RunUpdate(
        agent=agent.name,
        **go("delegate", "execute", origin=origin_of(state), tier=step.tier, reason=f"agent {agent.name}"),
    )
