"""Runs one tool call of the plan, and the reading that usually follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codur.events import ToolRan
from codur.nodes.judge import seen_before
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import current_step, edits, go, origin_of, tell_changes
from codur.types import StepRecord, ToolCode, ToolResult

SMALL_LISTING = 5


def tool(state: RunState, context: RunContext) -> RunUpdate:
    """Call the step's tool; a read of Python adds its dependencies for the steps that follow."""
    step = current_step(state)
    seen = seen_before(state, context) if edits(step, context) and origin_of(state) != "pattern" else RunUpdate()
    result = context.toolbox.call(step.capability, step.arguments)
    context.emit(ToolRan(tool=step.capability, code=result.code, summary=result.text.partition("\n")[0][:120]))
    tell_changes(result.changed_files, context)
    code = _code(result, asked_by_user=origin_of(state) == "pattern")
    record = StepRecord(
        step_id=step.id,
        node="tool",
        action="tool",
        capability=step.capability,
        origin=origin_of(state),
        tier=step.tier,
        code=code,
        summary=result.text.partition("\n")[0][:200],
        output_ref=context.artifacts.put(result.text),
        changed_files=result.changed_files,
        error="" if code == "ok" else result.text.partition("\n")[0],
    )
    outputs = {step.id: record.output_ref}
    if result.ok and origin_of(state) == "plan":
        outputs.update(_dependencies(step.id, step.capability, step.arguments, result, context))
    return RunUpdate(
        **seen,
        records=[record],
        outputs=outputs,
        **go("tool", "review", origin=origin_of(state), tier=step.tier, reason=step.objective),
    )


def _code(result: ToolResult, *, asked_by_user: bool) -> ToolCode:
    """A program that the user asked to run and that fails is a failure; for a plan it is something to know."""
    status = result.data.get("exit_status", 0) if isinstance(result.data, Mapping) else 0
    return "failed" if asked_by_user and result.ok and status != 0 else result.code


def _dependencies(
    step_id: str, name: str, arguments: Mapping[str, Any], result: ToolResult, context: RunContext
) -> dict[str, str]:
    """What the files just read or listed import: context for the steps after this one."""
    if name == "read_file" and str(arguments.get("path", "")).endswith(".py"):
        extra = context.toolbox.call("python_ast_dependencies", {"path": arguments["path"]})
    elif name == "list_files":
        files = [path for path in result.text.split("\n") if path.endswith(".py")]
        if not 1 <= len(files) <= SMALL_LISTING:
            return {}
        extra = context.toolbox.call("python_ast_dependencies_multifile", {"paths": files})
    else:
        return {}
    return {f"{step_id}.dependencies": context.artifacts.put(extra.text)} if extra.ok else {}
