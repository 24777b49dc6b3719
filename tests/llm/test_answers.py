"""What comes back: usable answers, and sentences about those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from codur.errors import ModelAnswerError
from codur.llm.model import ChatReply
from codur.llm.services.sdk import MAX_BODY_BYTES
from codur.types import ToolCall, Usage
from tests.llm.kit import READ_FILE, SCHEMA, Client, ask, settings
from tests.support.groq_server import (
    USAGE,
    GroqServer,
    ServerReply,
    calls,
    completion,
    error,
    failed_generation,
    json_reply,
    raw,
    text,
)

SPENT = Usage(calls=1, prompt_tokens=100, completion_tokens=20, cost_usd=0.00014)
HAS_TOOLS = ask(tools=(READ_FILE,))
CALL = ToolCall(id="call_1", name="read_file", arguments={"path": "a.py"})


def reply_of(**values: Any) -> ChatReply:
    return ChatReply(
        **{"usage": SPENT, "model": "scripted-server", "profile": "main", "max_completion_tokens": 3000, **values}
    )


@pytest.mark.parametrize(
    ("sent", "reply"),
    [
        (text("Hello."), reply_of(text="Hello.")),
        (json_reply({"a": 1}), reply_of(text='{"a": 1}')),
        (text("<think>hm</think>\nHello."), reply_of(text="Hello.")),
        (text("Hello.", finish_reason=None), reply_of(text="Hello.")),
        (
            ServerReply(body=completion({"content": [{"type": "text", "text": "Hel"}, {"text": "lo."}]})),
            reply_of(text="Hello."),
        ),
        (calls(("read_file", {"path": "a.py"})), reply_of(tool_calls=(CALL,), finish_reason="tool_calls")),
        (
            calls(("read_file", {"path": "a.py"}), finish_reason="stop"),
            reply_of(tool_calls=(CALL,), finish_reason="tool_calls"),
        ),
        (
            calls(("list_files", ""), ("list_files", "{}"), content="Look."),
            reply_of(
                text="Look.",
                tool_calls=(ToolCall(id="call_1", name="list_files"), ToolCall(id="call_2", name="list_files")),
                finish_reason="tool_calls",
            ),
        ),
        (
            calls(("write_file", '{"path": "a.py", "content": "x'), ("read_file", {"path": "a.py"})),
            reply_of(
                tool_calls=(ToolCall(id="call_2", name="read_file", arguments={"path": "a.py"}),),
                finish_reason="tool_calls",
                problem="The arguments of write_file are not a JSON object "
                "(Unterminated string starting at: line 1 column 29 (char 28)).",
            ),
        ),
        (
            calls(("write_file", '["a.py"]')),
            reply_of(
                finish_reason="tool_calls", problem="The arguments of write_file are not a JSON object (it is a list)."
            ),
        ),
        (calls(("", "{}")), reply_of(finish_reason="tool_calls", problem="A tool call has no name.")),
        (
            calls(("write_file", {"path": "a.py"}), content="Now", finish_reason="length"),
            reply_of(
                text="Now",
                finish_reason="length",
                problem="The answer was cut off after 20 tokens. Answer more briefly.",
            ),
        ),
        (
            text(None, finish_reason="length"),
            reply_of(finish_reason="length", problem="The answer was cut off after 20 tokens. Answer more briefly."),
        ),
    ],
)
def test_an_answer_is_read(sent: ServerReply, reply: ChatReply) -> None:
    with GroqServer([sent]) as server:
        client = Client(settings(server.url))
        assert client.complete(HAS_TOOLS) == reply
    assert client.usage == SPENT
    assert client.told() == ["model_called", "model_answered"]


def test_ids_that_are_missing_or_the_same_are_replaced() -> None:
    function = {"name": "list_files", "arguments": "{}"}
    raw_calls = [{"id": "x", "function": function}, {"id": "x", "function": function}, {"function": function}]
    with GroqServer([ServerReply(body=completion({"tool_calls": raw_calls}))]) as server:
        reply = Client(settings(server.url)).complete(HAS_TOOLS)
    assert [call.id for call in reply.tool_calls] == ["x", "call_2", "call_3"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (text(""), "main (service) gave an empty answer."),
        (text(None), "main (service) gave an empty answer."),
        (text("<think>only this</think>"), "main (service) gave an empty answer."),
        (ServerReply(body={"choices": []}), "main (service) gave an answer without any choice."),
        (ServerReply(body={}), "main (service) gave an answer without any choice."),
        (ServerReply(body={"choices": [{"message": None}]}), "main (service) gave an answer without any choice."),
        (ServerReply(body={"error": {"message": "overloaded"}}), "main (service) gave an error: overloaded."),
        (
            raw("[1]", content_type="application/json"),
            "main (service) gave something that is not an answer of the chat protocol.",
        ),
        (
            ServerReply(body=completion({"content": None, "refusal": "I cannot do that"})),
            "main (service) gave a refusal: I cannot do that.",
        ),
        (text("x", finish_reason="content_filter"), "main (service) gave a refusal."),
        (
            raw('{"choices": [', content_type="application/json"),
            "main (service) gave an answer that is not JSON.",
        ),
        (
            raw(b"\xff\xfe\x00", content_type="application/json"),
            "main (service) gave an answer that is not JSON.",
        ),
    ],
)
def test_an_unusable_answer_is_an_error_that_counts(sent: ServerReply, message: str) -> None:
    with GroqServer([sent]) as server:
        client = Client(settings(server.url))
        with pytest.raises(ModelAnswerError) as caught:
            client.complete()
    assert (caught.value.message, caught.value.remedy) == (
        message,
        "Try again, or choose another profile with CODUR_LLM__DEFAULT_PROFILE=NAME.",
    )
    assert client.usage.calls == 1
    assert caught.value.usage == client.usage
    assert client.told() == ["model_called", "model_answered"]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (USAGE, (100, 0, 20)),
        ({**USAGE, "prompt_tokens_details": {"cached_tokens": 60}}, (100, 60, 20)),
        ({**USAGE, "prompt_tokens_details": {"cached_tokens": 600}}, (100, 100, 20)),
        ({**USAGE, "prompt_tokens_details": None}, (100, 0, 20)),
        (None, (6, 0, 10)),
        ({}, (6, 0, 10)),
        ({"prompt_tokens": -5, "completion_tokens": -1}, (6, 0, 10)),
        ({"prompt_tokens": 10**18, "completion_tokens": 10**18}, (6, 0, 10)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (6, 0, 10)),
        ({"prompt_tokens": "12", "completion_tokens": True}, (6, 0, 10)),
    ],
)
def test_usage_that_cannot_be_true_is_estimated(usage: dict[str, Any] | None, counted: tuple[int, int, int]) -> None:
    with GroqServer([text("x" * 35, usage=usage)]) as server:
        used = Client(settings(server.url)).complete().usage
    prompt, cached, completed = counted
    assert (used.prompt_tokens, used.cached_tokens, used.completion_tokens) == counted
    assert used.cost_usd == pytest.approx(((prompt - cached) * 1.0 + cached * 0.5 + completed * 2.0) / 1e6)


@pytest.mark.parametrize(
    ("generated", "code", "reply"),
    [
        (
            '<function=read_file>{"path": "a.py"}</function>',
            "tool_use_failed",
            {"tool_calls": (CALL,), "finish_reason": "tool_calls"},
        ),
        (
            '{"name": "read_file", "arguments": {"path": "a.py"}}',
            "tool_use_failed",
            {"tool_calls": (CALL,), "finish_reason": "tool_calls"},
        ),
        ('```json\n{"a": 1,}\n```', "json_validate_failed", {"text": '```json\n{"a": 1,}\n```'}),
    ],
)
def test_a_failed_generation_that_can_be_read_is_an_answer(generated: str, code: str, reply: dict[str, Any]) -> None:
    request = HAS_TOOLS if code == "tool_use_failed" else ask(schema=SCHEMA)
    with GroqServer([failed_generation(generated, code=code)]) as server:
        client = Client(settings(server.url))
        answer = client.complete(request)
    assert answer == ChatReply(model="big", profile="main", usage=client.usage, max_completion_tokens=3000, **reply)
    assert (client.usage.calls, client.told()) == (1, ["model_called", "model_answered"])


def test_a_failed_generation_that_cannot_be_read_is_asked_for_once_more() -> None:
    with GroqServer([failed_generation('{"name": "read_fi'), calls(("read_file", {"path": "a.py"}))]) as server:
        client = Client(settings(server.url))
        reply = client.complete(HAS_TOOLS)
    assert reply.tool_calls == (CALL,)
    assert (reply.usage, client.usage.calls, client.waits) == (client.usage, 2, [])
    assert server.bodies[1]["messages"] == [
        {"role": "user", "content": "Hello"},
        {
            "role": "user",
            "content": "Your last answer was not a readable tool call. Failed to call a function. "
            "Answer again, with a correct one.",
        },
    ]


def test_two_failed_generations_are_an_error() -> None:
    with GroqServer([failed_generation("", code="json_validate_failed")] * 2) as server:
        client = Client(settings(server.url, fallback=["spare"]))
        with pytest.raises(
            ModelAnswerError, match="main did not give a readable JSON object: Failed to call a function"
        ):
            client.complete(ask(schema=SCHEMA))
    assert (len(server.requests), client.usage.calls) == (2, 2)


def test_a_400_without_a_failed_generation_is_asked_again_too() -> None:
    with GroqServer([error(400, "Bad tool call", code="tool_use_failed"), text("Hello.")]) as server:
        assert Client(settings(server.url)).complete(HAS_TOOLS).text == "Hello."
    assert len(server.requests) == 2


@pytest.mark.parametrize("api", ["groq", "openai"])
def test_an_answer_without_end_is_not_read_to_its_end(api: Any) -> None:
    with GroqServer([raw(b" " * (MAX_BODY_BYTES + 1))]) as server:
        url = server.url if api == "groq" else server.openai_url
        client = Client(settings(url, api=api))
        with pytest.raises(ModelAnswerError) as caught:
            client.complete()
    assert caught.value.message == "main (service) gave an answer of more than 20 MiB."
    assert (client.usage.calls, client.waits) == (1, [])
    assert server.requests[0].headers["accept-encoding"] == "identity"
