"""A `ChatRequest` as the body of a request of the OpenAI chat protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from codur.llm.tokens import answer_tokens

if TYPE_CHECKING:
    from codur.config.settings import Profile
    from codur.llm.endpoint import Endpoint
    from codur.llm.model import ChatRequest
    from codur.types import Message, ToolCall, ToolSpec

OPENAI_HOST = "https://api.openai.com"


def request_body(request: ChatRequest, profile: Profile, endpoint: Endpoint) -> dict[str, Any]:
    """The body to send.

    A profile whose `tool_calls` is `json` gets no tools, and earlier calls and results as text: that is needed only
    when it stands in for a profile with native calls. A JSON answer format is never combined with tools: services
    refuse it.
    """
    native = profile.tool_calls == "native"
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": [_message(item) for item in request.messages] if native else _as_text(request.messages),
        "temperature": profile.temperature if request.temperature is None else request.temperature,
        # Older servers of the OpenAI protocol know only `max_tokens`; OpenAI itself has given it up.
        "max_completion_tokens" if _is_modern(endpoint) else "max_tokens": answer_tokens(request, profile),
    }
    if request.tools and native:
        body["tools"] = [_tool(spec) for spec in request.tools]
        body["tool_choice"] = request.tool_choice
    elif not request.tools:
        body |= _response_format(request, profile)
    if profile.reasoning_effort is not None:
        body["reasoning_effort"] = profile.reasoning_effort
    if profile.seed is not None:
        body["seed"] = profile.seed
    return body


def _is_modern(endpoint: Endpoint) -> bool:
    return endpoint.api == "groq" or endpoint.place == OPENAI_HOST


def _response_format(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    if profile.json_mode == "text" or (request.schema is None and not request.json_object):
        return {}
    if profile.json_mode == "object" or request.schema is None:
        return {"response_format": {"type": "json_object"}}
    schema = {"name": request.schema_name or "answer", "strict": True, "schema": dict(request.schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _clean(message.content)}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        body["tool_call_id"] = message.tool_call_id
    return body


def _as_text(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages for a model without tool calls: calls in the form that the prompts teach, results as the user's."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return [_text_message(message, names) for message in messages]


def _text_message(message: Message, names: Mapping[str, str]) -> dict[str, Any]:
    content = _clean(message.content)
    if message.role == "tool":
        name = names.get(message.tool_call_id, "the call")
        return {"role": "user", "content": f"Result of {name}:\n{content}"}
    if message.tool_calls:
        calls = [{"tool": call.name, "args": json.loads(_arguments(call))} for call in message.tool_calls]
        content = f"{content}\n{json.dumps({'tool_calls': calls}, ensure_ascii=False)}".strip()
    return {"role": message.role, "content": content}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    return _clean(json.dumps(dict(call.arguments), ensure_ascii=False, default=str))


def _clean(text: str) -> str:
    """`text` without lone surrogates, which file names can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
