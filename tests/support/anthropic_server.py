"""A scripted server of Anthropic's Messages API on the loopback interface, for tests with the real client."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.chat_streams import event
from tests.support.groq_server import GroqServer, Replies, ServerReply

PATHS = ("/v1/messages",)
USAGE = {
    "input_tokens": 60,
    "cache_read_input_tokens": 30,
    "cache_creation_input_tokens": 10,
    "output_tokens": 20,
}
TEXT = {"type": "text", "text": "Hello there."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a\n.py"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


class AnthropicServer(GroqServer):
    """The server; `url` is its base URL."""

    def __init__(self, replies: Replies = ()) -> None:
        super().__init__(replies, paths=PATHS)


def message(
    *blocks: Mapping[str, Any], stop_reason: str | None = "end_turn", usage: Mapping[str, Any] | None = USAGE
) -> dict[str, Any]:
    """The body of an answer."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": [dict(block) for block in blocks],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def said(*blocks: Mapping[str, Any], **more: Any) -> ServerReply:
    """An answer in one piece."""
    return ServerReply(body=message(*blocks, **more))


def failed(status: int, kind: str, text: str = "No.", **headers: str) -> ServerReply:
    """An error in the service's form."""
    return ServerReply(status=status, headers=headers, body=error_body(kind, text))


def error_body(kind: str, text: str = "No.") -> dict[str, Any]:
    """The body of an error, or the data of one within a stream."""
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}


def stream(*blocks: Mapping[str, Any], stop_reason: str = "end_turn", sizes: int = 5) -> str:
    """A whole stream, with texts and inputs in pieces of so many characters."""
    start = message(stop_reason=None, usage={**USAGE, "output_tokens": 1})
    parts = [_event({"type": "message_start", "message": start}), _event({"type": "ping"})]
    for index, block in enumerate(blocks):
        parts += _block(index, block, sizes)
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    parts.append(_event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}))
    return "".join(parts) + _event({"type": "message_stop"})


def _block(index: int, block: Mapping[str, Any], sizes: int) -> list[str]:
    match block["type"]:
        case "text":
            empty, deltas = {**block, "text": ""}, [_delta("text_delta", "text", block["text"], sizes)]
        case "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            deltas = [_delta("thinking_delta", "thinking", block["thinking"], sizes)]
            deltas.append(_delta("signature_delta", "signature", block["signature"], len(block["signature"])))
        case _:
            given = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            empty, deltas = {**block, "input": {}}, [_delta("input_json_delta", "partial_json", given, sizes)]
    pieces: Sequence[dict[str, Any]] = [piece for group in deltas for piece in group]
    return [
        _event({"type": "content_block_start", "index": index, "content_block": empty}),
        *(_event({"type": "content_block_delta", "index": index, "delta": piece}) for piece in pieces),
        _event({"type": "content_block_stop", "index": index}),
    ]


def _delta(kind: str, name: str, text: str, size: int) -> list[dict[str, Any]]:
    return [{"type": kind, name: text[at : at + size]} for at in range(0, len(text), size)]


def _event(value: Mapping[str, Any]) -> str:
    return event(value, value["type"])
