"""Runs the agent that `delegate` picked, with its bounded tool loop.

One that is another program works in a copy; what it leaves behind is an attempt like any other.
"""

import asyncio
import re

from codur.agents.external.delegated_work import Delegated, run_external
from codur.agents.external.delegation import Terms
from codur.agents.loop import LoopOutcome, run_agent
from codur.agents.offers import Offering
from codur.agents.registry import Agent
from codur.context.brief import CodingBrief, brief_text, question_text
from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable, WorkspaceError
from codur.lazy import regex
from codur.nodes.coding import code_with
from codur.nodes.parts import updates
from codur.nodes.parts.first_check import seen_before
from codur.nodes.parts.sources import assignment, brief_of, inputs, instruction_notes, objective
from codur.nodes.parts.step_criteria import held_to
from codur.nodes.parts.updates import go
from codur.nodes.run_state import RunContext, RunState, RunUpdate, task_told
from codur.python.interpreter import python_version
from codur.structs import replace
from codur.types import CODE_TASKS, StepRecord, TaskType, ToolCode


async def execute(state: RunState, context: RunContext) -> RunUpdate:
    """Run the agent on the step's objective; its answer becomes the step's output."""
    agent = context.agents.resolve(state["agent"], in_words=state["discovery"].task_type not in CODE_TASKS)
    if agent.config.type == "coding":
        return await code_with(agent, "execute", state, context)
    if agent.external:
        return await asyncio.to_thread(_delegate, agent, state, context)
    seen = RunUpdate()
    if updates.edits(updates.current_step(state), context):
        seen = await asyncio.to_thread(seen_before, state, context)
    state = {**state, **seen}
    origin, end = updates.origin_of(state), RunUpdate()
    try:
        outcome = await _run(agent, state, context)
    except ModelAnswerError as error:
        outcome = LoopOutcome(text="", error=error.message)
    except (ModelUnavailable, LimitReached) as error:
        outcome = LoopOutcome(text="", error=error.message)
        origin, end = "llm_error", updates.end_by(error)
    step = updates.current_step(state)
    record = StepRecord(
        step_id=step.id,
        node="execute",
        action="delegate",
        capability=agent.name,
        origin=origin,
        tier="open",
        code="failed" if outcome.error else "ok",
        summary=outcome.text[:200],
        output_ref=context.artifacts.put(outcome.text),
        changed_files=outcome.changed_files,
        error=outcome.error,
    )
    record = held_to(record, outcome.text, state, context)
    missing = updates.warn(context.toolbox.missing(agent.config.tools), context, told=state["notes"])
    outputs, notes = {step.id: record.output_ref}, [*instruction_notes(context), *missing]
    why = f"agent {agent.name}"
    way = go("review", origin=origin, tier="open", why=why, notes=notes, records=[record], outputs=outputs)
    return RunUpdate(**seen, **end, **way)


async def _run(agent: Agent, state: RunState, context: RunContext) -> LoopOutcome:
    agent = replace(agent, profile=context.models.profiles.named(agent.profile))
    step = updates.current_step(state)
    profile = context.models.sizes.fitted(agent.profile)
    brief = await asyncio.to_thread(brief_of, state, step, context)
    # Not for who edits: numbers would come back in what is to be replaced.
    brief = replace(brief, numbered=not updates.edits(step, context))
    # Half, since the conversation grows with each result of a tool.
    room = (profile.request_tokens - profile.max_completion_tokens) // 2
    task = question_text(brief, budget_tokens=room, source_tokens=context.settings.context.source_tokens)
    offering = Offering(
        narrow=context.settings.planning.narrow_tools,
        task_type=state["discovery"].task_type,
        files=state["discovery"].files,
        settings=context.settings.tools,
    )
    work = assignment(agent, profile, brief.sources, context)
    if _TO_US.search(_POLITE.sub("", state["task"].prompt)):
        work = replace(work, instructions=f"{work.instructions}\n\n{context.prompts.render('explaining.about')}")
    return await run_agent(task, work, offering)


_POLITE = regex(r"\b(?:(?:can|could|would|will|do) you|thank you)\b", re.IGNORECASE)
_TO_US = regex(r"\b(?:you|your|yours|codur)\b", re.IGNORECASE)
"""What a question about the agent itself has, and few others."""
_BRIEF_TOKENS = 12_000  # chosen: the program reads files by itself, and has instructions of its own
_WORDS_ONLY: frozenset[TaskType] = frozenset({"greeting", "explanation", "search", "web_search", "git"})
"""Tasks for which an agent's changes are thrown away."""


