"""Who works on when an agent came no further, or cannot work at all; and which repair is next."""

from collections.abc import Iterable, Iterator

from codur.agents.registry import Agent
from codur.llm.tokens import cost_usd
from codur.nodes.parts.finding import Judged
from codur.nodes.parts.updates import agent_may_edit, cannot_run, warn
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import listed
from codur.structs import replace

_MOST_REPAIRS = 4  # each of a search takes a run of the check, and one of all tests


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
    """Whether what is left of the limits pays for an attempt of so many answers, each as long as those before it."""
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


def next_repair(judged: Judged, state: RunState, context: RunContext) -> RunUpdate:
    """The next repair that passed the search, where the last one came no further in the workspace; else empty."""
    report, before, task = state["repair"], state["before"], state["task"]
    tried = 1 + sum(attempt.by == "repair" for attempt in state["attempts"])
    if report is None or before is None or judged.gained or len(report.patches) < 2 or tried >= _MOST_REPAIRS:
        return RunUpdate()
    over = state["iteration"] + 1 >= task.limits.max_iterations or context.time_left() < 2 * before.duration_s
    if over or (task.repair is not None and task.repair.pick > 1):
        return RunUpdate()
    rest = [place for place in range(len(report.patches)) if place != report.chosen]
    # How they differ was told of the first one, which may be the one that goes.
    patches = tuple(replace(report.patches[place], distinction=None) for place in rest)
    report = replace(report, patches=patches, chosen=0, chosen_by="rank", tier="guided")
    broken = [test for test in judged.last.failing if test not in before.failing] if judged.last else []
    why = f"breaks {listed(broken, 3)}" if broken else "does not hold in the workspace"
    why = f"repair {tried} of {tried + len(rest)} {why}; the next one is tried"
    patched = tuple(state["patched"][place] for place in rest)
    return RunUpdate(repair=report, patched=patched, notes=warn([why], context))


def _edit(references: Iterable[str], context: RunContext) -> list[Agent]:
    names = (name for name in references if context.agents.codes(name) or agent_may_edit(name, context))
    return [context.agents.resolve(name) for name in names]


def _first_able(agents: Iterator[Agent], context: RunContext) -> tuple[Agent | None, list[str]]:
    """The first that can run, if there is one, and who was passed over, and why."""
    notes: list[str] = []
    for agent in agents:
        problem = cannot_run(agent, context)
        if not problem:
            return agent, notes
        notes.append(f"{agent.name} was passed over: {problem}")
    return None, notes
