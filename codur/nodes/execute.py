"""Runs the agent that `delegate` picked, with its bounded tool loop."""

import asyncio

from codur.agents.loop import LoopOutcome, run_agent
from codur.agents.offers import Offering
from codur.agents.registry import Agent
from codur.context.brief import question_text
from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.nodes.coding import code_with
from codur.nodes.parts.attempt_verdict import seen_before
from codur.nodes.parts.external_step import delegate_to
from codur.nodes.parts.sources import assignment, brief_of, instruction_notes
from codur.nodes.parts.step_criteria import held_to
from codur.nodes.parts.updates import current_step, edits, end_by, go, origin_of
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.structs import replace
from codur.types import CODE_TASKS, StepRecord


async def execute(state: RunState, context: RunContext) -> RunUpdate:
    """Run the agent on the step's objective; its answer becomes the step's output."""
    agent = context.agents.resolve(state["agent"], in_words=state["discovery"].task_type not in CODE_TASKS)
    if agent.config.type == "coding":
        return await code_with(agent, "execute", state, context)
    if agent.external:
        return await delegate_to(agent, state, context)
    seen = RunUpdate()
    if edits(current_step(state), context):
        seen = await asyncio.to_thread(seen_before, state, context)
    state = {**state, **seen}
    origin, end = origin_of(state), RunUpdate()
    try:
        outcome = await _run(agent, state, context)
    except ModelAnswerError as error:
        outcome = LoopOutcome(text="", error=error.message)
    except (ModelUnavailable, LimitReached) as error:
        outcome = LoopOutcome(text="", error=error.message)
        origin, end = "llm_error", end_by(error)
    step = current_step(state)
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
    outputs, notes = {step.id: record.output_ref}, instruction_notes(context)
    why = f"agent {agent.name}"
    way = go("review", origin=origin, tier="open", why=why, notes=notes, records=[record], outputs=outputs)
    return RunUpdate(**seen, **end, **way)


async def _run(agent: Agent, state: RunState, context: RunContext) -> LoopOutcome:
    agent = replace(agent, profile=context.models.profiles.named(agent.profile))
    step = current_step(state)
    profile = context.models.sizes.fitted(agent.profile)
    brief = await asyncio.to_thread(brief_of, state, step, context)
    # Half, since the conversation grows with each result of a tool.
    task = question_text(brief, budget_tokens=(profile.request_tokens - profile.max_completion_tokens) // 2)
    offering = Offering(
        narrow=context.settings.planning.narrow_tools,
        task_type=state["discovery"].task_type,
        files=state["discovery"].files,
        settings=context.settings.tools,
    )
    return await run_agent(task, assignment(agent, profile, brief.sources, context), offering)
