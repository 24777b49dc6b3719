"""Asks the user: for approval of a plan or of a test, or for an answer. What follows from it is decided by others."""

from codur.nodes.parts.updates import NEEDS_ANSWER, current_step, go, origin_of
from codur.nodes.run_state import Route, RunContext, RunState, RunUpdate
from codur.questions import Answer, agreed_deletion
from codur.structs import replace
from codur.types import StepRecord


async def consult(state: RunState, context: RunContext) -> RunUpdate:
    """Put the question that a node left. The run waits here, and a run that is cut off asks again."""
    question = state["question"]
    if question is None:
        raise AssertionError("there is nothing to ask")
    # LangGraph runs this node again from its beginning when the answer is there: nothing may stand before this line
    # that does something.
    answer = context.consult(question) if context.consult is not None else Answer(decision="nobody")
    if question.kind == "question":
        return _answered(answer, state, context)
    to_test = question.kind == "test"
    if to_test and answer.decision in {"approve", "reject"} and answer.text:
        context.guidance.say(answer.text)  # "yes, but …" is for who edits, another wish for who makes the next one
    return go("make_check" if to_test else "policy", origin="user", why=answer.decision, question=None, answer=answer)


def _answered(answer: Answer, state: RunState, context: RunContext) -> RunUpdate:
    """The answer as the step's output; a step that edits goes on with it, and ends the run where nobody answers."""
    step, question = current_step(state), state["question"]
    asks, nobody = step.action == "ask", answer.decision == "nobody"
    asked = question.text if question is not None else ""
    if asks and answer.text and agreed_deletion(asked, answer.text):
        context.guidance.say(f"Yes: {asked}")  # so it is asked for, and later steps know
    told = asked if nobody else f"You asked: {asked}\nThe user answered: {answer.text}"
    record = StepRecord(
        step_id=step.id,
        node="consult",
        action="ask",
        origin=origin_of(state),
        tier="deterministic",
        code="refused" if nobody else "ok",
        summary=answer.text.partition("\n")[0][:200],
        output_ref=context.artifacts.put(answer.text if asks else told),
        error=NEEDS_ANSWER if nobody else "",
    )
    back: Route = "execute" if state["trail"][-1].node == "execute" else "coding"  # the node that asked
    to = "review" if asks or nobody else back
    outputs = {step.id: record.output_ref} if asks else {}
    discovery, check = state["discovery"], state["discovery"].check
    # Who answers may want another output than his first words did.
    if check is not None and check.kind == "kept_output" and answer.text:
        discovery = replace(discovery, check=replace(check, may_differ=True))
    update = RunUpdate(question=None, records=[record], outputs=outputs, discovery=discovery)
    return go(to, origin="user", why=answer.decision, **update)
