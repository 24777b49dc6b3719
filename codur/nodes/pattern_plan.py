"""Phase 0: rules settle the request, or find out what later phases need. No model."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from codur import checks, planning, python
from codur.checks import suites
from codur.checks.describe import verdict_line
from codur.context.file_order import standing
from codur.errors import ALLOW_IT
from codur.events import Note
from codur.lazy import loaded, regex
from codur.nodes.parts import updates
from codur.nodes.parts.attempt_verdict import unguarded
from codur.nodes.parts.finding import is_about_tests, may_fail, others_fail
from codur.nodes.parts.first_check import (
    check_before,
    fewer_first,
    fitted,
    no_check_remedy,
    timed,
    with_linted_tests,
    with_others,
)
from codur.nodes.parts.offline_work import (
    can_repair,
    conflicts,
    explained,
    not_of_the_program,
    not_searched,
    why_no_search,
)
from codur.nodes.parts.plan_rules import completed, problem_of
from codur.nodes.parts.updates import can_ask, go, why_not
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.patches import RepairRequest
from codur.planning.patterns.classify import lists_steps
from codur.planning.patterns.decide import PatternDecision, decide
from codur.planning.patterns.named_paths import FileNames
from codur.planning.plans.first_plan import first_plan, repair_plan, verdict_plan
from codur.structs import replace
from codur.types import CODE_TASKS, Check, Discovery, Plan, Step, Verdict

if TYPE_CHECKING:
    from codur.checks.suites.run_problem import RunProblem

_NAME = regex(r"\b[A-Za-z_]\w{4,}")
_MOST_HOMES = 2  # files that define a name; of one that more define it is not clear which is meant


def pattern_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Settle the prompt, or discover its files and check, with the check's present verdict.

    Raises WorkspaceError: a file that the prompt names cannot be read; ConfigError: `challenge.yaml` is wrong.
    """
    task = state["task"]
    found = decide(task, context.workspace, settings=context.settings, launcher=context.launcher)
    discovery = found.discovery
    if (settled := _settled(found, {**state, "discovery": discovery}, context)) is not None:
        return settled
    discovery, before = _fitted(discovery, task.prompt, context)
    if before is not None and not before.timed_out and ".py::" in task.prompt:
        updates.warn(suites.near_tests.absent_tests(task.prompt, context.checker.last_tests), context)
    discovery = with_linted_tests(_with_named_in_failure(discovery, before, task.prompt, context), before, context)
    seen: RunState = {**state, "discovery": discovery, "before": before}
    unfit = not_of_the_program(seen, context)
    # Where the output is known, or a command was declared, that is what the task is judged by.
    others = discovery.check is None or discovery.check.kind != "tests"
    if unfit is not None and (others or is_about_tests((), seen) or not can_ask(seen, context)):
        return _unfit(unfit, seen)
    if unfit is not None:
        seen = _unchecked(unfit, seen, context)
        discovery = seen["discovery"]
    # A search would mend what fails, which may not be what is wrong.
    first = context.settings.repair.mode == "before_model" and not (others_fail(seen) and can_ask(seen, context))
    repair = first and can_repair(seen, context)
    no_model = "" if can_ask(seen, context) else _no_search(seen, context) or why_not(seen, context).message
    plan = _mended_by_linter(seen, context) or _renaming(seen, context)
    if isinstance(plan, str):
        no_model = plan if plan and no_model else no_model
        plan = first_plan(task, discovery, seen["before"], repair=repair, no_model=no_model)
    if plan is not None and plan.origin == "llm_error":
        off = plan if context.settings.tools.allow_write else replace(plan, origin="pattern", outcome="refused")
        plan = explained(seen, context) or off
    if plan is not None:
        return RunUpdate(**_planned(plan, seen), remedy=_remedy(plan, seen, context))
    listed = lists_steps(task.prompt)
    why = "the request lists several steps, so it needs a plan" if listed else discovery.reason
    return go("llm_plan" if listed else "llm_pre_plan", origin="pattern", tier="open", why=why, **_seen(seen))


def _settled(found: PatternDecision, state: RunState, context: RunContext) -> RunUpdate | None:
    """What is done where the user or a rule says it, or conflict markers leave nothing to do; None if a check may."""
    task, discovery, plan = state["task"], state["discovery"], found.plan
    if task.plan is not None:
        return _given_plan(task.plan, state, context)
    goes_on = plan is not None and plan.steps[0].capability == "git_continue"
    code = task.repair.until != "verdict" if task.repair is not None else discovery.task_type in CODE_TASKS
    marked = conflicts(context) if goes_on or code else None
    if marked is not None and code and (task.repair is not None or not can_ask(state, context)):
        end, remedy = not_searched(marked, state, context)
        return RunUpdate(**_planned(end, state), remedy=remedy)
    if task.repair is not None or (plan is not None and plan.steps[0].capability == "run_check"):
        return _repair_only(task.repair or RepairRequest(until="verdict"), state, context)
    if plan is None or task.agent is not None or task.check_is_goal:
        return None
    # A model can resolve them first.
    if marked is not None and can_ask(state, context):
        return None
    return go("policy", origin="pattern", why=discovery.reason, plan=plan, discovery=discovery)


