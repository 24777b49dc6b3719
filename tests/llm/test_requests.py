"""What is sent: bodies, paths and headers, as the server sees them."""

from __future__ import annotations

from typing import Any

import pytest

from codur.llm.model import ChatRequest
from codur.types import Message, ToolCall
from tests.llm.kit import CANARY, KEYS, READ_FILE, SCHEMA, Client, ask, settings
from tests.support.groq_server import GroqServer, calls, text

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = {
    "type": "function",
    "function": {"name": "read_file", "description": "Reads a file.", "parameters": dict(READ_FILE.parameters)},
}
STRICT = {"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("profile", "request_", "body"),
    [
        ({}, ask(), {}),
        (
            {"temperature": 0.7, "seed": 7, "reasoning_effort": "low"},
            ask(),
            {"temperature": 0.7, "seed": 7, "reasoning_effort": "low"},
        ),
        ({}, ask(temperature=0.0, max_completion_tokens=50), {"temperature": 0.0, "max_completion_tokens": 50}),
        ({}, ask(schema=SCHEMA, schema_name="plan"), {"response_format": STRICT}),
        ({"json_mode": "object"}, ask(schema=SCHEMA), {"response_format": {"type": "json_object"}}),
        ({"json_mode": "text"}, ask(schema=SCHEMA), {}),
        ({}, ask(json_object=True), {"response_format": {"type": "json_object"}}),
        ({"json_mode": "object"}, ask(json_object=True), {"response_format": {"type": "json_object"}}),
        ({"json_mode": "text"}, ask(json_object=True), {}),
        ({}, ask(schema=SCHEMA, schema_name="plan", json_object=True), {"response_format": STRICT}),
        ({}, ask(tools=(READ_FILE,), json_object=True), {"tools": [TOOL], "tool_choice": "auto"}),
        ({}, ask(tools=(READ_FILE,)), {"tools": [TOOL], "tool_choice": "auto"}),
        ({}, ask(tools=(READ_FILE,), tool_choice="required"), {"tools": [TOOL], "tool_choice": "required"}),
        ({}, ask(tools=(READ_FILE,), schema=SCHEMA), {"tools": [TOOL], "tool_choice": "auto"}),
        ({"request_tokens": 1000}, ask(), {"max_completion_tokens": 994}),
        (
            {"request_tokens": 1000},
            ask("x" * 10_000),
            {"messages": [{"role": "user", "content": "x" * 10_000}], "max_completion_tokens": 256},
        ),
        ({}, ask("a\udcffb"), {"messages": [{"role": "user", "content": "a?b"}]}),
    ],
)
def test_the_body_follows_profile_and_request(
    profile: dict[str, Any], request_: ChatRequest, body: dict[str, Any]
) -> None:
    with GroqServer([text("Hi.")]) as server:
        Client(settings(server.url, **profile)).complete(request_)
    expected = {"model": "big", "messages": HELLO, "temperature": 0.2, "max_completion_tokens": 3000}
    assert server.bodies == [{**expected, **body}]


CONVERSATION = ChatRequest(
    purpose="test",
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="Read it."),
        Message(role="assistant", tool_calls=(ToolCall(id="c1", name="read_file", arguments={"path": "ä.py"}),)),
        Message(role="tool", content="x = 1", tool_call_id="c1"),
    ),
    tools=(READ_FILE,),
)


def test_a_conversation_with_tools_is_sent_in_the_protocol() -> None:
    with GroqServer([text("Hi.")]) as server:
        Client(settings(server.url)).complete(CONVERSATION)
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "ä.py"}'}}
            ],
        },
        {"role": "tool", "content": "x = 1", "tool_call_id": "c1"},
    ]


def test_a_model_without_native_calls_gets_no_tools_and_what_was_called_as_text() -> None:
    with GroqServer([text("Done.")]) as server:
        reply = Client(settings(server.url, tool_calls="json")).complete(CONVERSATION)
    assert server.bodies == [
        {
            "model": "big",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Read it."},
                {"role": "assistant", "content": '{"tool_calls": [{"tool": "read_file", "args": {"path": "ä.py"}}]}'},
                {"role": "user", "content": "Result of read_file:\nx = 1"},
            ],
            "temperature": 0.2,
            "max_completion_tokens": 3000,
        }
    ]
    assert (reply.text, reply.tool_calls, reply.finish_reason) == ("Done.", (), "stop")


def test_calls_in_text_are_left_to_who_asked_for_them() -> None:
    answer = '{"tool_calls": [{"tool": "read_file", "args": {"path": "b.py"}}]}'
    with GroqServer([text(answer)]) as server:
        reply = Client(settings(server.url, tool_calls="json")).complete(ask(json_object=True))
    assert server.bodies[0]["response_format"] == {"type": "json_object"}
    assert (reply.text, reply.tool_calls, reply.finish_reason) == (answer, (), "stop")


@pytest.mark.parametrize(
    ("wanted", "sent"), [(ask(), 3000), (ask(max_completion_tokens=50), 50), (ask("x" * 14_000), 1996)]
)
def test_the_reply_tells_the_limit_that_was_sent(wanted: ChatRequest, sent: int) -> None:
    with GroqServer([text("Hi."), text("Hi.", finish_reason="length"), calls(("read_file", {"path": "a"}))]) as server:
        client = Client(settings(server.url, request_tokens=6000))
        replies = [client.complete(wanted) for _ in range(3)]
    assert [reply.max_completion_tokens for reply in replies] == [sent] * 3
    assert [body["max_completion_tokens"] for body in server.bodies] == [sent] * 3


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/openai/v1", "/openai/v1/"])
def test_a_groq_base_url_may_end_in_the_path_that_the_sdk_adds(ending: str) -> None:
    with GroqServer([text("Hi.")]) as server:
        Client(settings(server.url + ending)).complete()
    assert server.requests[0].path == "/openai/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


def test_groq_base_url_is_read_from_the_environment_if_the_settings_name_none() -> None:
    with GroqServer([text("Hi.")]) as server:
        Client(settings(""), environ={**KEYS, "GROQ_BASE_URL": server.url}).complete()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("key_env", "environ", "authorization"),
    [
        (None, {"GROQ_API_KEY": CANARY}, None),
        ("OTHER_KEY", {"GROQ_API_KEY": "no", "OTHER_KEY": " sk-other\n"}, "Bearer sk-other"),
    ],
)
def test_an_openai_server_gets_a_key_only_if_it_has_one(
    key_env: str | None, environ: dict[str, str], authorization: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", CANARY)  # the SDK itself must not pick it up
    with GroqServer([calls(("read_file", {"path": "a"}))]) as server:
        client = Client(settings(server.openai_url + "/", api="openai", key_env=key_env), environ=environ)
        reply = client.complete(ask(tools=(READ_FILE,)))
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers.get("authorization") == authorization
    assert request.body["max_tokens"] == 3000
    assert "max_completion_tokens" not in request.body
    assert reply.tool_calls == (ToolCall(id="call_1", name="read_file", arguments={"path": "a"}),)


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with GroqServer([text("Hi.")]) as server:
        assert Client(settings(server.url)).complete().text == "Hi."
