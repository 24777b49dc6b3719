"""Offline repair: searches a copy of the workspace for an edit that makes the check pass."""

from __future__ import annotations

from codur.errors import WorkspaceError
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import can_ask, go, tell_changes
from codur.repair.engine import RepairOutcome, search
from codur.types import StepRecord, ToolCode, Verdict


def repair(state: RunState, context: RunContext) -> RunUpdate:
    """Search for a fix without a model, and apply the one that was found."""
    check, verdict = state["discovery"].check, state["verdict"]
    if check is None or verdict is None:
        raise AssertionError("repair was reached without a failing check")
    try:
        outcome = _search(state, verdict, context)
    except WorkspaceError as error:
        return _update("refused", "", (), f"{error.message}; no offline search")
    for path, text in outcome.files.items():
        context.workspace.write_text(path, text)
    tell_changes(outcome.files, context)
    if outcome.files:
        return _update("ok", outcome.explanation, tuple(outcome.files), "")
    reason = f"no single or double edit was found in {outcome.tried} candidates"
    return _update("no_match", "", (), outcome.explanation or reason)


def _search(state: RunState, verdict: Verdict, context: RunContext) -> RepairOutcome:
    check = state["discovery"].check
    if check is None:
        raise AssertionError("the search needs a check")
    settings = context.settings.repair
    budget = settings.budget_s if can_ask(state, context) else settings.offline_budget_s
    copy = context.workspace.scratch_copy(context.scratch())
    return search(
        workspace=copy,
        checker=context.checker.on(copy),
        check=check,
        before=verdict,
        files=state["discovery"].files,
        budget_s=min(budget, context.time_left()),
        max_order=settings.max_order,
        emit=context.emit,
        cancel=context.cancel,
    )


def _update(code: ToolCode, summary: str, changed: tuple[str, ...], error: str) -> RunUpdate:
    record = StepRecord(
        step_id="repair",
        node="repair",
        action="repair",
        origin="repair",
        tier="deterministic",
        code=code,
        summary=summary,
        changed_files=changed,
        error=error,
    )
    return RunUpdate(records=[record], **go("repair", "review", origin="repair", reason=summary or error))
