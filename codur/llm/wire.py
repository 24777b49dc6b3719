"""A `ChatRequest` as the body of a request of the OpenAI chat protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codur.llm.tokens import answer_tokens

if TYPE_CHECKING:
    from codur.config.settings import Profile
    from codur.llm.endpoint import Endpoint
    from codur.llm.model import ChatRequest
    from codur.types import Message, ToolCall, ToolSpec

OPENAI_HOST = "https://api.openai.com"

_TOOLS_AS_TEXT = """\
You can call these tools:
{tools}
To call tools, answer with one JSON object and nothing else:
{{"tool_calls": [{{"name": "TOOL", "arguments": {{...}}}}]}}
Without a tool call, answer in plain text."""


def request_body(request: ChatRequest, profile: Profile, endpoint: Endpoint) -> dict[str, Any]:
    """The body to send.

    Profiles whose `tool_calls` is `json` get tools, calls and results as text. A JSON answer format is never combined
    with tools: services refuse it.
    """
    as_text = profile.tool_calls == "json"
    messages = list(request.messages)
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": [_text_message(item) if as_text else _message(item) for item in messages],
        "temperature": profile.temperature if request.temperature is None else request.temperature,
        # Older servers of the OpenAI protocol know only `max_tokens`; OpenAI itself has given it up.
        "max_completion_tokens" if _is_modern(endpoint) else "max_tokens": answer_tokens(request, profile),
    }
    if request.tools and as_text:
        body["messages"] = _with_tools(body["messages"], request)
    elif request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        body["tool_choice"] = request.tool_choice
    elif request.schema is not None:
        body |= _response_format(request, profile)
    if profile.reasoning_effort is not None:
        body["reasoning_effort"] = profile.reasoning_effort
    if profile.seed is not None:
        body["seed"] = profile.seed
    return body


def _is_modern(endpoint: Endpoint) -> bool:
    return endpoint.api == "groq" or endpoint.place == OPENAI_HOST


def _response_format(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    if profile.json_mode == "text" or request.schema is None:
        return {}
    if profile.json_mode == "object":
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


def _text_message(message: Message) -> dict[str, Any]:
    content = _clean(message.content)
    if message.role == "tool":
        return {"role": "user", "content": f"Result of the call {message.tool_call_id}:\n{content}"}
    if message.tool_calls:
        calls = [
            {"id": call.id, "name": call.name, "arguments": json.loads(_arguments(call))} for call in message.tool_calls
        ]
        content = f"{content}\n{json.dumps({'tool_calls': calls}, ensure_ascii=False)}".strip()
    return {"role": message.role, "content": content}


def _with_tools(messages: list[dict[str, Any]], request: ChatRequest) -> list[dict[str, Any]]:
    """The messages with the tools told in the system message, which comes first so that services can cache it."""
    if request.tool_choice == "none":
        return messages
    tools = "\n".join(json.dumps(_tool(spec)["function"], ensure_ascii=False) for spec in request.tools)
    text = _TOOLS_AS_TEXT.format(tools=tools)
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{text}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    return _clean(json.dumps(dict(call.arguments), ensure_ascii=False, default=str))


def _clean(text: str) -> str:
    """`text` without lone surrogates, which file names can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
