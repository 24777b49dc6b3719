"""The success criteria of a step, as far as code can check them. Shared by the nodes that carry steps out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from codur.errors import WorkspaceError
from codur.nodes.state import RunContext, RunState
from codur.nodes.updates import current_step, origin_of
from codur.planning.criteria import Outcome, out_of_reach, unmet
from codur.planning.validate import Problem
from codur.types import Plan, Step, StepRecord
from codur.workspace.workspace import Workspace


def not_met(
    step: Step,
    output: str,
    exit_status: int | None,
    changed: Collection[str],
    context: RunContext,
    *,
    by_user: bool = False,
) -> str:
    """A sentence that names the first criterion which does not hold; empty if there is none.

    Args:
        exit_status: of the program that the step ran; None if it ran none.
        changed: paths that the step changed.
        by_user: the criteria are the user's own words; a model's must not tell what is in files with secrets.
    """
    if not step.success_criteria:
        return ""
    outcome = Outcome(
        output=output,
        exit_status=exit_status,
        changed=changed,
        text=lambda path: _text(path, context.workspace if by_user else context.for_models),
        runs=step.action == "tool",
    )
    found = unmet(step.success_criteria, outcome)
    return f"not met: {found}" if found else ""


def held_to(record: StepRecord, output: str, state: RunState, context: RunContext) -> StepRecord:
    """The record of an agent's step, failed if a criterion does not hold.

    Of an edit that the check judges, what a model thought of beforehand says less than the check: only the user's own
    criteria count there.
    """
    check = state["discovery"].check
    judged = check is not None and check.kind != "syntax" and bool(record.changed_files)
    if not record.ok or (judged and origin_of(state) != "user"):
        return record
    by_user = origin_of(state) == "user"
    unmet = not_met(current_step(state), output, None, record.changed_files, context, by_user=by_user)
    return replace(record, code="failed", error=unmet) if unmet else record


def criterion_problem(plan: Plan, state: RunState, context: RunContext) -> Problem | None:
    """A criterion of a model that wants another text in a file of the check, which nobody may change."""
    check = state["discovery"].check
    if plan.origin != "plan" or check is None:
        return None
    fixed = [path for path in check.protected if context.workspace.is_protected(path)]
    for step in plan.steps:
        found = out_of_reach(step.success_criteria, fixed, lambda path: _text(path, context.for_models))
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
