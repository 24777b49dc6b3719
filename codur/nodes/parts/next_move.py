"""Where a run goes after a step: on, again, to another agent, to a new plan, or to its end; changes nothing itself."""

import re
from collections.abc import Sequence
from typing import Literal

from codur.checks.describe import failures_told, headline
from codur.checks.entry import bare_name, is_test_code
from codur.lazy import regex
from codur.nodes.parts import foreign_failures, offline_work, updates
from codur.nodes.parts.finding import Judged, speaks_for_tests
from codur.nodes.parts.handover import affordable, escalation_after, next_repair, stand_in_for
from codur.nodes.parts.updates import go
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import listed
from codur.planning import plans
from codur.planning.retry import UNAFFORDABLE, Decision, Situation, decide
from codur.questions import asks_of_tests
from codur.types import CODE_TASKS, Attempt, Outcome, StepRecord, Verdict

_KEEP_REMEDY = "Run it again with --keep to keep what came furthest, or without --offline."
_CHOOSE_REMEDY = (
    "Choose: `codur repair --all` shows the repairs, `codur repair --pick N` applies one; or install what tests that"
    " are left out need, and run it again."
)
_LIMITS_REMEDY = (
    "Raise the limits (--max-llm-calls, --max-tokens, --timeout), or shorten agents.preferences.escalation."
)
_APART = (
    "Every test that runs what was changed passes now, so that it stays. Those that still fail do not run it: look for "
    "another fault, or call cannot if they lack something here (a host, a tool, another version of a package)."
)
_HARMLESS = (
    "Nothing fails that passed before. If the edit does what is asked, and the tests that failed before are not about "
    "it or lack something here, call finish: then it is applied again, as it was."
)
_REACHED = (
    "Nothing fails that passed before; but tests that fail run what was changed, so that it is not clear that they are "
    "not about it. Change it so that they pass, or call cannot."
)
_LACKS = (
    "{} is not installed for this Python, and nothing can be installed here. Do without it where the task allows that; "
    "where it does not, call finish: then the edit is applied again, as it was, and told as not run."
)
_STALE = (
    "outputs in {0} are of before, or cleared: `jupyter nbconvert --to notebook --execute --inplace {0}` renews them"
)
_TIME_REMEDY = "Give the search more time (--timeout, repair.offline_budget_s), or run it again without --offline."
_TESTS_REMEDY = "Answer it on a terminal, or run it again with --may-edit-tests"
_REDO_REMEDY = "; codur undo --redo brings back what was edited"
_WORD = regex(r"\w+")
_MOST_QUESTIONS = 3  # each is an interruption of the user


def next_move(record: StepRecord, judged: Judged | None, state: RunState, context: RunContext) -> RunUpdate:
    """What follows a step, in which `judged` was found; None if that was not due."""
    if _lacks_words(record, state, context):
        return go("end", origin="llm_error", why=record.error, **updates.without_words(record.error, state, context))
    if record.node != "repair" and record.origin == "llm_error":
        return _model_failed(record, state, context)
    if not record.ok and _needs_the_user(record, state):
        asked = context.artifacts.get(record.output_ref) if record.output_ref else ""
        redo = _REDO_REMEDY if any(attempt.edit for attempt in state["attempts"]) else ""
        of_tests = record.action == "ask" and asks_of_tests(asked) and not state["task"].may_edit_tests
        remedy = f"{_TESTS_REMEDY}{redo}." if of_tests else ""
        return _end(record, "not_achieved", record.error, remedy=remedy, answer_ref=record.output_ref)
    if judged is not None:
        return _after_edits(record, judged, state, context)
    if record.node == "repair":
        return _after_repair(record, state, context)
    following = _following(state)
    if following is not None:
        return _next_step(following, state)
    if record.action == "ask" and record.ok:
        return _with_answer(record, state, context)
    lost = updates.blocked(state)
    return _plan_failed(lost, state, context) if lost else _end_of_plan(record, state, context)


