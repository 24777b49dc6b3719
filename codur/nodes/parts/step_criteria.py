"""What must hold after a step: what code decides at once, and what is left for `accept` at the end of a run."""

from collections.abc import Collection

from codur.errors import WorkspaceError
from codur.nodes.parts.updates import current_step, origin_of
from codur.nodes.run_state import RunContext, RunState
from codur.planning.plans.success_criteria import Outcome, checkable, of_exit, out_of_reach, said_of, undecided, unmet
from codur.planning.plans.validation import Problem
from codur.structs import Struct, replace
from codur.types import Plan, Step, StepRecord
from codur.workspace.workspace import Workspace

_CARRIED_OUT = frozenset({"tool", "coding", "delegate"})  # steps whose criteria code checks as soon as they are done


class Left(Struct):
    """A criterion that nobody has decided when a run is about to end as done."""

    step: Step
    text: str
    by_check: bool = False  # it is a model's, of an edit that the check has judged
    pointless: bool = False  # it is a model's, about the exit status of a step that runs no program
    decidable: bool = False  # code can decide it


def left_open(state: RunState) -> list[Left]:
    """What is left to decide of the plan's criteria; with those of the user's plan if another took its place."""
    plan, given = state["plan"], state["task"].plan
    if plan is None or plan.origin not in {"plan", "retry", "user"}:
        return []
    found = [item for step in plan.steps for item in _left_of(step, state)]
    if given is not None and plan.origin != "user":
        found += [Left(step=step, text=text) for step in given.steps for text in _all_of(step)]
    return found


def _left_of(step: Step, state: RunState) -> list[Left]:
    of_model = origin_of(state) != "user"
    if step.action not in _CARRIED_OUT:
        return [Left(step=step, text=text, decidable=bool(checkable(text))) for text in _all_of(step)]
    records = [item for item in state["records"][state["since"] :] if item.step_id == step.id]
    by_check = of_model and any(_judged(item, state) for item in records)
    return [
        Left(step=step, text=text, by_check=by_check, pointless=of_model and of_exit(text))
        for text in undecided(said_of(step), runs=step.action == "tool")
    ]


def _all_of(step: Step) -> tuple[str, ...]:
    said = said_of(step)
    return (*checkable(said), *undecided(said, runs=True))


def not_met(
    step: Step,
    output: str,
    exit_status: int | None,
    changed: Collection[str],
    workspace: Workspace,
) -> str:
    """A sentence that names the first criterion which does not hold; empty if there is none.

    `exit_status`: of the step's program, if it ran one; `workspace`: see `seen_by_author`.
    """
    if not said_of(step):
        return ""
    outcome = Outcome(
        output=output,
        exit_status=exit_status,
        changed=changed,
        text=lambda path: _text(path, workspace),
        runs=step.action == "tool",
    )
    found = unmet(said_of(step), outcome)
    return f"not met: {found}" if found else ""


def seen_by_author(state: RunState, context: RunContext) -> Workspace:
    """The workspace as the plan's author sees it: a model's words must not tell what files with secrets hold."""
    return context.workspace if origin_of(state) == "user" else context.for_models


def held_to(record: StepRecord, output: str, state: RunState, context: RunContext) -> StepRecord:
    """The record of an agent's step, failed if a criterion does not hold.

    Of an edit that the check judges, what a model thought of beforehand says less than the check: only the user's own
    criteria count there.
    """
    if not record.ok or (_judged(record, state) and origin_of(state) != "user"):
        return record
    unmet = not_met(current_step(state), output, None, record.changed_files, seen_by_author(state, context))
    return replace(record, code="failed", error=unmet) if unmet else record


def _judged(record: StepRecord, state: RunState) -> bool:
    check = state["discovery"].check
    return check is not None and check.kind != "syntax" and bool(record.changed_files) and record.action != "tool"


def criterion_problem(plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """A criterion of a model that wants another text in a file of the check, which nobody may change."""
    check = state["discovery"].check
    if plan.origin != "plan" or check is None:
        return None
    fixed = [path for path in check.protected if context.workspace.is_protected(path)]
    for step in plan.steps:
        found = out_of_reach(said_of(step), fixed, lambda path: _text(path, context.for_models))
        if found:
            text = f"step {step.id!r} cannot come to {found!r}: the file belongs to the check and may not be changed"
            return Problem(text=text, step_id=step.id)
    return None


def _text(path: str, workspace: Workspace) -> str | None:
    """The file's text; None if there is none. A withheld file is there, and all that is told of it."""
    try:
        if not workspace.is_file(path):
            return None
        return "" if workspace.hides(path) else workspace.read_text(path).text
    except WorkspaceError:
        return None
