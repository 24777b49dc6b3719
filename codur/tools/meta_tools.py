"""The tool that asks the user."""

from __future__ import annotations

from typing import Annotated

from codur.tools.flow.outputs import Answer
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


TOOLS = (ask_user,)