def is_due(record: StepRecord, state: RunState, context: RunContext) -> bool:
    """Whether the check is: after the last step of a plan that edits, an edit that failed, a repair, and after the last
    program of a plan if what programs changed was not judged yet.

    What the user asked for in so many words ("append x to notes.txt") is carried out, not judged; so are the tool calls
    of the user's own plan, and the one of a classification, for a task that is not about code.
    """
    if record.node == "repair":
        asked = state["task"].repair
        return record.ok and not (asked is not None and not asked.applies and state["repair"] is not None)
    asks = record.origin == "llm_error" or (not record.ok and _needs_the_user(record, state))
    if asks or _lacks_words(record, state, context):
        return False
    plan = updates.present_plan(state)
    if plan.origin in {"user", "pre_plan"} and not updates.about_code(plan, state):
        return False
    code = state["discovery"].task_type in CODE_TASKS or bool(record.changed_files)
    if plan.origin == "pattern":
        return False
    step, rest = plan.steps[state["cursor"]], plan.steps[state["cursor"] + 1 :]
    if not updates.edits(step, context, code=code):
        # In a task about code, what programs changed, or may have, is judged once no other follows.
        known = state["discovery"].task_type not in CODE_TASKS or state["verdict"] != state["before"]
        if known or not updates.may_change(step, context) or any(updates.may_change(each, context) for each in rest):
            return False
        return updates.may_be_changed(context)
    if not record.ok:
        return True
    # After the last edit only: half of a change may well be red.
    return not any(updates.edits(each, context) for each in rest)


def _lacks_words(record: StepRecord, state: RunState, context: RunContext) -> bool:
    """Whether a step failed that was only to say in words what is done."""
    return record.action == "delegate" and not (record.ok or record.summary) and updates.only_words_left(state, context)


def _needs_the_user(record: StepRecord, state: RunState) -> bool:
    """Whether a step that edits ended with a question that nobody answered, or with what it cannot do and why."""
    words = {"ask", "respond"}
    return record.action in words and updates.current_step(state).action not in words


def _following(state: RunState) -> int | None:
    """The index of the next step that can still run."""
    steps, lost = updates.present_plan(state).steps, updates.blocked(state)
    return next((index for index in range(state["cursor"] + 1, len(steps)) if steps[index].id not in lost), None)


def _next_step(following: int, state: RunState) -> RunUpdate:
    return go("policy", origin=updates.present_plan(state).origin, why="next step", cursor=following)


def _with_answer(record: StepRecord, state: RunState, context: RunContext) -> RunUpdate:
    """The plan was a question: with the answer, one that carries out the task."""
    step = updates.current_step(state)
    if not updates.can_ask(state, context) or state["answers"] >= _MOST_QUESTIONS:
        return _end(record, "not_achieved", "the plan ended with a question")
    answer = context.artifacts.get(record.output_ref)
    reason = f"You asked: {step.arguments.get('text', '')} The user answered: {answer}"
    return go("llm_plan", origin="user", tier="open", why="answered", answers=1, reason=reason)


def _plan_failed(lost: Sequence[str], state: RunState, context: RunContext) -> RunUpdate:
    """Steps could not run because one before them failed: a new plan that knows what was done, or the end."""
    plan, failed = updates.present_plan(state), updates.failed_steps(state)
    first = failed[0]
    reason = f"step {first.step_id} failed: {first.error}"
    # Once; the user's own plan is never made anew without them.
    if plan.origin == "plan" and state["replans"] < 1 and updates.can_ask(state, context):
        ended = [
            f"{record.step_id} ({record.capability})" for record in state["records"][state["since"] :] if record.ok
        ]
        rest = "Make a plan for what is left; its steps may use these outputs as inputs."
        done = f"Done already: {', '.join(ended)}. {rest}" if ended else "Nothing was done yet. Make another plan."
        return go("llm_plan", origin="plan", tier="open", why=reason, replans=1, reason=f"{reason}. {done}")
    return _end(first, "not_achieved", f"{reason}; not run: {', '.join(lost)}")


