"""Who works on when an agent came no further, or cannot work at all."""

from collections.abc import Iterable, Iterator

from codur.agents.registry import Agent
from codur.llm.tokens import cost_usd
from codur.nodes.parts.updates import agent_may_edit, cannot_run
from codur.nodes.run_state import RunContext, RunState


def escalation_after(name: str, state: RunState, context: RunContext) -> tuple[Agent | None, list[str]]:
    """The agent that takes over from this one: the next of `escalation` that has had no turn yet and can run here."""
    order = _edit(context.settings.agents.preferences.escalation, context)
    names = [agent.name for agent in order]
    rest = order[names.index(name) + 1 :] if name in names else order
    # One turn each, or two agents could hand a task back and forth until the limits end it.
    had_a_turn = {name, *(attempt.by for attempt in state["attempts"])}
    return _first_able((agent for agent in rest if agent.name not in had_a_turn), context)


def stand_in_for(name: str, state: RunState, context: RunContext) -> tuple[Agent | None, list[str]]:
    """The agent that stands in for one that cannot run: the first of `fallback_order` that can and has not failed."""
    order = _edit(context.settings.agents.preferences.fallback_order, context)
    failed = {name, *(record.capability for record in state["records"] if record.origin == "llm_error")}
    return _first_able((agent for agent in order if agent.name not in failed), context)


def affordable(agent: Agent, state: RunState, context: RunContext, *, answers: int = 1) -> bool:
    """Whether what is left of the run's limits pays for an attempt of an agent that is as long as those before it.

    Args:
        answers: how many of a model are asked for, for this attempt.
    """
    limits, used = state["task"].limits, context.models.usage
    verdict = state["verdict"]
    in_time = context.time_left() > (verdict.duration_s if verdict else 0.0)
    if agent.external:  # what it costs is not known before
        return in_time and used.cost_usd < limits.max_cost_usd and used.total_tokens < limits.max_tokens
    profile = context.models.profile(agent.profile)
    prompt = used.prompt_tokens // max(1, used.calls)  # as the requests before were
    cost = cost_usd(profile, prompt_tokens=prompt, completion_tokens=profile.max_completion_tokens)
    return (
        in_time
        and used.calls + answers <= limits.max_llm_calls
        and used.total_tokens + answers * (prompt + profile.max_completion_tokens) <= limits.max_tokens
        and used.cost_usd + answers * cost <= limits.max_cost_usd
    )


def _edit(references: Iterable[str], context: RunContext) -> list[Agent]:
    return [
        context.agents.resolve(name)
        for name in references
        if context.agents.codes(name) or agent_may_edit(name, context)
    ]


def _first_able(agents: Iterator[Agent], context: RunContext) -> tuple[Agent | None, list[str]]:
    """The first that can run, if there is one, and who was passed over, and why."""
    notes: list[str] = []
    for agent in agents:
        problem = cannot_run(agent, context)
        if not problem:
            return agent, notes
        notes.append(f"{agent.name} was passed over: {problem}")
    return None, notes
