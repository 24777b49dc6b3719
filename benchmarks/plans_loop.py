"""What LangGraph's prebuilt agent needs for `plans.py`: a model that follows a script, and Codur's tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from codur.tools.toolbox import Toolbox


class ScriptedModel(BaseChatModel):
    """Gives these answers in order, and counts what was sent: messages and tool schemas, in characters of JSON."""

    answers: list[AIMessage]
    calls: int = 0
    sent: int = 0
    schemas: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        self.schemas = len(json.dumps([convert_to_openai_tool(tool) for tool in tools]))
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - of the base class
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - of the base class
        **_: Any,
    ) -> ChatResult:
        self.sent += self.schemas + len(json.dumps(convert_to_openai_messages(messages)))
        answer = self.answers[self.calls]
        self.calls += 1
        return ChatResult(generations=[ChatGeneration(message=answer)])


def tools_of(toolbox: Toolbox) -> list[StructuredTool]:
    """Codur's tools as LangChain has them."""
    return [_tool(toolbox, name) for name in toolbox.names()]


def _tool(toolbox: Toolbox, name: str) -> StructuredTool:
    spec = toolbox.spec(name)

    def call(**arguments: Any) -> str:
        return toolbox.call(name, {key: value for key, value in arguments.items() if value is not None}).text

    return StructuredTool(name=name, description=spec.description, args_schema=dict(spec.parameters), func=call)