def _end_of_plan(record: StepRecord, state: RunState, context: RunContext) -> RunUpdate:
    """The last step only read: its output is the answer, if the task asked for one."""
    plan = updates.present_plan(state)
    if plan.origin == "repair" and updates.unfinished(state, context):
        return _after_repair(record, state, context)
    if not record.ok:
        outcome: Outcome = "refused" if record.code == "refused" else "not_achieved"
        return _end(record, outcome, record.error, answer_ref=record.output_ref)
    reason = updates.left_failed(state, context)
    if not reason and plan.origin != "pattern":
        reason = updates.unfinished(state, context)
    if reason:
        return _end(record, "not_achieved", reason, answer_ref=record.output_ref)
    solver = "pattern" if plan.origin == "pattern" else state["solved_by"] or record.capability
    return RunUpdate(**{**_end(record, "done", "", answer_ref=record.output_ref), "solved_by": solver})


def _after_repair(record: StepRecord, state: RunState, context: RunContext) -> RunUpdate:
    """The offline search found nothing, or was not to write it: the end, on to a model, or back to the retry."""
    asked, report = state["task"].repair, state["repair"]
    if record.ok and report is not None:
        return _end(record, "done" if report.patches or report.suspects else "not_achieved", record.error)
    if asked is not None:
        return _end(record, "not_achieved", record.error)
    if state["outcome"] is not None:
        return go("end", origin="llm_error", why=state["reason"])
    if not updates.can_ask(state, context):
        error = updates.why_not(state, context)
        by = updates.current_step(state).arguments.get("command", record.capability)
        what = "the search without one stopped." if record.node == "repair" else f"`{by}` does not do it."
        searched = f"{what} {record.error}".strip()
        reason = searched if state["task"].offline else f"{searched} {error.message}"
        cut = state["task"].offline and report is not None and report.tried and not report.complete
        remedy = _CHOOSE_REMEDY if report is not None and report.patches else _TIME_REMEDY if cut else error.remedy
        return go("end", origin="repair", why=record.error, outcome="no_model", reason=reason, remedy=remedy)
    return go("llm_plan" if state["attempts"] else "llm_pre_plan", origin="repair", tier="open", why=record.error)


def _model_failed(record: StepRecord, state: RunState, context: RunContext) -> RunUpdate:
    """No model answered: another agent if one stands in, offline work if there is some left to do, else the end."""
    other = _standing_in(record, state, context)
    if other:
        return other
    # A search may do without what the model was to do.
    if offline_work.can_repair(state, context) and not offline_work.repair_tried(state):
        return go("repair", origin="llm_error", why=f"{state['reason']}; searching offline instead")
    return go("end", origin="llm_error", why=state["reason"], outcome=state["outcome"] or "no_model")


def _standing_in(record: StepRecord, state: RunState, context: RunContext) -> RunUpdate:
    """The same edit by an agent that stands in; empty if there is none, or nothing left to pay for it."""
    agent, passed_over = stand_in_for(record.capability, state, context)
    if agent is None or not affordable(agent, state, context):
        return RunUpdate()
    plan = plans.full_plan.retry_plan(state["plan"], agent=agent.name, codes=agent.config.type == "coding")
    if plan is None:
        return RunUpdate()
    why = f"{record.capability} cannot run; {agent.name} stands in"
    notes = [*passed_over, f"{why}: {record.error}"]
    way = go("policy", origin="llm_error", why=why, plan=plan, cursor=0, coder=agent.name, notes=notes)
    return RunUpdate(**way, outcome=None, reason="", remedy="")