def _with_named_in_failure(discovery: Discovery, before: Verdict | None, prompt: str, context: RunContext) -> Discovery:
    """With the sources that define what both the task and the failure speak of, where no source is known."""
    red = before is not None and before.status == "failed" and discovery.task_type == "code_fix"
    if before is None or not red or any(path.endswith(".py") for path in discovery.files):
        return discovery
    said = set(_NAME.findall(prompt)) & set(_NAME.findall(before.error))
    found = FileNames(context.workspace).defining(sorted(said))
    own = [[path for path in paths if standing(path) == 0] for paths in found.values()]
    files = dict.fromkeys(path for paths in own if 0 < len(paths) <= _MOST_HOMES for path in paths)
    return replace(discovery, files=(*discovery.files, *files))


def _seen(state: RunState) -> RunUpdate:
    """What was found out about the task."""
    return RunUpdate(discovery=state["discovery"], before=state["before"], verdict=state["before"])


def _planned(plan: Plan, state: RunState) -> RunUpdate:
    return RunUpdate(**_seen(state), **go("policy", origin=plan.origin, why=plan.reason, plan=plan))


def _remedy(plan: Plan, state: RunState, context: RunContext) -> str:
    if plan.outcome == "usage" and state["discovery"].missing_files:
        near = FileNames(context.workspace).near(state["discovery"].missing_files[0], 1)
        return f"Did you mean {near[0]}?" if near else ""
    if plan.outcome == "refused":
        return ALLOW_IT
    return why_not(state, context).remedy if plan.origin == "llm_error" else ""


def _renaming(state: RunState, context: RunContext) -> Plan | str | None:
    """The plan for a task that is only another name for a symbol, or why it is not clear which; empty if it is more."""
    task, before = state["task"], state["before"]
    red = before is not None and before.status == "failed" and not may_fail(state)
    wanted = task.check_is_goal and (before is None or not before.passed)
    if red or wanted or task.agent is not None or state["discovery"].task_type != "refactor":
        return ""
    step = planning.renaming.rename_step(task.prompt, context.workspace, context.repository)
    # Not as a rule's: what it changed is judged by the check, and what failed is taken back.
    return step if isinstance(step, str) else Plan(steps=(step,), origin="repair", reason="another name needs no model")


def _mended_by_linter(state: RunState, context: RunContext) -> Plan | None:
    """The plan for a request that a linter finds nothing: its own command that mends what it finds, if it has one."""
    check, before, task = state["discovery"].check, state["before"], state["task"]
    if check is None or not check.of_linter or before is None or before.status != "failed" or task.agent is not None:
        return None
    files = [path for path in state["discovery"].files if path in task.prompt]
    asked = checks.linters.asked_for(context.workspace, task.prompt, files, context.workspace.list_files())
    tools = context.settings.tools
    if asked is None or not asked.fix or not (tools.allow_write and tools.allow_run):
        return None
    command = shlex.join(asked.fix)
    step = Step(
        id="fix",
        action="tool",
        capability="run_command",
        objective=f"Let {asked.fix[0]} mend what it can.",
        arguments={"command": command},
    )
    return Plan(steps=(step,), origin="repair", reason=f"`{command}` needs no model")


def _unfit(problem: RunProblem, state: RunState) -> RunUpdate:
    """The end, before anybody is asked: the check cannot run here."""
    end = (Step(id="end", action="respond"),)
    plan = Plan(steps=end, origin="pattern", reason=f"the check cannot be used: {problem.text}", outcome="usage")
    return RunUpdate(**_planned(plan, state), remedy=problem.remedy)


def _unchecked(problem: RunProblem, state: RunState, context: RunContext) -> RunState:
    """With a look at the syntax in place of a check that cannot run here, where the task is not that tests pass."""
    text = f"the check cannot be used, so what is changed will not be checked by it: {problem.text} {problem.remedy}"
    context.emit(Note(level="warning", text=text))
    unguarded(state["discovery"].check, context)
    context.best.unusable = state["discovery"].check
    why = f"the check cannot be used: {problem.text.rstrip('.')}"
    check = Check(kind="syntax", argv=(), timeout_s=context.settings.verification.timeout_s, source=why)
    discovery = replace(state["discovery"], check=check)
    return {**state, "discovery": discovery, "before": check_before(discovery, context)}


