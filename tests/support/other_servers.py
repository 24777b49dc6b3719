"""Replies in the forms of servers that speak the same protocols in their own way, as `make real-servers` meets them.

LiteLLM's proxy 1.106.2, llama.cpp's server (of xllamacpp 2026.10.11549), and llama-cpp-python's server 0.3.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.chat_streams import chunk, event, streamed
from tests.support.groq_server import ServerReply, completion

LITELLM_LIMITS = {
    "x-ratelimit-limit-tokens": "8000",
    "x-ratelimit-remaining-tokens": "7000",
    "llm_provider-x-ratelimit-limit-tokens": "8000",
    "llm_provider-x-ratelimit-remaining-tokens": "7000",
    "llm_provider-x-ratelimit-reset-tokens": "1.5s",
}
"""What a service told the proxy: when its limit is whole again comes under a name of the proxy's own."""


def litellm_error(status: int, kind: str | None, said: str, headers: Mapping[str, str] | None = None) -> ServerReply:
    """A refusal of LiteLLM: the code is the status, as a text."""
    return ServerReply(status=status, headers=headers or {}, body=litellm_error_body(str(status), kind, said))


def litellm_error_body(code: str, kind: str | None, said: str) -> dict[str, Any]:
    """The body of a refusal, or the data of one within a stream."""
    return {"error": {"message": said, "type": kind, "param": None, "code": code}}


def litellm_stream(words: Sequence[str]) -> ServerReply:
    """A stream of LiteLLM: no reason before the end, and the usage comes with one more choice that says nothing."""
    chunks: list[dict[str, Any]] = [chunk({"content": word}) for word in words]
    for told in chunks:
        del told["choices"][0]["finish_reason"]
    usage = {"prompt_tokens": 8, "completion_tokens": 5, "total_tokens": 13, "cost": 7e-05}
    last = chunk({}, usage=usage)
    del last["choices"][0]["finish_reason"]
    return _stream([*chunks, chunk({}, finish_reason="stop"), last])


def llama_error(status: int, kind: str, said: str, **more: Any) -> ServerReply:
    """A refusal of llama.cpp's server: the code is the status, as a number."""
    return ServerReply(status=status, body={"error": {"code": status, "message": said, "type": kind, **more}})


def llama_overflow(prompt: int, window: int) -> ServerReply:
    """A prompt that is longer than the window of llama.cpp's server."""
    said = f"request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it"
    return llama_error(400, "exceed_context_size_error", said, n_prompt_tokens=prompt, n_ctx=window)


def llama_call(arguments: str) -> ServerReply:
    """A stream of llama.cpp's server with one call after some words; its arguments come token by token."""
    call = {"index": 0, "id": "DSh3", "type": "function", "function": {"name": "read_file", "arguments": arguments[:1]}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in arguments[1:]]
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": None},
        {"content": "I look."},
        *({"tool_calls": [c]} for c in [call, *rest]),
    ]
    usage = {"completion_tokens": 71, "prompt_tokens": 367, "prompt_tokens_details": {"cached_tokens": 53}}
    last = chunk(usage=usage, timings={"cache_n": 53, "prompt_n": 1})
    return _stream([*(chunk(delta) for delta in deltas), chunk({}, finish_reason="tool_calls"), last])


def llama_python_cut_call(tokens: int) -> ServerReply:
    """A call of llama-cpp-python's server that ends at the bound of the answer, and says that it is a whole one."""
    function = {"name": "read_file", "arguments": '{ "path": "'}
    message = {"content": None, "tool_calls": [{"id": "call__0", "type": "function", "function": function}]}
    usage = {"prompt_tokens": 377, "completion_tokens": tokens}
    return ServerReply(body=completion(message, finish_reason="tool_calls", usage=usage))


def _stream(chunks: Sequence[Mapping[str, Any]]) -> ServerReply:
    return streamed("".join(event(value) for value in chunks) + event("[DONE]"))