def _after_edits(record: StepRecord, judged: Judged, state: RunState, context: RunContext) -> RunUpdate:
    verdict = judged.verdict
    if verdict is not None and verdict.status != "flaky" and judged.attempt is None:
        notes = [*_left_out(state, context), *foreign_failures.worse_left_out(verdict, context)]
        steps = [each for each in state["records"][state["since"] :] if each.ok]
        said = [each.said for each in steps if each.said]
        before = [text for text in _said_before(record, state, context) if not any(text in other for other in said)]
        notes += [f"the model says: {text}" for text in (*before, *said) if text]
        notes += _written_otherwise(state, context)
        notes += [_STALE.format(path) for path in context.workspace.changed_files() if path.endswith(".ipynb")]
        coders = [each.capability for each in steps if each.action in {"coding", "delegate"}]
        solver = "repair" if record.node == "repair" else (coders or [record.capability])[-1]
        following = _following(state) if record.node != "repair" else None
        reason = "" if following is not None else updates.left_failed({**state, "verdict": verdict}, context)
        end = _end(record, "not_achieved" if reason else "done", reason)
        end = end if following is None else _next_step(following, state)
        return RunUpdate(**{**end, "solved_by": solver}, verdict=verdict, iteration=1, notes=notes)
    if verdict is not None and verdict.status == "flaky":
        reason = f"the check is flaky: {verdict.note}"
        return RunUpdate(verdict=verdict, iteration=1, **_end(record, "not_achieved", reason))
    if judged.attempt is None:
        raise AssertionError("a failed step left no attempt behind")
    if record.node == "repair" and (other := next_repair(judged, state, context)):
        way = go("repair", origin="repair", why=other["notes"][0], **other)
        return RunUpdate(**way, verdict=verdict, iteration=1, attempts=[judged.attempt])
    # `codur repair` asks for a search and nothing else: no model takes over.
    if state["task"].repair is not None:
        reason = "the repair mends a part" if judged.apart else "the repair does not hold outside of the search"
        end = _end(record, "not_achieved", reason)
        return RunUpdate(verdict=judged.last, iteration=1, attempts=[judged.attempt], **end)
    if judged.gained and judged.apart and (tells := _tells_fault(judged.last, state)):
        return _rest_left(record, judged, done=tells == "test")
    return _after_failure(record, judged.attempt, judged, state, context)


def _said_before(record: StepRecord, state: RunState, context: RunContext) -> list[str]:
    """What was said beside edits of earlier attempts that are all there in the end."""
    now, said = _added(context.workspace.diff()), []
    records = [each for each in state["records"] if each != record]
    for attempt in state["attempts"]:
        made = next((each for each in records if each.summary == attempt.summary), None)
        if made is not None:
            records.remove(made)
            said += [made.said] if (was := _added(attempt.diff)) and was <= now else []
    return said


