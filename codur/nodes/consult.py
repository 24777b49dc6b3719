"""Asks the user: for approval of a plan or of a test, or for an answer. What follows from it is decided by others."""

from __future__ import annotations

from codur.nodes.parts.updates import NEEDS_ANSWER, current_step, go, origin_of
from codur.nodes.run_state import Route, RunContext, RunState, RunUpdate
from codur.questions import Answer
from codur.types import StepRecord


async def consult(state: RunState, context: RunContext) -> RunUpdate:
    """Put the question that a node left. The run waits here, and a run that is cut off asks again."""
    question = state["question"]
    if question is None:
        raise AssertionError("there is nothing to ask")
    answer = context.consult(question) if context.consult is not None else Answer(decision="nobody")
    if question.kind == "approval":
        return RunUpdate(question=None, answer=answer, **go("consult", "policy", origin="user", reason=answer.decision))
    if question.kind == "test":
        reason = answer.decision
        return RunUpdate(question=None, answer=answer, **go("consult", "make_check", origin="user", reason=reason))
    return _answered(answer, state, context)


def _answered(answer: Answer, state: RunState, context: RunContext) -> RunUpdate:
    """The answer as the step's output; for a step that edits, what it goes on with."""
    step = current_step(state)
    if step.action != "ask":
        return _told(answer, step.id, state, context)
    record = StepRecord(
        step_id=step.id,
        node="consult",
        action="ask",
        origin=origin_of(state),
        tier="deterministic",
        code="refused" if answer.decision == "nobody" else "ok",
        summary=answer.text.partition("\n")[0][:200],
        output_ref=context.artifacts.put(answer.text),
        error=NEEDS_ANSWER if answer.decision == "nobody" else "",
    )
    return RunUpdate(
        question=None,
        records=[record],
        outputs={step.id: record.output_ref},
        **go("consult", "review", origin="user", reason=answer.decision),
    )


def _told(answer: Answer, step_id: str, state: RunState, context: RunContext) -> RunUpdate:
    """Back to the step that asked, with question and answer; if nobody answers, the question ends the run."""
    question = state["question"]
    asked = question.text if question is not None else ""
    nobody = answer.decision == "nobody"
    text = asked if nobody else f"You asked: {asked}\nThe user answered: {answer.text}"
    record = StepRecord(
        step_id=step_id,
        node="consult",
        action="ask",
        origin=origin_of(state),
        tier="deterministic",
        code="refused" if nobody else "ok",
        summary=answer.text.partition("\n")[0][:200],
        output_ref=context.artifacts.put(text),
        error=NEEDS_ANSWER if nobody else "",
    )
    back: Route = "execute" if state["trail"][-1].node == "execute" else "coding"
    return RunUpdate(
        question=None,
        records=[record],
        **go("consult", "review" if nobody else back, origin="user", reason=answer.decision),
    )
