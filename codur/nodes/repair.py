"""Offline repair: searches a copy of the workspace for edits that make the check pass, and applies the ones taken."""

import json
import time
from pathlib import Path

from codur.checks.syntax import syntax_problem
from codur.errors import UsageError, WorkspaceError
from codur.nodes.parts.finding import spoken_of
from codur.nodes.parts.offline_work import left_alone
from codur.nodes.parts.updates import can_ask, go, tell_changes, worker
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.patches import RepairReport
from codur.repair.engine import Effort, Fault, RepairOutcome, search, suspects
from codur.structs import replace
from codur.tools.git.git_history import read_history, revision_problem
from codur.types import Check, Origin, StepRecord, ToolCode, Verdict

_RESERVE, _LEAST_RESERVE_S = 1.5, 2.0
"""Time kept for the check after a search, in times of the check before it, and in seconds."""
_LEAST_SHARE = 0.3
_HARDLY_COMPARED = "A change passes, but the time was up before others that are as likely were judged."
_HANGS_ON = (
    f"{_HARDLY_COMPARED} That says little of tests that do not end; `codur repair` takes it, with --all shows it."
)
_BY_CODE = frozenset[Origin]({"pattern", "repair", "llm_error"})
"""Plans that code made: their steps say the same of every task."""


def repair(state: RunState, context: RunContext) -> RunUpdate:
    """Search for a repair and apply it; when several that differ pass and a model is at hand, let it choose first."""
    if state["patched"]:
        return _apply(state, context)
    verdict = state["verdict"]
    check = state["discovery"].check
    if check is None or verdict is None:
        raise AssertionError("repair was reached without a failing check")
    since = state["task"].repair.since if state["task"].repair else ""
    unknown = revision_problem(Path(state["task"].workspace), context.launcher, since) if since else ""
    if unknown:
        raise UsageError(f"--since: {unknown}", remedy="Give a commit, branch or tag like HEAD~3.")
    with context.search_turn():
        begun = time.monotonic()
        try:
            fault = _fault(state, check, verdict, context)
            if state["task"].repair and state["task"].repair.until == "suspects":
                return _suspected(fault, context, begun)
            outcome = _search(fault, state, context, time.monotonic() - begun)
        except WorkspaceError as error:
            return _update("refused", "", (), f"{error.message}; no offline search")
        report = _report(outcome, state, time.monotonic() - begun)
    texts = (json.dumps(dict(each.files)) for each in outcome.repairs)
    found = RunUpdate(repair=report, patched=tuple(context.artifacts.put(text, exact=True) for text in texts))
    if not outcome.repairs:
        return _update("no_match", "", (), _with_syntax(outcome.reason, state, context), found)
    if not outcome.compared and (doubt := _doubt(check, verdict, state, context)):
        return _update("no_match", "", (), doubt, RunUpdate(repair=report, patched=()))
    open_choice = report.chosen < 0 and state["task"].repair is None and not worker(state, context).external
    if open_choice and can_ask(state, context):
        return go("choose", origin="repair", tier="guided", why=_several(report), **found)
    # They were not taken as right by the tests that may know; a module that is searched for doctests holds none.
    if open_choice and any(name in check.protected or not name.endswith(".py") for name in verdict.excused):
        return _update("no_match", "", (), f"{_several(report)}, and {verdict.note}.", found)
    return _apply({**state, **found}, context)


def _doubt(check: Check, verdict: Verdict, state: RunState, context: RunContext) -> str:
    """Why a repair that was hardly compared with others is not taken; empty if it is."""
    # Of a model's half answer the first change that passes often fits the tests and nothing else.
    if can_ask(state, context) and any(each.by != "repair" for each in state["attempts"]):
        return _HARDLY_COMPARED
    # Whatever takes another way ends; few candidates are judged, as each that does not end takes its whole time.
    hangs = check.kind == "tests" and "did not end within" in verdict.error
    return _HANGS_ON if hangs and state["task"].repair is None else ""


def _with_syntax(reason: str, state: RunState, context: RunContext) -> str:
    """Why nothing was found, and the first of the files in question that does not parse."""
    sources = (path for path in state["discovery"].files if path.endswith(".py") and context.workspace.is_file(path))
    told = next(filter(None, (syntax_problem(context.workspace.read_bytes(path), path) for path in sources)), "")
    where = " ".join(told.replace('"', "").removeprefix("File ").split())
    return f"{reason} What is wrong first: {where}." if told else reason


def _suspected(fault: Fault, context: RunContext, begun: float) -> RunUpdate:
    """The lines that the failure speaks against, and no search."""
    found = suspects(fault, context.settings.repair.budget_s, cancel=context.cancel)
    lines, error = ((), found) if isinstance(found, str) else (found, "")
    report = RepairReport(suspects=lines, seconds=round(time.monotonic() - begun, 3))
    return _update("ok", "which lines the failure speaks against", (), error, RunUpdate(repair=report, patched=()))