def _no_search(state: RunState, context: RunContext) -> str:
    """Why an offline search that fits the task is not made, and why nobody can be asked instead."""
    if state["before"] is None or context.settings.repair.mode == "off":
        return ""
    reason = why_no_search(state, context)
    return (
        reason
        if state["task"].offline or not reason or not context.settings.tools.allow_write
        else f"{reason} {why_not(state, context).message}"
    )


def _given_plan(plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """The user's own plan, with what has to be known of the workspace."""
    # of a plan that is wrong nothing is run; policy says why
    discovery, before = state["discovery"], None
    # A program that is only run tells what it tells, whatever state the workspace is in.
    edits = any(step.capability != "run_command" for step in plan.steps)
    if edits and problem_of(completed(plan, state, context), state, context) is None:
        discovery, before = _fitted(discovery, state["task"].prompt, context)
    return _planned(plan, {**state, "discovery": discovery, "before": before})


def _check_before(discovery: Discovery, context: RunContext, *, edits: bool = True) -> Verdict | None:
    """The check's verdict before anything is changed; None if the task is not surely about code."""
    if discovery.task_type not in CODE_TASKS:
        if discovery.check is not None:
            context.checker.guard(discovery.check)
        return None
    if discovery.check is None and discovery.missing_files:
        return None  # none was looked for: what is to be changed is not there
    for path in discovery.files:
        if path.endswith(".py"):  # a source that cannot be read or replaced ends the run here, with a clear word
            context.workspace.read_text(path)
            if edits:
                context.workspace.require_writable(path)
    if discovery.check is not None:  # what runs it is loaded before the other thread begins
        context.checker.guard(discovery.check)
    follows = _what_follows(discovery, context)
    beside = Thread(target=lambda: _load(follows))  # a pool of threads would take 6 ms to load
    context.launcher.once_started(beside.start)  # what starts the check needs the interpreter's lock for itself
    try:
        # Where nothing follows, the check has all of the run's time.
        before = check_before(discovery, context, sample=edits, alone=not edits)
        if not before.passed and follows is context.load_graph:
            # A request names it: 10 ms of a program, meanwhile.
            python.interpreter.python_version(context.python, context.launcher)
        return before
    finally:
        if beside.ident is not None:
            beside.join()


def _fitted(
    discovery: Discovery, prompt: str, context: RunContext, *, edits: bool = True
) -> tuple[Discovery, Verdict | None]:
    """With the check of fewer tests where all would take too long, and its verdict as in `_check_before`."""
    few = fewer_first(discovery, prompt, context) if discovery.task_type in CODE_TASKS else discovery
    before = _check_before(few, context, edits=edits)
    if before is None:
        return few, None
    found, verdict = timed(*fitted(few, before, prompt, context), prompt, context)
    more = any(path in prompt for path in found.files) or planning.plans.first_plan.says_more(prompt, found)
    return with_others(found, verdict, context, ends=found.task_type == "code_fix" and not more)


def _load(follows: Callable[[], object]) -> None:
    with suppress(Exception):  # what cannot be loaded is told by who needs it
        follows()


def _what_follows(discovery: Discovery, context: RunContext) -> Callable[[], object]:
    """Loads what most likely follows a check that fails (0.04 s for a search, 0.5 with models) meanwhile."""
    check = discovery.check
    if check is None or check.kind == "syntax" or not context.settings.tools.allow_run:
        return nullcontext
    if context.settings.repair.mode == "before_model" and (discovery.task_type == "code_fix" or check.kind == "output"):
        return partial(loaded, "codur.nodes.repair")
    return context.load_graph if context.models.available() else nullcontext


def _repair_only(asked: RepairRequest, state: RunState, context: RunContext) -> RunUpdate:
    """The plan of a task that is a search for a repair, or why there is nothing to search for."""
    discovery = replace(state["discovery"], task_type="code_fix")
    if asked.files:
        rest = tuple(path for path in discovery.files if path not in asked.files)
        discovery = replace(discovery, files=(*asked.files, *rest))
    if asked.until == "verdict":
        before = _check_before(discovery, context, edits=False)
        discovery, before = (discovery, None) if before is None else with_others(discovery, before, context, ends=True)
    else:
        discovery, before = _fitted(discovery, state["task"].prompt, context, edits=asked.until == "repair")
    seen: RunState = {**state, "discovery": discovery, "before": before}
    unfit = not_of_the_program(seen, context)
    if unfit is not None:
        return _unfit(unfit, seen)
    if asked.until == "verdict":
        plan = verdict_plan(before, verdict_line(before))
    else:
        plan = repair_plan(discovery.check, before, why_no_search(seen, context))
    remedy = no_check_remedy(context) if plan.outcome == "usage" else _remedy(plan, seen, context)
    return RunUpdate(**_planned(plan, seen), remedy=remedy)
