"""Tools about tools, and the one that asks the user."""

from typing import Annotated

from codur.tools.flow.outputs import Answer, Text
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


@tool(Text, task_types=EVERY_TASK)
def list_tools(
    context: ToolContext,
    task_type: Annotated[str, Arg("Only tools for this kind of task, such as search or code_fix.")] = "",
    name: Annotated[str, Arg("Only this tool, with its arguments.")] = "",
) -> ToolResult:
    """List the tools with what each does, or tell one's arguments."""
    if task_type and task_type not in EVERY_TASK:
        raise ToolError("invalid", f"{task_type!r:.60} is no kind of task; there are {', '.join(sorted(EVERY_TASK))}")
    fitting = [row for _, row in sorted(context.tools.items()) if not task_type or task_type in row.task_types]
    found = [row for row in fitting if name in ("", row.name)]
    if not found:
        raise ToolError("not_found", f"there is no tool {name:.80}; without a name all are listed")
    lines = [f"{row.name} ({row.side_effect}): {row.description}" for row in found]
    arguments = found[0].arguments if name else {}
    lines += [f"  {each}: {item.doc}" for each, item in arguments.items()]
    return ToolResult(text="\n".join(lines), data=Text())


TOOLS = (ask_user, list_tools)
