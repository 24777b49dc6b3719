"""Streamed answers of the OpenAI chat protocol, as `api: groq` and `api: openai` get them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.groq_server import USAGE, ServerReply

CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a\\n.py"}'}}


def event(value: Mapping[str, Any] | str, name: str = "") -> str:
    """One server-sent event."""
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "") + f"data: {data}\n\n"


def chunk(delta: Mapping[str, Any] | None = None, *, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a completion; without a choice if there is no delta."""
    choices = [] if delta is None else [{"index": 0, "delta": dict(delta), "finish_reason": finish_reason}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "streamed", "choices": choices, **more}


def stream(
    deltas: Sequence[Mapping[str, Any]],
    *,
    finish_reason: str = "stop",
    api: str = "groq",
    usage: Mapping[str, Any] | None = USAGE,
) -> str:
    """A whole stream; its usage comes where the service puts it."""
    parts = [event(chunk({"role": "assistant", "content": ""}))]
    parts += [event(chunk(delta)) for delta in deltas]
    own = {"x_groq": {"id": "req", "usage": usage}} if api == "groq" and usage else {}
    parts.append(event(chunk({}, finish_reason=finish_reason, **own)))
    if api == "openai" and usage:
        parts.append(event(chunk(usage=usage)))
    return "".join(parts) + event("[DONE]")


def streamed(text: str | bytes, **changes: Any) -> ServerReply:
    """A stream as a reply, in pieces; it ends with the connection, as chunked ones may."""
    data = text.encode() if isinstance(text, str) else text
    values: dict[str, Any] = {"sized": False, "pieces": 97, **changes}
    return ServerReply(headers={"content-type": "text/event-stream; charset=utf-8"}, body=data, **values)


def words(text: str, **more: Any) -> str:
    """A stream of an answer in words, one delta a word."""
    return stream([{"content": piece} for piece in text.replace(" ", " \0").split("\0")], **more)


def splits(call: Mapping[str, Any] = CALL) -> Iterator[list[dict[str, Any]]]:
    """A tool call in two chunks, cut at every position of its arguments and of its name."""
    function = call["function"]
    for field, other in (("arguments", "name"), ("name", "arguments")):
        whole = function[field]
        for at in range(len(whole) + 1):
            first = {other: function[other], field: whole[:at]}
            yield [
                {"tool_calls": [{"index": 0, "id": call["id"], "type": "function", "function": first}]},
                {"tool_calls": [{"index": 0, "function": {field: whole[at:]}}]},
            ]
