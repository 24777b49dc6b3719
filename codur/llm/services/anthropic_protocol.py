"""Anthropic's Messages API: a `ChatRequest` as the body to send, and answers, also streamed, as chat completions.

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
from codur.llm.services.chat_protocol import clean, temperature, tool_choice, without_calls
from codur.llm.services.event_stream import Collector, UnreadableEventError
from codur.llm.tokens import answer_tokens
from codur.parsing.json_values import at, items, read_json, text
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
    output: dict[str, Any] = {}
    if profile.reasoning_effort is not None:
        output["effort"] = profile.reasoning_effort
    if request.schema is not None and not request.tools and profile.json_mode == "strict":
        output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
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
    # The service counts what it reads from its cache, and what it writes there, apart from the rest of the prompt
    raw = body.get("usage")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, written = (part if isinstance(part := at(raw, name), int) else 0 for name in names)
    return {
        "model": body.get("model"),
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": fresh + read + written,
            "completion_tokens": at(raw, "output_tokens"),
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        },
    }


def call_id(own: str) -> str:
    """An id in the characters that the service allows."""
    # Ids of other services, whose conversation this one may go on with, have other characters.
    return _FOREIGN.sub("_", own)


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


MOST_BLOCKS = 1000  # a stream that opens more is broken
_PIECES = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of a piece, and of the block that it belongs to, by the piece's type."""


class MessageCollector(Collector):
    """Puts the events of one message together.

    Kinds of events and blocks that are not known are left alone, as the service asks.
    """

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self._open: set[int] = set()
        self._stopped = False

    @property
    def ended(self) -> bool:
        """See `Collector.ended`."""
        return self._stopped and not self._open and isinstance(self._message.get("stop_reason"), str)

    def _add(self, value: Mapping[str, Any]) -> str:
        match value.get("type"):
            case "message_start":
                message = _mapping(value.get("message"))
                self._message = {name: part for name, part in message.items() if name not in ("content", "usage")}
                self._count(message.get("usage"))
            case "content_block_start":
                self._begin(_index(value), _mapping(value.get("content_block")))
            case "content_block_delta":
                return self._piece(_index(value), _mapping(value.get("delta")))
            case "content_block_stop":
                self._open.discard(_index(value))
            case "message_delta":
                self._message |= _mapping(value.get("delta"))
                self._count(value.get("usage"))
            case "message_stop":
                self._stopped = True
        return ""

    def body(self) -> dict[str, Any]:
        """See `Collector.body`."""
        content = [self._block(index) for index in sorted(self._blocks)]
        return {**self._message, "content": content, "usage": self._usage}

    def _count(self, usage: Any) -> None:
        """Later counts stand for all that came before."""
        counts = usage if isinstance(usage, Mapping) else {}
        self._usage |= {name: count for name, count in counts.items() if count is not None}

    def _begin(self, index: int, block: Mapping[str, Any]) -> None:
        if len(self._blocks) >= MOST_BLOCKS:
            raise UnreadableEventError
        self._blocks[index] = dict(block)
        self._pieces[index] = {}
        self._open.add(index)

    def _piece(self, index: int, delta: Mapping[str, Any]) -> str:
        # A piece of a block that was not begun, or has ended: parts of the answer are lost.
        if index not in self._open:
            raise UnreadableEventError
        kind = delta.get("type")
        name = _PIECES.get(kind) if isinstance(kind, str) else None
        piece = delta.get(name) if name else None
        if name is None or not isinstance(piece, str):
            return ""
        self._pieces[index].setdefault(name, []).append(piece)
        return piece if name == "text" else ""

    def _block(self, index: int) -> dict[str, Any]:
        block = dict(self._blocks[index])
        given = {name: "".join(pieces) for name, pieces in self._pieces[index].items()}
        arguments = given.pop("partial_json", "")
        for name, more in given.items():
            block[name] = text(block.get(name)) + more
        # What cannot be read stays as it is: whoever reads the call says so.
        return {**block, "input": read_json(arguments, arguments)} if arguments else block


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableEventError
    return value


def _index(value: Mapping[str, Any]) -> int:
    index = value.get("index")
    if isinstance(index, bool) or not isinstance(index, int):
        raise UnreadableEventError
    return index
