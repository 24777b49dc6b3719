"""Edits by the coding agent."""

import asyncio
import re

from codur.agents.assignment import CodingTask
from codur.agents.coding import DELETES, CodingOutcome, apply_edits, write_code
from codur.agents.registry import Agent
from codur.checks.describe import diff_text, verdict_text
from codur.checks.entry import is_test_code
from codur.checks.suites.made_check import PASSES_NOW
from codur.context.brief import CodingBrief
from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.lazy import regex
from codur.nodes.parts import allowed_by_user, foreign_failures
from codur.nodes.parts.allowed_by_user import (
    addable,
    answers,
    deletable,
    going_with_tests,
    guarded,
    may_be_asked_for,
    speaks_of_tests,
    without_freed_tests,
)
from codur.nodes.parts.attempt_verdict import AS_IT_WAS, edit_name, put_back_harmless
from codur.nodes.parts.finding import is_specified, may_fail, others_fail, some_may_be_apart
from codur.nodes.parts.first_check import seen_before
from codur.nodes.parts.samples import Copy, best_of, how_many
from codur.nodes.parts.sources import assignment, brief_of, instruction_notes, target
from codur.nodes.parts.step_criteria import held_to
from codur.nodes.parts.updates import current_step, go, hint_of, not_answered, origin_of, tell_changes
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate, is_test_older
from codur.parsing.bounded_text import listed
from codur.python.interpreter import python_version
from codur.questions import Question, granted_by
from codur.structs import replace
from codur.types import StepRecord

