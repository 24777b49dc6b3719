"""The only gate between deciding and doing. Deterministic; never calls a model."""

from codur.errors import ALLOW_IT
from codur.events import StepBegan
from codur.nodes.parts import offline_work, updates
from codur.nodes.parts.approval_question import ask_first, ask_late, effects, end_run, rejected
from codur.nodes.parts.plan_rules import completed, problem_at_last, problem_of, told
from codur.nodes.parts.step_criteria import left_open
from codur.nodes.parts.updates import go
from codur.nodes.run_state import Route, RunContext, RunState, RunUpdate
from codur.planning import plans
from codur.planning.plans.step_references import UnresolvedReference, filled
from codur.planning.plans.validation import Problem
from codur.questions import Answer, Question
from codur.types import Action, Plan, Step

REPLANS = 1
"""How often a plan that cannot be carried out is sent back."""

_SHOWN_CHARS = 200  # of what a step is for, as it is told
_NODE_OF: dict[Action, Route] = {"tool": "tool", "coding": "coding", "delegate": "delegate", "repair": "repair"}


def policy(state: RunState, context: RunContext) -> RunUpdate:
    """Let the next step through, ask the user, send the plan back, or end the run."""
    plan = updates.present_plan(state)
    if state["answer"] is not None:
        return RunUpdate(**{"answer": None, **_after_answer(state["answer"], plan, state, context)})
    if state["cursor"] > 0:
        return _let_through(plan, state, context)
    return _admit(plan, state, context)


