"""The OpenAI chat protocol: a `ChatRequest` as the body to send, and streamed chunks as the completion they make up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codur.config.settings import Profile
from codur.llm.model import ChatRequest, ToolChoice
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.services.event_stream import Collector, ServerEvent, UnreadableEventError
from codur.llm.tokens import answer_tokens
from codur.parsing.json_values import at, items, mapping
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


END = "[DONE]"
MOST_CALLS = 1000
"""No answer within a token limit has as many tool calls."""


class ChatCollector(Collector):
    """Puts the chunks of one completion together.

    An answer is whole when a chunk has told why it ended, and the end mark has come.
    """

    def __init__(self) -> None:
        self._done = False
        self._finish: str | None = None
        self._model = ""
        self._usage: Mapping[str, Any] | None = None
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
        self._calls: dict[int, _Call] = {}
        self._order: list[_Call] = []

    @property
    def ended(self) -> bool:
        """See `Collector.ended`."""
        return self._done and self._finish is not None

    def add(self, event: ServerEvent) -> str:
        """See `Collector.add`."""
        if event.data.strip() == END:
            self._done = True
            return ""
        return super().add(event)

    def body(self) -> dict[str, Any]:
        """See `Collector.body`."""
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items()}
        if self._order:
            message["tool_calls"] = [call.whole() for call in self._order]
        return {
            "model": self._model,
            "choices": [{"message": message, "finish_reason": self._finish}],
            "usage": self._usage,
        }

    def _add(self, value: Mapping[str, Any]) -> str:
        model = value.get("model")
        self._model = model if isinstance(model, str) and model else self._model
        # Groq tells it in a field of its own, in the last chunk.
        for usage in (value.get("usage"), at(value.get("x_groq"), "usage")):
            self._usage = usage if isinstance(usage, Mapping) else self._usage
        choice = at(value.get("choices"), "0")  # the chunk that tells the usage has none
        finish = at(choice, "finish_reason")
        self._finish = finish if isinstance(finish, str) else self._finish
        return self._delta(mapping(at(choice, "delta")))

    def _delta(self, delta: Mapping[str, Any]) -> str:
        for name, parts in self._texts.items():
            text = delta.get(name)
            if isinstance(text, str):
                parts.append(text)
        for position, piece in enumerate(items(delta.get("tool_calls"))):
            # Servers that leave the index out send the calls in their order.
            index = piece.get("index", position) if isinstance(piece, Mapping) else None
            if isinstance(index, bool) or not isinstance(index, int):
                raise UnreadableEventError
            self._call(index, piece).add(piece)
        content = delta.get("content")
        return content if isinstance(content, str) else ""

    def _call(self, index: int, piece: Mapping[str, Any]) -> _Call:
        """The call that a piece belongs to: some servers give every call the index 0, with its own id and name."""
        known = self._calls.get(index)
        if known is None or known.is_another(piece):
            if len(self._order) >= MOST_CALLS:
                raise UnreadableEventError
            known = self._calls[index] = _Call()
            self._order.append(known)
        return known


class _Call:
    """One tool call, in pieces."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments: list[str] = []

    def is_another(self, piece: Mapping[str, Any]) -> bool:
        """Whether a piece begins another call; an id alone does not, as some servers give every piece one."""
        given = piece.get("id")
        return isinstance(given, str) and given not in ("", self._id) and bool(at(piece, "function.name"))

    def add(self, piece: Mapping[str, Any]) -> None:
        """Take a piece; a name that is told again does not count."""
        given, name, arguments = (at(piece, path) for path in ("id", "function.name", "function.arguments"))
        if isinstance(given, str):
            self._id = self._id or given
        # Some send the name in pieces, some whole with each piece.
        if isinstance(name, str) and name != self._name:
            self._name += name
        if isinstance(arguments, str):
            self._arguments.append(arguments)

    def whole(self) -> dict[str, Any]:
        """The call as it would have come in one piece."""
        return {"id": self._id, "function": {"name": self._name, "arguments": "".join(self._arguments)}}
