"""Turns the final state of a run into its result."""

from codur.errors import CodurError
from codur.nodes.run_state import RunContext, RunState
from codur.parsing.bounded_text import listed
from codur.questions import NAMED_COMMAND, command_in
from codur.types import EXIT_CODES, BestAttempt, Outcome, RunResult, Task, Verdict

KEEP_REMEDY = "Run it again with --keep to keep what came furthest."
BRING_BACK_REMEDY = "codur undo --redo brings back what came furthest (in a conversation: /redo)."
_OUTCOME_OF_EXIT: dict[int, Outcome] = {code: outcome for outcome, code in EXIT_CODES.items()}


def result_of(state: RunState, context: RunContext) -> RunResult:
    """The result of a run that came to its end."""
    outcome = state["outcome"]
    assert outcome is not None, "the run ended without one"
    usage = state["usage"]
    best = None if outcome == "done" else _best(state, context)  # of what is done it is the result itself
    before, changed = state["before"], context.workspace.changed_files()
    # What the check said before anything was changed says nothing of a change that was not judged.
    unjudged = bool(changed) and before is not None and before.status != "no_check" and state["verdict"] == before
    better = best is not None and before is not None and best.progress > before.progress
    further = best is not None and not best.kept and (better or context.best.harmless is not None)
    mended = [record.summary for record in state["records"] if record.node == "repair" and record.ok]
    return RunResult(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        reason=state["reason"],
        remedy=state["remedy"] or (KEEP_REMEDY if further and outcome == "not_achieved" else ""),
        answer=context.artifacts.get(state["answer_ref"]) if state["answer_ref"] else "",
        command=_command(state),
        explanation=mended[-1] if mended and state["solved_by"] == "repair" else "",
        made_test=_made_test(state, context),
        task_type=state["discovery"].task_type,
        before=before,
        verdict=None if unjudged else state["verdict"],
        repair=state["repair"],
        best=best,
        solved_by=state["solved_by"],
        iterations=state["iteration"],
        model_calls=usage.calls,
        usage=usage,
        changed_files=changed,
        diff=context.workspace.diff(),
        attempts=tuple(state["attempts"]),
        records=tuple(state["records"]),
        route=tuple(state["trail"]),
        notes=(*state["notes"], *_notes(state["verdict"], context)),
        scope_violations=tuple(state["violations"]),
        sandbox=context.launcher.name,
        sandbox_note=context.launcher.note,
    )


def _command(state: RunState) -> str:
    """The command line that a classification alone can name: no answer of a model, and no text of a file."""
    plan = state["plan"]
    named = plan is not None and plan.origin == "pre_plan" and plan.steps[-1].id == NAMED_COMMAND
    return command_in(str(plan.steps[-1].arguments.get("text", ""))) if plan is not None and named else ""


def _made_test(state: RunState, context: RunContext) -> str:
    check = state["discovery"].check
    gone = check is not None and check.text and check.entry and not context.workspace.is_file(check.entry)
    return f"{check.entry}:\n{check.text}" if check is not None and gone else ""


def _notes(verdict: Verdict | None, context: RunContext) -> list[str]:
    """What is said of an attempt that stays because what still fails has another cause."""
    rest = context.best.apart
    if not rest or (verdict is not None and verdict.passed):
        return []
    # Of pytest's tests, which have a path in their names, it is known what they run.
    traced = all("::" in test for test in rest)
    why = "all tests that run what was changed pass" if traced else "a test that the task names passes"
    return [f"kept: {why}; these fail as before{' and do not run it' if traced else ''}: {listed(rest, 3)}"]


def _best(state: RunState, context: RunContext) -> BestAttempt | None:
    """The attempt that came furthest, the earlier one of two that came equally far."""
    checked = [attempt for attempt in state["attempts"] if attempt.edit]
    if not checked:
        return None
    best = max(checked, key=lambda attempt: attempt.progress)  # `max` takes the first of equal ones
    kept = context.best.part is not None or (state["task"].keep and context.best.furthest is not None)
    return BestAttempt(number=best.number, by=best.by, progress=best.progress, kept=kept)


def error_result(error: CodurError, task: Task) -> RunResult:
    """The result of a run that an error ended."""
    return RunResult(
        outcome=_OUTCOME_OF_EXIT[error.exit_code],
        exit_code=error.exit_code,
        reason=error.message,
        remedy=error.remedy,
        workspace=task.workspace,
    )