def _added(diff: str) -> set[str]:
    return {line for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++ ")}


def _tells_fault(now: Verdict | None, state: RunState) -> Literal["test", "fault", ""]:
    """Whether a task names or quotes failing tests that pass now, or tells a fault and nothing of tests at large."""
    task, before = state["task"], state["before"]
    if task.check_is_goal or before is None or now is None:
        return ""
    said = set(_WORD.findall(task.prompt))
    named = [test for test in before.failing if bare_name(test) in said] or failures_told(before, task.prompt)
    if named:
        return "" if set(named) & set(now.failing) else "test"
    more = plans.first_plan.says_more(task.prompt, state["discovery"])
    return "fault" if more and not speaks_for_tests(task.prompt) else ""


def _rest_left(record: StepRecord, judged: Judged, *, done: bool) -> RunUpdate:
    """The end of a task whose fault is mended, while tests that do not run the change fail as before."""
    if done:
        return RunUpdate(
            **{**_end(record, "done", ""), "solved_by": record.capability}, verdict=judged.last, iteration=1
        )
    rest = len(judged.last.failing) if judged.last is not None else 0
    tests = "1 test that failed before still fails" if rest == 1 else f"{rest} tests that failed before still fail"
    reason = f"all tests that run what was changed pass now; {tests}, for another reason"
    attempts = [judged.attempt] if judged.attempt is not None else []
    return RunUpdate(**_end(record, "not_achieved", reason), verdict=judged.last, iteration=1, attempts=attempts)


def _after_failure(
    record: StepRecord, attempt: Attempt, judged: Judged, state: RunState, context: RunContext
) -> RunUpdate:
    worked = record.capability
    if record.node == "repair":  # what an offline search came to counts for the agent that it helped
        tried = (attempt.by for attempt in reversed(state["attempts"]) if attempt.by != "repair")
        worked = next(tried, state["coder"])
    agent, passed_over = escalation_after(worked, state, context)
    decision = decide(
        Situation(
            attempt=attempt,
            earlier=state["attempts"],
            before=state["before"],
            gained=judged.gained,
            stalls=state["stalls"],
            patience=context.settings.agents.preferences.patience,
            iteration=state["iteration"] + 1,
            max_iterations=state["task"].limits.max_iterations,
            near_miss_repair=offline_work.can_repair(state, context) and record.ok and attempt.progress > 0,
            another_agent=agent is not None,
            affordable=agent is None or affordable(agent, state, context),
        )
    )
    update = RunUpdate(
        iteration=1,
        attempts=[attempt],
        patched=(),
        stalls=decision.stalls,
        steer=_steer(judged, decision.steer),
        verdict=judged.last if decision.move == "stop" else judged.verdict,
    )
    # For the next attempt that comes to the same change: it is not judged again.
    if judged.last is not None and attempt.edit:
        update["failures"] = {attempt.edit: judged.last}
    if decision.move == "escalate" or (decision.move == "stop" and decision.stalls):
        update["notes"] = passed_over
    if decision.move == "escalate" and agent is not None:
        update["coder"] = agent.name
    return RunUpdate(**update, **_move(record, decision, {**state, **update}, context))


def _steer(judged: Judged, told: str) -> str:
    """What the next attempt is told; what is foreign to the task is not to be followed up."""
    if judged.lacks:
        return _LACKS.format(listed(judged.lacks, 3))
    if judged.harmless and not judged.apart:
        return _REACHED if judged.harmless == "told" else _HARMLESS
    return "\n".join(filter(None, (_APART if judged.apart else "", told)))


def _move(record: StepRecord, decision: Decision, state: RunState, context: RunContext) -> RunUpdate:
    if decision.move == "stop":
        remedy = _LIMITS_REMEDY if UNAFFORDABLE in decision.reason else ""
        return _end(record, decision.outcome, decision.reason, remedy=remedy)
    if decision.move == "near_miss":
        return go("repair", origin="repair", why=decision.reason)
    if not updates.can_ask(state, context):
        error = updates.why_not(state, context)
        if record.node == "repair" and state["task"].offline:
            return _end(record, "no_model", _mends_a_part(state), remedy=_KEEP_REMEDY)
        return _end(record, "no_model", error.message, remedy=error.remedy)
    return go("llm_plan", origin=record.origin, tier="open", why=decision.reason)


def _mends_a_part(state: RunState) -> str:
    """What an offline repair came to that passed in a copy and is not enough in the workspace."""
    before, verdict = state["before"], state["failures"].get(state["attempts"][-1].edit)
    rest = verdict.failing if verdict is not None else ()
    if rest and before is not None and not set(rest) & set(before.failing):
        return f"The repair that was found breaks {listed(rest, 3)}."
    if before is None or verdict is None or verdict.progress <= before.progress or not rest:
        return "The repair that was found does not make the check pass in the workspace."
    more = f" and {len(rest) - 1} more" if len(rest) > 1 else ""
    kind = "fails as before" if set(rest) <= set(before.failing) else "then fails"
    return f"The repair that was found mends a part: {rest[0]}{more} {kind}."


def _end(record: StepRecord, outcome: Outcome, reason: str, *, remedy: str = "", answer_ref: str = "") -> RunUpdate:
    told = RunUpdate(outcome=outcome, reason=reason, remedy=remedy, answer_ref=answer_ref, solved_by="")
    return go("end", origin=record.origin, tier=record.tier, why=reason or record.summary, **told)


def _written_otherwise(state: RunState, context: RunContext) -> list[str]:
    """What new tests wanted first that failed, and was changed while the program stayed as it was."""
    changed = context.workspace.changed_files()
    known = [each for each in state["failures"].values() if each.failing]
    earlier = [each for each in known if all(test.startswith(changed) for test in each.failing)]
    if not (earlier and all(map(is_test_code, changed))):
        return []
    said = headline(earlier[0].error)
    return [f"first written otherwise, as the program fails it: {listed(earlier[0].failing, 3)} ({said}): look at it"]


def _left_out(state: RunState, context: RunContext) -> list[str]:
    """Sources that the task names beside others and that stayed as they were: the check may not have seen them."""
    changed = context.workspace.changed_files()
    prompt = state["task"].prompt
    named = [
        path
        for path in state["discovery"].files
        if path.endswith(".py") and re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])", prompt)
    ]
    rest = [path for path in named if path not in changed and context.workspace.may_edit(path)]
    return [f"named in the task and not changed: {', '.join(rest)}"] if rest and len(named) > len(rest) else []
