"""Tools about tools, and the one that asks the user."""

from __future__ import annotations

from dataclasses import dataclass

from codur.tools.arguments import argument, schema
from codur.tools.flow.io_kinds import accepts, gives
from codur.tools.flow.outputs import Answer, ToolNames
from codur.tools.tool import EVERY_TASK, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_OPTIONS = 9
_MAX_QUESTION = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AskUser:
    question: str = argument("What the user must decide or tell, as one question.")
    options: tuple[str, ...] = argument("Answers to choose from; any answer if left out.", ())


@tool(AskUser, Answer, "Ask the user a question and wait for the answer.", task_types=EVERY_TASK, asks=True)
def ask_user(context: ToolContext, given: AskUser) -> ToolResult:
    """The user's answer; `refused` where nobody can be asked."""
    question = given.question.strip()
    if not question or len(question) > _MAX_QUESTION:
        raise ToolError("invalid", f"question must have 1 to {_MAX_QUESTION} characters")
    if len(given.options) > _MAX_OPTIONS or len(set(given.options)) < len(given.options):
        raise ToolError("invalid", f"give at most {_MAX_OPTIONS} options that differ")
    if context.ask is None:
        raise ToolError("refused", "nobody can be asked here; decide from what is known, or say what is missing")
    answer = context.ask(question, given.options)
    return ToolResult(text=answer, data=Answer(question=question, answer=answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTools:
    task_type: str = argument("Only tools for this kind of task, such as search or code_fix.", "")


@tool(ListTools, ToolNames, "List the tools with what each does.", task_types=EVERY_TASK)
def list_tools(context: ToolContext, given: ListTools) -> ToolResult:
    """Name, side effect and description of each tool."""
    known = sorted(EVERY_TASK)
    if given.task_type and given.task_type not in known:
        raise ToolError("invalid", f"{given.task_type!r:.60} is no kind of task; there are {', '.join(known)}")
    found = [row for row in context.tools if not given.task_type or given.task_type in row.task_types]
    lines = [f"{row.name} ({row.side_effect}): {row.description}" for row in found]
    return ToolResult(text="\n".join(lines), data=ToolNames(tools=tuple(row.name for row in found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHelp:
    name: str = argument("Name of the tool.", accepts="tool_name")


@tool(ToolHelp, ToolNames, "Show what a tool takes and gives.", task_types=EVERY_TASK)
def tool_help(context: ToolContext, given: ToolHelp) -> ToolResult:
    """Arguments, output and the tools whose arguments take that output's kinds."""
    row = next((row for row in context.tools if row.name == given.name), None)
    if row is None:
        raise ToolError("not_found", f"there is no tool {given.name:.80}; list_tools shows them all")
    declared = schema(row.input)
    lines = [f"{row.name} ({row.side_effect}): {row.description}"]
    for name, member in declared["properties"].items():
        needed = "" if name in declared["required"] else ", optional"
        kinds = ", ".join(accepts(row.input).get(name, ()))
        lines.append(f"  {name}{needed}: {member['description']}{f' Takes: {kinds}.' if kinds else ''}")
    lines.append(f"gives {row.output.__name__}: {(row.output.__doc__ or '').partition(chr(10))[0]}")
    lines += [f"  {place}: {kind}" for place, kind in gives(row.output).items()]
    return ToolResult(text="\n".join(lines), data=ToolNames(tools=(row.name,)))


TOOLS = (ask_user, list_tools, tool_help)