def _after_answer(answer: Answer, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    if answer.decision == "approve":
        problem = problem_of(plan, state, context)
        if problem is not None:  # what was asked was to change it
            return _reject(problem, plan, state, context)
        approved = effects(plan, state, context)
        return RunUpdate(**{"approved": approved, **_let_through(plan, {**state, "approved": approved}, context)})
    if answer.decision == "edit" and answer.plan is not None:
        changed: RunState = {**state, "answer": None, "plan": answer.plan}
        return RunUpdate(**{"plan": answer.plan, **_admit(answer.plan, changed, context, edited=True)})
    return rejected(answer, plan, state, context)


def _admit(plan: Plan, state: RunState, context: RunContext, *, edited: bool = False) -> RunUpdate:
    """What follows from a plan that has not begun; one that the user has just edited can be changed again."""
    plan = completed(plan, state, context)
    problem = problem_of(plan, state, context)
    update = RunUpdate(plan=plan, since=len(state["records"]))
    if problem is not None and not edited:
        return RunUpdate(**{**update, **_reject(problem, plan, state, context)})
    if state["task"].plan_only:
        return RunUpdate(**{**update, **_only_planned(plan, state, context)})
    asked = ask_first(plan, told(problem, plan) if problem else "", state, context)
    return RunUpdate(**{**update, **(asked or _let_through(plan, {**state, **update}, context))})


def _is_for_others(step: Step, state: RunState, context: RunContext) -> bool:
    """Whether a step of edits falls to an agent that is another program, which is delegated to."""
    if step.action != "coding":
        return False
    named = state["coder"] or step.capability or state["task"].agent
    return context.agents.for_discovery(state["discovery"], explicit=named or None).external


def _reject(problem: Problem, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    origin, text = plan.origin, problem.text
    if problem.refused:
        return end_run(origin, "refused", text, ALLOW_IT)
    if origin == "user":
        reason = f"the plan cannot be carried out: {told(problem, plan)}"
        remedy = "Correct the plan; `codur tools` and `codur agents` show what there is."
        return end_run(origin, "usage", reason, remedy, text)
    if state["replans"] < REPLANS and updates.can_ask(state, context) and origin != "pattern":
        return go("llm_plan", origin=origin, why=text, replans=1, reason=text)
    remedy = "Say the task in other words, or in smaller parts."
    return end_run(origin, "not_achieved", f"no plan could be carried out: {text}", remedy, text)


def _only_planned(plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """The end of a task that asked for nothing but a plan."""
    outcome, reason, text = plan.outcome, plan.reason, ""
    if plan.origin != "llm_error" or outcome == "done":
        outcome, reason = "done", ""
        text = plans.plan_file.plan_text(plan, task=state["task"].prompt, workspace=state["task"].workspace)
    why, answer = f"{len(plan.steps)} steps planned, none carried out", context.artifacts.put(text) if text else ""
    return go("end", origin=plan.origin, why=why, outcome=outcome, reason=reason, answer_ref=answer)


def _let_through(plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    step = plan.steps[state["cursor"]]
    if len(plan.steps) > 1:
        whats = ((each.objective or f"{each.action} {each.capability}".strip())[:_SHOWN_CHARS] for each in plan.steps)
        context.emit(StepBegan(number=state["cursor"] + 1, steps=tuple(whats)))
    if step.undecided:
        return go("choose", origin=plan.origin, tier="guided", why=step.objective or "the next tool")
    if step.action == "ask" and context.consult is not None:
        question = Question(kind="question", text=str(step.arguments.get("text", "")))
        return go("consult", origin=plan.origin, why=step.objective, question=question)
    if step.action in {"respond", "ask"}:
        return _last_word(step, plan, state, context)
    if step.action in {"coding", "delegate"} and not updates.can_ask(state, context):
        error = updates.why_not(state, context)
        if updates.only_words_left(state, context):
            done = updates.held_to_git(updates.without_words(error.message, state, context), state, context)
            return go("end", origin="llm_error", why=error.message, **done)
        return end_run("llm_error", "no_model", error.message, error.remedy)
    problem = problem_at_last(step, plan, state, context)
    if problem is not None:
        return _reject(problem, plan, state, context)
    asked = ask_late(step, plan, state, context)
    if asked is not None:
        return asked
    if _needs_check(step, plan, state, context):
        why = "no check tells done from not done, so one is made first"
        return go("make_check", origin=plan.origin, why=why)
    node = "delegate" if _is_for_others(step, state, context) else _NODE_OF[step.action]
    return go(node, origin=plan.origin, tier=step.tier, why=step.objective)


def _needs_check(step: Step, plan: Plan, state: RunState, context: RunContext) -> bool:
    """Whether the step edits for a task that nothing would tell done from not done, or broken from whole.

    What programs of others work on, and what the user planned, is done as they say: no other model is asked for it.
    """
    edits = updates.edits(step, context)
    if plan.origin != "pattern" and edits and offline_work.may_keep_output(state, context):
        return True
    asked = edits and plan.origin in {"pre_plan", "plan"} and step.action in {"coding", "delegate"}
    if not asked or _is_for_others(step, state, context) or context.agents.is_external(step.capability):
        return False
    return offline_work.may_make_check(state, context)


def _last_word(step: Step, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """End with the step's text; without one, with the last output; a question ends the run unanswered."""
    text = _text_of(step, state, context)
    answer = context.artifacts.put(text) if text else next(reversed(state["outputs"].values()), "")
    outcome = plan.outcome
    reason = plan.reason if outcome != "done" else ""
    if step.action == "ask":
        outcome, reason = "not_achieved", updates.NEEDS_ANSWER
    elif outcome == "done":
        reason = updates.left_failed(state, context)
        if not reason and plan.origin != "pattern":
            reason = updates.unfinished(state, context)
        outcome = "not_achieved" if reason else "done"
    solved_by = ("pattern" if plan.origin == "pattern" else state["solved_by"]) if outcome == "done" else ""
    told = RunUpdate(answer_ref=answer, outcome=outcome, reason=reason, solved_by=solved_by)
    told = updates.held_to_git(told, state, context)
    if told["outcome"] == "done" and left_open({**state, "plan": plan}):
        return go("accept", origin=plan.origin, why="what the plan says must hold", **told)
    return go("end", origin=plan.origin, why=plan.reason, **told)


def _text_of(step: Step, state: RunState, context: RunContext) -> str:
    """What a step says, with the outputs that it quotes."""
    try:
        return str(filled(step.arguments, lambda name: updates.output_of(name, state, context)).get("text", ""))
    except UnresolvedReference as problem:
        return f"{step.arguments.get('text', '')}\n({problem})"
