"""Decides the criteria that nothing has decided, before a run ends as done: by code, else by one call of a model."""

from collections.abc import Sequence

from codur.config.settings import Profile
from codur.errors import LimitReached, ModelError
from codur.llm.model import ChatRequest
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.nodes.parts.step_criteria import Left, left_open, not_met, seen_by_author
from codur.nodes.parts.updates import current_step, go, origin_of
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import bounded
from codur.planning.replies import CriteriaReply, messages
from codur.structs import replace
from codur.types import Step

ANSWER_TOKENS = 700
SCHEMA_TOKENS = 300
MOST_CHARS = 24_000
PROMPT_CHARS = 2000


_REMEDY = (
    "See for yourself (`codur diff`, `codur undo`), or say it so that code can check it: output contains TEXT, "
    "FILE exists, exit status 0."
)
_Answer = tuple[bool, str] | str  # whether it is met, and why; or why nobody could say


async def accept(state: RunState, context: RunContext) -> RunUpdate:
    """Done, if all that the plan says must hold does; what could not be judged is told.

    What nobody could judge ends a plan of the user with exit 1; its work is finished all the same, and stays.
    """
    left = left_open(state)
    unmet = _found_by_code(left, state, context)
    # All in one call: a plan with many criteria must not cost more than one question.
    asked = [item for item in left if not (item.by_check or item.pointless or item.decidable)]
    # What code has found decides alone, and for nothing.
    answers = [] if unmet else await _answers(asked, state, context)
    notes = [f"left to the check: {_named(item)}" for item in left if item.by_check]
    notes += [f"not checked: {_named(item)}: it runs no program" for item in left if item.pointless]
    open_ones = []
    for item, answer in zip(asked, answers, strict=False):
        if isinstance(answer, str):
            open_ones.append(f"{_named(item)}: {answer}")
            continue
        met, why = answer
        text = f"step {item.step.id}: {item.text!r} is {'' if met else 'not '}met, judged by a model: {why}"
        unmet = unmet or ("" if met else text)
        notes += [text] if met else []
    notes += [f"not checked: {text}" for text in open_ones]
    return RunUpdate(**_end(unmet, open_ones, state), notes=notes)


def _end(unmet: str, open_ones: Sequence[str], state: RunState) -> RunUpdate:
    by_user = state["task"].plan is not None or origin_of(state) == "user"
    failed, why = RunUpdate(), "what the plan says of its steps"
    if unmet:
        failed, why = RunUpdate(outcome="not_achieved", reason=unmet, solved_by=""), unmet
    elif open_ones and by_user:
        why = f"not checked: {'; '.join(open_ones)}"
        failed = RunUpdate(outcome="not_achieved", reason=why, remedy=_REMEDY, solved_by="", stays=True)
    return go("end", origin=origin_of(state), tier="guided", why=why, **failed)


def _found_by_code(left: Sequence[Left], state: RunState, context: RunContext) -> str:
    """The first criterion that code can decide and that does not hold, of steps that no node checks when it is done."""
    workspace, changed = seen_by_author(state, context), context.workspace.changed_files()
    for item in left:
        if item.decidable:
            step = replace(item.step, success_criteria=item.text, expected_output="")
            found = not_met(step, _output(item.step, state, context), None, changed, workspace)
            if found:
                return f"step {item.step.id}: {found}"
    return ""


async def _answers(asked: Sequence[Left], state: RunState, context: RunContext) -> list[_Answer]:
    agent = state["task"].agent
    if not asked:
        return []
    if agent and context.agents.is_external(agent):
        # Who named a program did not choose a service to judge it.
        return [f"the task is for {agent} alone"] * len(asked)
    asker = context.asker
    system = asker.prompts.render("criteria")

    def request(profile: Profile) -> ChatRequest:
        room = int((profile.request_tokens - ANSWER_TOKENS - SCHEMA_TOKENS) * BYTES_PER_TOKEN) - len(system)
        text = _text(asked, min(MOST_CHARS, max(0, room)), state, context)
        return ChatRequest(
            purpose="criteria",
            messages=messages(system, text),
            temperature=0.0,
            max_completion_tokens=ANSWER_TOKENS,
        )

    try:
        reply = await asker.ask(asker.pool.profiles.fast, request, CriteriaReply)
    except (ModelError, LimitReached) as error:
        return [error.message] * len(asked)
    said = [[item for item in reply.verdicts if item.number == number] for number in range(1, len(asked) + 1)]
    return [(found[0].met, found[0].why.strip()) if len(found) == 1 else "the model did not say" for found in said]


def _text(asked: Sequence[Left], room: int, state: RunState, context: RunContext) -> str:
    """The task, what the steps gave, the changes and the criteria; each output has the same share of the room."""
    steps = {item.step.id: item.step for item in asked}
    share = max(0, room - PROMPT_CHARS) // (len(steps) + 1)
    outputs = ((step, bounded(_output(step, state, context), share)) for step in steps.values())
    criteria = (f"{number}. {item.text} (step {item.step.id})" for number, item in enumerate(asked, start=1))
    return context.prompts.render(
        "criteria.task",
        task=bounded(state["task"].said_with(state["guidance"]), PROMPT_CHARS),
        outputs="\n\n".join(f"## {step.id}: {step.objective}\n{text or '(nothing)'}" for step, text in outputs),
        changes=bounded(context.for_models.diff(), share) or "(none)",
        criteria="\n".join(criteria),
    )


def _output(step: Step, state: RunState, context: RunContext) -> str:
    """What a step gave; of the step that ends the run, its last word."""
    last = step.id == current_step(state).id and state["answer_ref"]
    ref = last or state["outputs"].get(step.id, "")
    return context.artifacts.get(ref) if ref else ""


def _named(item: Left) -> str:
    return f"{item.text!r} (step {item.step.id})"
