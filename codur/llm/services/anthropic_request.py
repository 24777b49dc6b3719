"""A `ChatRequest` as the body of a request of Anthropic's Messages API, and its answers as chat completions.

The instructions are apart from the messages, tool calls and their results are blocks of content, and messages of one
role in a row are one. What stays the same from request to request (tools, then instructions) comes first and ends in a
mark for the service's cache; a conversation that goes on with tool results has a second mark at its end.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codur.config.settings import Profile
from codur.lazy import regex
from codur.llm.model import ChatRequest
from codur.llm.services.chat_request import clean, temperature, tool_choice, without_calls
from codur.llm.tokens import answer_tokens
from codur.parsing.json_values import at, items, text
from codur.types import Message, ToolCall

Blocks = list[dict[str, Any]]

_CACHE: Mapping[str, Any] = {"cache_control": {"type": "ephemeral"}}
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_FOREIGN = regex(r"[^A-Za-z0-9_-]")
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def messages_body(
    request: ChatRequest, profile: Profile, said: Mapping[str, Blocks], *, stream: bool = False
) -> dict[str, Any]:
    """The body to send.

    A seed is not sent, as the service knows none; its model's thoughts go back to it with the results of their calls:
    `said` has earlier answers with tool calls, block by block as they came, by the id of their first call.
    """
    native = profile.tool_calls == "native"
    messages = request.messages if native else without_calls(request.messages)
    system: Blocks = [_text(item.content) for item in messages if item.role == "system" and item.content]
    tools: Blocks = [
        {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}
        for spec in (request.tools if native else ())
    ]
    # The mark stands for all before it, and tools come before the instructions.
    for stable in (system or tools)[-1:]:
        stable |= _CACHE
    body: dict[str, Any] = {"model": profile.model, "max_tokens": answer_tokens(request, profile)}
    body |= {"tools": tools, "tool_choice": {"type": _CHOICES[tool_choice(request, profile)]}} if tools else {}
    body |= {"system": system} if system else {}
    body["messages"] = _turns([item for item in messages if item.role != "system"], said)
    body |= temperature(request, profile)
    output = _output_config(request, profile)
    body |= {"output_config": output} if output else {}
    return body | ({"stream": True} if stream else {})


def as_completion(body: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the service as the chat completion that says the same."""
    blocks = [block for block in items(body.get("content")) if isinstance(block, Mapping)]

    def joined(kind: str) -> str:
        return "".join(text(block.get(kind)) for block in blocks if block.get("type") == kind)

    calls = [
        {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    reason = body.get("stop_reason")
    message = {"content": joined("text"), "reasoning": joined("thinking"), "tool_calls": calls}
    finish = _FINISH.get(reason, reason) if isinstance(reason, str) else None
    return {
        "model": body.get("model"),
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": _usage(body.get("usage")),
    }


def call_id(own: str) -> str:
    """An id in the characters that the service allows."""
    # Ids of other services, whose conversation this one may go on with, have other characters.
    return _FOREIGN.sub("_", own)


def _usage(raw: Any) -> dict[str, Any]:
    """The service counts what it reads from its cache, and what it writes there, apart from the rest of the prompt."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, written = (part if isinstance(part := at(raw, name), int) else 0 for name in names)
    return {
        "prompt_tokens": fresh + read + written,
        "completion_tokens": at(raw, "output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
    }


def _output_config(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if profile.reasoning_effort is not None:
        config["effort"] = profile.reasoning_effort
    if request.schema is not None and not request.tools and profile.json_mode == "strict":
        config["format"] = {"type": "json_schema", "schema": dict(request.schema)}
    return config


def _turns(messages: Sequence[Message], said: Mapping[str, Blocks]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message, said)
        # The service wants roles to alternate: results and the words after them are one turn.
        if blocks and turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if any(message.role == "tool" for message in messages):
        # A copy, as the blocks of earlier answers are kept and sent again without the mark.
        turns[-1]["content"][-1] = {**turns[-1]["content"][-1], **_CACHE}
    return turns


def _blocks(message: Message, said: Mapping[str, Blocks]) -> Blocks:
    if message.role == "tool":
        return [
            {"type": "tool_result", "tool_use_id": call_id(message.tool_call_id), "content": clean(message.content)}
        ]
    own = [_text(message.content)] if message.content.strip() else []  # the service refuses empty texts
    own += [_use(call) for call in message.tool_calls]
    thoughts = said.get(message.tool_calls[0].id) if message.tool_calls else None
    return _with_thoughts(own, thoughts) if thoughts else own


def _with_thoughts(own: Blocks, said: Blocks) -> Blocks:
    """The answer as it came, thoughts where they stood; what is sent of texts and calls is what the message holds."""
    uses = {block["id"]: block for block in own if block["type"] == "tool_use"}
    texts = [block for block in own if block["type"] == "text"]
    blocks: Blocks = []
    for block in said:
        if block["type"] == "tool_use":
            blocks += [uses[block["id"]]] if block["id"] in uses else []
        elif block["type"] == "text":
            blocks, texts = [*blocks, *texts], []
        else:
            blocks.append(block)
    return blocks


def _use(call: ToolCall) -> dict[str, Any]:
    arguments = json.loads(clean(json.dumps(dict(call.arguments), ensure_ascii=False, default=str)))
    return {"type": "tool_use", "id": call_id(call.id), "name": call.name, "input": arguments}


def _text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": clean(content)}