def _delegate(agent: Agent, state: RunState, context: RunContext) -> RunUpdate:
    """Let the agent work in a copy, take over its changes, and record what came of it."""
    seen = seen_before(state, context) if state["discovery"].task_type in CODE_TASKS else RunUpdate()
    state = {**state, **seen}
    if context.externals.obstacle(agent) is not None:
        cannot = updates.why_not({**state, "coder": agent.name}, context)
        return RunUpdate(**seen, **updates.not_answered("execute", agent, cannot, state))
    try:
        # Before it is started: what it will cost is known only afterwards.
        context.models.require_left()
    except LimitReached as error:
        return RunUpdate(**seen, **updates.not_answered("execute", agent, error, state))
    try:
        delegated = run_external(
            context.externals,
            agent,
            _prompt(state, context),
            context.workspace,
            Terms(
                timeout_s=context.time_left(),
                emit=context.emit,
                read_only=_read_only(state, context),
                allowed=lambda _path: state["discovery"].task_type not in _WORDS_ONLY,
            ),
        )
    except WorkspaceError as error:
        cannot = ModelUnavailable(f"{agent.name} cannot work: {error.message}", remedy=error.remedy)
        return RunUpdate(**seen, **updates.not_answered("execute", agent, cannot, state))
    # What it says it has spent counts in the run's limits; at least one call, as programs may tell nothing.
    usage = delegated.answer.usage
    context.models.charge(replace(usage, calls=max(1, usage.calls)))
    updates.tell_changes(delegated.taken.changed_files, context)
    notes = updates.warn((delegated.note, *delegated.taken.notes), context, told=state["notes"])
    record = held_to(_record(agent, delegated, state, context), delegated.answer.text, state, context)
    outputs, why = {record.step_id: record.output_ref}, f"agent {agent.name}"
    way = go("review", origin=record.origin, tier="open", why=why, records=[record], notes=notes, outputs=outputs)
    return RunUpdate(**seen, **way)


def _prompt(state: RunState, context: RunContext) -> str:
    step = updates.current_step(state)
    brief = CodingBrief(
        task=task_told(state),
        objective=objective(state, step),
        sources={},
        missing_files=state["discovery"].missing_files,
        python_version=python_version(context.python, context.launcher),
        inputs=inputs(state, step, context),
        check=state["discovery"].check,
        verdict=state["verdict"],
        attempts=state["attempts"],
        will_retry=False,
        steer=updates.hint_of(state),
    )
    text = brief_text(brief, budget_tokens=_BRIEF_TOKENS).text
    if state["discovery"].task_type in _WORDS_ONLY:
        return context.prompts.render("external.words", brief=text)
    paths = ", ".join(_read_only(state, context))
    read_only = f"Do not change these files, they define the check: {paths}.\n\n" if paths else ""
    return context.prompts.render("external", brief=text, read_only=read_only)


def _read_only(state: RunState, context: RunContext) -> tuple[str, ...]:
    check = state["discovery"].check
    paths = check.protected if check is not None else ()
    return tuple(path for path in paths if context.workspace.is_protected(path))


def _record(agent: Agent, delegated: Delegated, state: RunState, context: RunContext) -> StepRecord:
    answer, taken = delegated.answer, delegated.taken
    said = " ".join(answer.text.split())[:200]
    error, code = _error(delegated, answered=bool(said) and state["discovery"].task_type not in CODE_TASKS)
    return StepRecord(
        step_id=updates.current_step(state).id,
        node="execute",
        action="delegate",
        capability=agent.name,
        origin=updates.origin_of(state),
        tier="open",
        code=code,
        summary=said,
        output_ref=context.artifacts.put(answer.text or error),
        changed_files=taken.changed_files,
        error=error,
    )


def _error(delegated: Delegated, *, answered: bool) -> tuple[str, ToolCode]:
    """Why a delegation came to nothing; empty if something was taken over, or an answer was wanted and is there.

    An agent's own failure counts only if it left nothing behind: what it left is judged by the check.
    """
    answer, taken = delegated.answer, delegated.taken
    if taken.problem:
        return f"nothing was taken over: {taken.problem}", "failed"
    if taken.changed_files or (answered and not answer.error):
        return "", "ok"
    code: ToolCode = "timeout" if answer.end == "timed_out" else "failed"
    if answer.error:
        return f"no file was changed: {answer.error}", code
    what = "nothing of what it changed may be changed" if taken.notes else "it changed nothing"
    return f"no file was changed: {what}", "failed"
