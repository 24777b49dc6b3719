"""A `ChatRequest` as the body of a request of the OpenAI chat protocol."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codur.config.settings import Profile
from codur.llm.model import ChatRequest, ToolChoice
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.tokens import answer_tokens
from codur.types import Message, ToolCall


def request_body(request: ChatRequest, profile: Profile, endpoint: Endpoint, *, stream: bool = False) -> dict[str, Any]:
    """The body to send.

    A profile whose `tool_calls` is `json` gets no tools, and earlier calls and results as text: that is needed only
    when it stands in for a profile with native calls. A JSON answer format is never combined with tools: services
    refuse it.
    """
    native = profile.tool_calls == "native"
    messages = request.messages if native else without_calls(request.messages)
    body: dict[str, Any] = {"model": profile.model, "messages": [_message(item) for item in messages]}
    body |= temperature(request, profile)
    # Always sent, because services count the longest possible answer against the limit of a minute.
    body[endpoint.max_tokens_field] = answer_tokens(request, profile)
    # A service that has no native calls may refuse the field itself, and not only its content.
    if request.tools and native:
        functions = (
            {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
            for spec in request.tools
        )
        body["tools"] = [{"type": "function", "function": function} for function in functions]
        body["tool_choice"] = tool_choice(request, profile)
    # Never both: Groq refuses a form of the answer beside tools with status 400.
    elif not request.tools:
        body |= _response_format(request, profile)
    if profile.reasoning_effort is not None:
        body["reasoning_effort"] = profile.reasoning_effort
    if profile.seed is not None:
        body["seed"] = profile.seed
    if stream:
        body["stream"] = True
        # Groq gives the usage in a field of its own, unasked.
        body |= {} if endpoint.api == "groq" else {"stream_options": {"include_usage": True}}
    return body


def temperature(request: ChatRequest, profile: Profile) -> dict[str, float]:
    """The temperature to send, if any."""
    if profile.temperature is None:
        return {}
    return {"temperature": profile.temperature if request.temperature is None else request.temperature}


def tool_choice(request: ChatRequest, profile: Profile) -> ToolChoice:
    """The tool choice to send: a call is not demanded of a profile whose service refuses that."""
    return "auto" if request.tool_choice == "required" and not profile.forced_tools else request.tool_choice


def _response_format(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    if profile.json_mode == "text" or (request.schema is None and not request.json_object):
        return {}
    if profile.json_mode == "object" or request.schema is None:
        return {"response_format": {"type": "json_object"}}
    schema = {"name": request.schema_name or "answer", "strict": True, "schema": dict(request.schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": clean(message.content)}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        body["tool_call_id"] = message.tool_call_id
    return body


def without_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages for a model without tool calls: calls in the form that the prompts teach, results as the user's."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return tuple(_plain(message, names) for message in messages)


def _plain(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.tool_call_id, "the call")
        return Message(role="user", content=f"Result of {name}:\n{message.content}")
    content = message.content
    if message.tool_calls:
        calls = [{"tool": call.name, "args": json.loads(_arguments(call))} for call in message.tool_calls]
        content = f"{content}\n{json.dumps({'tool_calls': calls}, ensure_ascii=False)}".strip()
    return Message(role=message.role, content=content)


def _arguments(call: ToolCall) -> str:
    return clean(json.dumps(dict(call.arguments), ensure_ascii=False, default=str))


def clean(text: str) -> str:
    """`text` without lone surrogates, which file names can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