def _fault(state: RunState, check: Check, verdict: Verdict, context: RunContext) -> Fault:
    """What is to be repaired, in a copy of the workspace."""
    asked, plan = state["task"].repair, state["plan"]
    told = plan.steps if plan is not None and plan.origin not in _BY_CODE else ()
    copy = context.workspace.scratch_copy(context.scratch())
    here, there = str(context.workspace.root), str(copy.root)  # parameters of tests may be files of the project
    verdict = replace(verdict, failing=tuple(test.replace(here, there) for test in verdict.failing))
    tests = (*state["discovery"].edits_tests, *state["discovery"].adds_tests)
    return Fault(
        checker=context.checker.on(copy),
        # A test that the task may change is still what says whether a candidate is right; what is to stay is no place.
        check=replace(check, protected=(*check.protected, *tests, *left_alone(state, context))),
        before=verdict,
        files=state["discovery"].files,
        task=state["task"].prompt,
        # What the user, the classification and the plan's steps say of what is wrong.
        hints=[state["task"].hint, state["discovery"].sentence, *(step.objective for step in told)],
        named=lambda tests: spoken_of(tests, state["task"].prompt),
        past=lambda texts: read_history(
            Path(state["task"].workspace), context.launcher, texts.get, since=asked.since if asked else ""
        ),
    )


def _search(fault: Fault, state: RunState, context: RunContext, copying_s: float) -> RepairOutcome:
    settings, asked = context.settings.repair, state["task"].repair
    budget = settings.budget_s if asked is None and can_ask(state, context) else settings.offline_budget_s
    # What is found is checked in the workspace. What takes long to copy takes long to look through for each program.
    last_check_s = max(_LEAST_RESERVE_S, _RESERVE * (fault.before.duration_s + copying_s))
    left = context.time_left()
    effort = Effort(
        budget_s=min(budget, max(left - last_check_s, left * _LEAST_SHARE)),
        max_order=settings.max_order,
        workers=settings.workers or None,
        every=asked is not None and (asked.every or asked.pick > 1),
    )
    return search(fault, effort, emit=context.emit, cancel=context.cancel)


def _report(outcome: RepairOutcome, state: RunState, seconds: float) -> RepairReport:
    """What the search came to; the first repair is taken if it clearly wins, or if it is the only one."""
    alone = bool(outcome.repairs) and (outcome.tier == "deterministic" or len(outcome.repairs) == 1)
    return RepairReport(
        patches=tuple(each.patch for each in outcome.repairs),
        chosen=0 if alone and state["task"].repair is None else -1,
        chosen_by="rank" if alone and state["task"].repair is None else "",
        tier=outcome.tier,
        tried=outcome.tried,
        passing=outcome.passing,
        compared=outcome.compared,
        complete=outcome.exhausted,
        best_progress=outcome.best_progress,
        seconds=round(seconds, 3),
        note=outcome.note,
        hint=outcome.hint,
    )


def _apply(state: RunState, context: RunContext) -> RunUpdate:
    """Write the repair that was taken; without any choice, the first one. The texts stay till it is judged."""
    report, asked = state["repair"], state["task"].repair
    if report is None:
        raise AssertionError("a repair is to be applied and there is none")
    if asked is not None and asked.every:
        return _update("ok", f"{_several(report)}; none was applied", (), "", RunUpdate(repair=report, patched=()))
    picked = asked is not None and asked.pick > 1
    wanted = asked.pick - 1 if asked is not None and picked else max(report.chosen, 0)
    if wanted >= len(report.patches):
        error = f"there is no repair {wanted + 1}" if picked else "the model takes no repair"
        left = replace(report, chosen=-1, chosen_by="")
        return _update("no_match", "", (), f"{error}: {_several(report)}", RunUpdate(repair=left, patched=()))
    taken = replace(report, chosen=wanted, chosen_by="user" if picked else report.chosen_by or "rank")
    files: dict[str, str] = json.loads(context.artifacts.get(state["patched"][wanted]))
    for path, text in files.items():
        context.workspace.write_text(path, text)
    tell_changes(files, context)
    applied = RunUpdate(repair=taken, patched=state["patched"])
    return _update("ok", report.patches[wanted].explanation, tuple(files), "", applied)


def _several(report: RepairReport) -> str:
    different = len(report.patches)
    passing = max(report.passing, different)
    if passing == 1:
        return "one repair passes"
    behave = "all behave alike" if different == 1 else f"{different} of them behave differently"
    return f"{passing} repairs pass, {behave}"


def _update(
    code: ToolCode, summary: str, changed: tuple[str, ...], error: str, more: RunUpdate | None = None
) -> RunUpdate:
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
    way = go("review", origin="repair", why=summary or error, records=[record])
    return RunUpdate(**(more or {}), **way)
