"""Tools about tools, and the one that asks the user."""

from __future__ import annotations

from typing import Annotated

from codur.tools.arguments import schema
from codur.tools.flow.io_kinds import accepts, gives
from codur.tools.flow.outputs import Answer, ToolNames
from codur.tools.tool import EVERY_TASK, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_OPTIONS = 9
_MAX_QUESTION = 2_000


@tool(Answer, task_types=EVERY_TASK, asks=True)
def ask_user(
    context: ToolContext,
    question: Annotated[str, Arg("What the user must decide or tell, as one question.")],
    options: Annotated[tuple[str, ...], Arg("Answers to choose from; any answer if left out.")] = (),
) -> ToolResult:
    """Ask the user a question and wait for the answer.

    The user's answer; `refused` where nobody can be asked.
    """
    question = question.strip()
    if not question or len(question) > _MAX_QUESTION:
        raise ToolError("invalid", f"question must have 1 to {_MAX_QUESTION} characters")
    if len(options) > _MAX_OPTIONS or len(set(options)) < len(options):
        raise ToolError("invalid", f"give at most {_MAX_OPTIONS} options that differ")
    if context.ask is None:
        raise ToolError("refused", "nobody can be asked here; decide from what is known, or say what is missing")
    answer = context.ask(question, options)
    return ToolResult(text=answer, data=Answer(question=question, answer=answer))


@tool(ToolNames, task_types=EVERY_TASK)
def list_tools(
    context: ToolContext,
    task_type: Annotated[str, Arg("Only tools for this kind of task, such as search or code_fix.")] = "",
) -> ToolResult:
    """List the tools with what each does."""
    known = sorted(EVERY_TASK)
    if task_type and task_type not in known:
        raise ToolError("invalid", f"{task_type!r:.60} is no kind of task; there are {', '.join(known)}")
    found = [row for row in context.tools if not task_type or task_type in row.task_types]
    lines = [f"{row.name} ({row.side_effect}): {row.description}" for row in found]
    return ToolResult(text="\n".join(lines), data=ToolNames(tools=tuple(row.name for row in found)))


@tool(ToolNames, task_types=EVERY_TASK)
def tool_help(context: ToolContext, name: Annotated[str, Arg("Name of the tool.", "tool_name")]) -> ToolResult:
    """Show what a tool takes and gives."""
    row = next((row for row in context.tools if row.name == name), None)
    if row is None:
        raise ToolError("not_found", f"there is no tool {name:.80}; list_tools shows them all")
    declared = schema(row.input)
    lines = [f"{row.name} ({row.side_effect}): {row.description}"]
    for argument, member in declared["properties"].items():
        needed = "" if argument in declared["required"] else ", optional"
        kinds = ", ".join(accepts(row.input).get(argument, ()))
        lines.append(f"  {argument}{needed}: {member['description']}{f' Takes: {kinds}.' if kinds else ''}")
    lines.append(f"gives {row.output.__name__}: {(row.output.__doc__ or '').partition(chr(10))[0]}")
    lines += [f"  {place}: {kind}" for place, kind in gives(row.output).items()]
    return ToolResult(text="\n".join(lines), data=ToolNames(tools=(row.name,)))


TOOLS = (ask_user, list_tools, tool_help)