_LISTED = 5
_LOOKED = 8  # so many parts of files that were looked at are shown again
_CHECK_CHARS = 6000  # of one look of an agent; the request that follows holds all of the conversation
_ALLOWED = (
    "This changes no behaviour: what passes now must still pass, and the tests that fail now may fail as they do."
)
_LEFT = "What passes now must still pass, and the tests that fail now may fail as they do."
_NAMED = "Of the tests that fail now those that the task names have to pass; the others may fail as they do."
_GREEN = (
    "Where a test of the project expects what the task wants otherwise, keep no second way for its sake: ask with"
    " ask_user whether that test may be changed."
)
_SO_ALREADY = (
    "A test that was written for this passes as the program is now, so that the code may do already what is asked for."
    " If it does, change nothing, and say so with cannot."
)
_ON_DEMAND = (
    "An exception to the rule on read-only files: a test that the task itself wants changed may be edited, with the"
    " rest; the user is asked."
)
_CLAIMS = regex(
    r"(?!.*(?:\b(?:not|cannot|no|never|unless|but|wrong|impossible|outdated|fail\w*|only|already|needs?|requires?|must"
    r"|has to|have to|so that|until|if|would|which)\b|n['’]t\b|\?))"
    r".*\b(?:tests?|all|everything|faults?|bugs?|errors?|it|code|checks?)\b[^.]{0,40}"
    r"\b(?:pass(?:es)?|mended|fixed|done|solved|works?|green|repaired|corrected)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What gives up for the reason that all is well."""
_LEFT_OUT = "left out: edits of {}, by which the task is checked (--may-edit-tests allows them)"
_NOT_SO = "it made no edit and said: {} The check still fails"
_FOREIGN = "If the tests that fail now have nothing to do with this, leave them, and call finish beside your edits."
_SOME_FOREIGN = (
    "If some of the tests that fail now have nothing to do with this, leave those, and call finish beside your edits to"
    " say which."
)


async def coding(state: RunState, context: RunContext) -> RunUpdate:
    """Ask the coding agent for edits and apply them."""
    agent = context.agents.coding(explicit=state["coder"] or current_step(state).capability or state["task"].agent)
    return await code_with(agent, "coding", state, context)


async def code_with(agent: Agent, node: NodeName, state: RunState, context: RunContext) -> RunUpdate:
    """One coding request by an agent, as a node's whole update.

    If nothing has run the check yet (rules did not know that the task is about code), it is run first.
    """
    seen = await asyncio.to_thread(seen_before, state, context)  # it runs programs, and the loop must go on
    state = {**state, **seen}
    notes = await asyncio.to_thread(_taken_over, state, context)
    seen["discovery"] = state["discovery"] = without_freed_tests(state, context)
    update = await _code(agent, node, state, context)
    return RunUpdate(**{**seen, **update, "notes": [*notes, *update.get("notes", ())]})


def _taken_over(state: RunState, context: RunContext) -> list[str]:
    """Take the check's files as the user left them who was asked just now; gives what is said of that."""
    last = state["records"][-1] if state["records"] else None
    # Its own question: before one of the plan's a program may have changed them.
    own = last is not None and last.node == "consult" and last.step_id == current_step(state).id
    changed = context.checker.retake() if own else ()
    context.best.retaken |= bool(changed)
    return [f"changed while you were asked, and counted as it is: {listed(changed, _LISTED)}"] if changed else []


async def _code(agent: Agent, node: NodeName, state: RunState, context: RunContext) -> RunUpdate:
    try:
        outcome = await _write(agent, state, context)
    except ModelAnswerError as error:
        outcome = CodingOutcome(code="invalid", summary="", error=error.message)
    except (ModelUnavailable, LimitReached) as error:
        return not_answered(node, agent, error, state)
    kept: list[str] = []
    verdict = state["verdict"]
    if outcome.kind == "cannot" and verdict is not None and verdict.status == "failed" and _CLAIMS.match(outcome.error):
        outcome = CodingOutcome(code="invalid", summary="", error=_NOT_SO.format(outcome.error))
    # Also of an answer that ends in a question: what it edited stays; and not of an edit from before that is the end.
    tell_changes(outcome.changed_files, context)
    if outcome.kind == "finished":
        outcome, kept = await asyncio.to_thread(_finished, outcome, state, context)
    context.best.claimed = outcome.foreign
    also = [path for path in outcome.changed_files if path in state["task"].made and is_test_code(path)]
    kept += [f"changed with it: {listed(also, 3)}, which this conversation made"] if also else []
    left = _LEFT_OUT.format(listed(outcome.left_out, 3)) if outcome.left_out else ""
    kept += [left] if left and left not in state["notes"] else []
    discovery = state["discovery"]
    if outcome.adds:
        discovery = allowed_by_user.added(discovery, outcome.adds, context)
    # What was looked at last is shown longest.
    looked = [*(part for part in state["looked"] if part not in outcome.looked), *outcome.looked][-_LOOKED:]
    origin, said = origin_of(state), outcome.summary or outcome.error
    if outcome.kind == "question":
        # What differs when the answer is there was changed by the user.
        await asyncio.to_thread(context.checker.pristine.restore, context.workspace)
        context.best.waiting = outcome.edits
        question = Question(kind="question", text=said)
        return go(
            "consult", origin=origin, tier="open", why=said, discovery=discovery, looked=looked, question=question
        )
    return go(
        "review",
        origin=origin,
        tier="open",
        why=said,
        discovery=discovery,
        looked=looked,
        records=[held_to(_record(agent, node, outcome, state), outcome.summary, state, context)],
        notes=[*instruction_notes(context), *kept],
        outputs={current_step(state).id: context.artifacts.put(said)},
    )


def _finished(outcome: CodingOutcome, state: RunState, context: RunContext) -> tuple[CodingOutcome, list[str]]:
    """The end with an edit that was tried before, which the review has to accept; and what is told of it.

    What earlier steps of the plan edited was not tried yet: that is meant, and stays as it is. Where the task is that
    tests pass, which some do not, the agent gave up; the edit stays if more pass than before.
    """
    changed = context.workspace.changed_files()
    if changed and edit_name(context.workspace.diff()) not in state["failures"]:
        return replace(outcome, kind="edits", code="ok", summary="nothing more", changed_files=changed, error=""), []
    verdict, before = put_back_harmless(state, context), state["before"]
    if verdict is None or before is None:
        return replace(outcome, kind="cannot", foreign=""), []
    if is_specified(verdict.failing, state) and not foreign_failures.not_installed(verdict, state, context):
        more, older = (verdict.tests_passed or 0) > (before.tests_passed or 0), is_test_older(state)
        if more or older:
            context.best.part = context.best.harmless
        told = ["kept: more tests pass than before, and none fails that passed"] if more else []
        told = [f"kept, though the test made before you said more fails: {outcome.foreign}"] if older else told
        return replace(outcome, kind="cannot", foreign=""), told
    changed = context.workspace.changed_files()
    return replace(outcome, kind="edits", code="ok", summary=AS_IT_WAS, changed_files=changed, error=""), []


async def _write(agent: Agent, state: RunState, context: RunContext) -> CodingOutcome:
    # `auto` is resolved here: several answers are asked of profiles by name.
    agent = replace(agent, profile=context.models.profiles.named(agent.profile))
    may_go = None if DELETES in agent.config.tools else deletable(state, context)
    if agent.config.type == "coding" and may_go:
        tools = tuple(dict.fromkeys((*agent.config.tools, DELETES)))
        agent = replace(agent, config=replace(agent.config, tools=tools))
    if (allowed := _allowed(agent, state, context)) is not None:
        return allowed
    step, settings = current_step(state), context.settings
    brief = await asyncio.to_thread(_brief, state, context)
    check = state["discovery"].check
    asked_before = any(item.node == "consult" and item.action == "ask" for item in state["records"])
    can_check = check is not None and check.kind != "syntax" and settings.tools.allow_run

    count = how_many(agent, state, context)
    may_grow = addable(state, unasked=True) if count == 1 else frozenset[str]()

    async def ask(profile: str, temperature: float | None, copy: Copy | None) -> CodingOutcome:
        asked = replace(agent, profile=profile)
        fitted = context.models.sizes.fitted(profile)
        run = copy.run if copy else context.checker.run
        task = CodingTask(
            brief=brief,
            workspace=context.workspace,
            target=target(state, step, brief.sources, context),
            whole_file_lines=settings.tools.whole_file_lines,
            source_tokens=settings.context.source_tokens,
            read_text_calls=settings.runtime.detect_tool_calls_from_text,
            max_looks=settings.agents.coding.max_looks,
            run_check=(lambda: verdict_text(run(check), limit=_CHECK_CHARS)) if can_check else None,
            may_finish=context.best.harmless is not None
            or others_fail(state)
            or some_may_be_apart(state)
            or is_test_older(state),
            asking="asked" if asked_before else "user" if context.consult is not None else "nobody",
            temperature=temperature,
            elsewhere=copy.ready if copy else None,
            guarded=may_be_asked_for(state, context),
            fixed=guarded(state) - addable(state) if context.consult is None else frozenset(),
            addable=may_grow,
            gone=going_with_tests(state),
            deletable=may_go,
        )
        return await write_code(task, assignment(asked, fitted, brief.sources, context))

    outcome = await best_of(count, agent, ask, state, context) if count > 1 else None
    return outcome or await ask(agent.profile, None, None)


def _allowed(agent: Agent, state: RunState, context: RunContext) -> CodingOutcome | None:
    """What comes of the edits that waited for the user's leave; None if there are none, or they do not do."""
    waiting, context.best.waiting = context.best.waiting, ()
    said = answers(state, context)
    if not (waiting and said and granted_by(said[-1])):
        return None
    outcome, _ = apply_edits(waiting, agent, context.toolbox, context.workspace)
    return replace(outcome, foreign=context.best.claimed) if outcome.code == "ok" else None


def _brief(state: RunState, context: RunContext) -> CodingBrief:
    """What the agent is told."""
    step, discovery = current_step(state), state["discovery"]
    brief = brief_of(state, step, context)
    so_already = _SO_ALREADY if any(PASSES_NOW in note for note in state["notes"]) else ""
    read_only = {path for path in brief.sources if not context.workspace.may_edit(path)} - addable(state)
    asks = context.consult is not None and not read_only.isdisjoint(guarded(state))
    demand = _ON_DEMAND if asks and speaks_of_tests(state) else ""
    said = (brief.objective, _of_failing(state), so_already, demand, *answers(state, context))
    made = [f"/{path}" for path in context.workspace.changed_files()]
    return replace(
        brief,
        objective="\n\n".join(filter(None, said)),
        missing_files=[name for name in discovery.missing_files if not any(path.endswith(f"/{name}") for path in made)],
        python_version=python_version(context.python, context.launcher),
        read_only=frozenset(read_only),
        check=discovery.check,
        verdict=state["verdict"],
        others_fail=len(state["before"].failing) if state["before"] and others_fail(state) else 0,
        attempts=state["attempts"],
        on_disk=diff_text(context.for_models.diff()),
        will_retry=state["iteration"] + 1 < state["task"].limits.max_iterations,
        steer=hint_of(state),
    )


def _of_failing(state: RunState) -> str:
    """What is said of the tests that fail before anything is changed."""
    may, before = may_fail(state), state["before"]
    green = before is not None and before.status == "passed" and bool(before.tests_total)
    if not may and (green or state["making"] == "made"):
        return "" if state["discovery"].edits_tests else _GREEN
    if not may:
        return _FOREIGN if others_fail(state) else _SOME_FOREIGN if some_may_be_apart(state) else ""
    if before is not None and len(may) < len(before.failing):
        return _NAMED
    return _ALLOWED if state["discovery"].task_type == "refactor" else _LEFT


def _record(agent: Agent, node: NodeName, outcome: CodingOutcome, state: RunState) -> StepRecord:
    gave_up = outcome.kind == "cannot"
    return StepRecord(
        step_id=current_step(state).id,
        node=node,
        action="respond" if gave_up else "coding",
        capability=agent.name,
        origin=origin_of(state),
        tier="open",
        code=outcome.code,
        summary=outcome.summary,
        changed_files=outcome.changed_files,
        error=f"{agent.name} says: {outcome.error}" if gave_up else outcome.error,
        held=outcome.held,
        others=outcome.others,
        said=outcome.said,
    )
