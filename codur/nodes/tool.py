"""Runs the tool call of a step, those of steps that only read side by side, and the reading that usually follows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codur.events import ToolRan
from codur.lazy import late
from codur.nodes import parts
from codur.nodes.parts.first_check import seen_before
from codur.nodes.parts.step_criteria import not_met, seen_by_author
from codur.nodes.parts.updates import (
    blocked,
    current_step,
    edits,
    go,
    origin_of,
    output_of,
    present_plan,
    tell_changes,
    writes_git,
)
from codur.nodes.run_state import DATA, DEPENDENCIES, RunContext, RunState, RunUpdate
from codur.planning.plans.step_references import UnresolvedReference, filled_step, side_by_side
from codur.structs import Struct, replace
from codur.types import Plan, Step, StepRecord, ToolCode, ToolResult

futures = late("concurrent.futures")

SMALL_LISTING = 5
_MOST_DATA = 50_000  # longest typed output that later steps may refer to, in characters of its JSON


class _Ran(Struct):
    """One step that has run."""

    step: Step
    arguments: Mapping[str, Any]
    result: ToolResult


def tool(state: RunState, context: RunContext) -> RunUpdate:
    """Call the step's tool; steps after it that only read and need nothing of each other are run at the same time."""
    step, plan = current_step(state), present_plan(state)
    seen = seen_before(state, context) if edits(step, context) and origin_of(state) != "pattern" else RunUpdate()
    if step.capability == "delete_file":
        # It may be among what the check has just been found to be.
        path = str(step.arguments.get("path", "")).removeprefix("./")
        seen["discovery"] = parts.allowed_by_user.without_deleted(path, {**state, **seen}, context)
    steps = _together(plan, state, context)
    if len(steps) == 1:
        ran = [_run(step, state, context)]
    else:
        with futures.ThreadPoolExecutor(max_workers=len(steps)) as threads:
            ran = list(threads.map(lambda step: _run(step, state, context), steps))
    records, outputs, notes = [], dict[str, str](), list[str]()
    for each in ran:
        if each.step.capability == "rename_symbol":
            notes += each.result.text.split("\n")[1:]  # where the old name still stands
        context.emit(ToolRan(tool=each.step.capability, code=each.result.code, summary=_first_line(each.result, 120)))
        tell_changes(each.result.changed_files, context)
        if each.result.ok and writes_git(each.step.capability, context):
            seen["stays"] = True  # what was committed is not put back
        record = _record(each, state, context)
        records.append(record)
        outputs[each.step.id] = record.output_ref
        outputs.update(_more(each, state, context))
    reason = step.objective if len(ran) == 1 else f"{len(ran)} steps side by side"
    cursor, origin = state["cursor"] + len(ran) - 1, origin_of(state)
    way = go("review", origin=origin, tier=step.tier, why=reason, cursor=cursor, records=records, outputs=outputs)
    return RunUpdate(**seen, **way, notes=notes)


def _together(plan: Plan, state: RunState, context: RunContext) -> Sequence[Step]:
    cursor = state["cursor"]
    if plan.origin == "pattern":
        return plan.steps[cursor : cursor + 1]
    lost = blocked(state)

    def only_reads(step: Step) -> bool:
        found = context.toolbox.get(step.capability) if step.action == "tool" and step.id not in lost else None
        return found is not None and found.side_effect == "read" and not found.asks

    return plan.steps[cursor : cursor + side_by_side(plan, cursor, only_reads)]


def _run(step: Step, state: RunState, context: RunContext) -> _Ran:
    try:
        arguments = filled_step(step, lambda name: output_of(name, state, context))
    except UnresolvedReference as problem:
        return _Ran(step=step, arguments=step.arguments, result=ToolResult(code="invalid", text=str(problem)))
    result = context.toolbox.call(step.capability, arguments, by_user=origin_of(state) == "pattern")
    return _Ran(step=step, arguments=arguments, result=result)


def _record(ran: _Ran, state: RunState, context: RunContext) -> StepRecord:
    result, step = ran.result, ran.step
    # A program that the user asked to run and that fails is a failure; for a plan it is something to know.
    fails = origin_of(state) == "pattern" and result.ok and bool(_exit_status(result))
    code: ToolCode = "failed" if fails else result.code
    record = StepRecord(
        step_id=step.id,
        node="tool",
        action="tool",
        capability=step.capability,
        origin=origin_of(state),
        tier=step.tier,
        code=code,
        summary=_first_line(result, 200),
        output_ref=context.artifacts.put(result.text),
        changed_files=result.changed_files,
        error="" if code == "ok" else result.text.partition("\n")[0],
    )
    if not record.ok:
        return record
    unmet = not_met(step, result.text, _exit_status(result), result.changed_files, seen_by_author(state, context))
    return replace(record, code="failed", error=unmet) if unmet else record


def _first_line(result: ToolResult, limit: int) -> str:
    return result.text.partition("\n")[0][:limit]


def _exit_status(result: ToolResult) -> int | None:
    return result.data.get("exit_status") if isinstance(result.data, Mapping) else None


def _more(ran: _Ran, state: RunState, context: RunContext) -> dict[str, str]:
    """What later steps can refer to beside the text: the typed output, and what files just read or listed import."""
    if not ran.result.ok or origin_of(state) == "pattern":
        return {}
    found = {}
    data = json.dumps(ran.result.data) if ran.result.data is not None else ""
    if len(data) > _MOST_DATA and (status := _exit_status(ran.result)) is not None:
        data = json.dumps({"exit_status": status})  # whatever it printed, this tells how it went
    if data and len(data) <= _MOST_DATA:
        found[f"{ran.step.id}.{DATA}"] = context.artifacts.put(data)
    text = _dependencies(ran, context)
    if text:
        found[f"{ran.step.id}.{DEPENDENCIES}"] = context.artifacts.put(text)
    return found


def _dependencies(ran: _Ran, context: RunContext) -> str:
    """What the files just read or listed import: context for the steps after this one."""
    name, arguments = ran.step.capability, ran.arguments
    if name == "read_file" and str(arguments.get("path", "")).endswith(".py"):
        files = [arguments["path"]]
    elif name == "list_files":
        files = [path for path in ran.result.text.split("\n") if path.endswith(".py")]
        if not 1 <= len(files) <= SMALL_LISTING:
            return ""
    else:
        return ""
    extra = context.toolbox.call("python_ast_dependencies", {"paths": files})
    return extra.text if extra.ok else ""
