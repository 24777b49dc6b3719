"""OpenAI's and Anthropic's services, through their own SDKs: what is sent, what comes back, how they fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Provider, Settings
from codur.errors import CodurError, ConfigError, LimitReached, ModelAnswerError, ModelUnavailable
from codur.llm.model import ChatRequest
from codur.types import Message, ToolCall, Usage
from tests.llm.kit import CANARY, KEYS, PRICED, READ_FILE, SCHEMA, Client, ask, settings
from tests.support.anthropic_server import CALL, TEXT, THOUGHT, AnthropicServer, failed, said
from tests.support.groq_server import GroqServer, Replies, ServerReply, calls, cut, error, hang_up, raw, text

ROOT = Path(__file__).resolve().parents[2]
APIS = ("groq", "openai", "anthropic")
HELLO = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
MARK = {"cache_control": {"type": "ephemeral"}}
TOOL = {"name": "read_file", "description": "Reads a file.", "input_schema": dict(READ_FILE.parameters)}


@contextmanager
def served(api: str, replies: Replies) -> Iterator[GroqServer]:
    with AnthropicServer(replies) if api == "anthropic" else GroqServer(replies) as server:
        yield server


def given(server: GroqServer, api: str, **values: Any) -> Settings:
    return settings(server.openai_url if api == "openai" else server.url, api=api, **values)


def anthropic(server: GroqServer, **values: Any) -> Client:
    return Client(settings(server.url, api="anthropic", **values))


def fine(api: str) -> ServerReply:
    return said(TEXT) if api == "anthropic" else text("Hello there.")


# --- what is sent -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "request_", "body"),
    [
        ({}, ask(), {}),
        ({"temperature": None}, ask(temperature=0.7), {"temperature": None}),
        ({}, ask(temperature=0.7), {"temperature": 0.7}),
        ({"seed": 7}, ask(), {}),
        ({"reasoning_effort": "low"}, ask(), {"output_config": {"effort": "low"}}),
        ({"max_completion_tokens": 99}, ask(), {"max_tokens": 99}),
        ({}, ask(schema=SCHEMA), {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        ({"json_mode": "object"}, ask(schema=SCHEMA), {}),
        ({}, ask(json_object=True), {}),
        ({}, ask(tools=(READ_FILE,)), {"tools": [TOOL | MARK], "tool_choice": {"type": "auto"}}),
        (
            {},
            ask(tools=(READ_FILE,), tool_choice="required"),
            {"tools": [TOOL | MARK], "tool_choice": {"type": "any"}},
        ),
        (
            {"forced_tools": False},
            ask(tools=(READ_FILE,), tool_choice="required"),
            {"tools": [TOOL | MARK], "tool_choice": {"type": "auto"}},
        ),
        ({}, ask(tools=(READ_FILE,), tool_choice="none"), {"tools": [TOOL | MARK], "tool_choice": {"type": "none"}}),
        ({"tool_calls": "json"}, ask(tools=(READ_FILE,)), {}),
        ({}, ask("a\udcffb"), {"messages": [{"role": "user", "content": [{"type": "text", "text": "a?b"}]}]}),
    ],
)
def test_the_body_of_a_message_follows_profile_and_request(
    profile: dict[str, Any], request_: ChatRequest, body: dict[str, Any]
) -> None:
    with AnthropicServer([said(TEXT)]) as server:
        anthropic(server, **profile).complete(request_)
    expected = {"model": "big", "messages": HELLO, "temperature": 0.2, "max_tokens": 3000, **body}
    assert server.bodies == [{name: value for name, value in expected.items() if value is not None}]


def conversation(*tools: Any) -> ChatRequest:
    two = (
        ToolCall(id="c:1", name="read_file", arguments={"path": "ä.py"}),
        ToolCall(id="c2", name="read_file", arguments={}),
    )
    return ChatRequest(
        purpose="test",
        messages=(
            Message(role="system", content="Be brief."),
            Message(role="system", content="Be exact."),
            Message(role="user", content="Read them."),
            Message(role="assistant", content=" ", tool_calls=two),
            Message(role="tool", content="x = 1", tool_call_id="c:1"),
            Message(role="tool", content="", tool_call_id="c2"),
            Message(role="user", content="Now answer."),
        ),
        tools=(READ_FILE,),
    )


def test_a_conversation_with_tools_is_sent_in_blocks() -> None:
    with AnthropicServer([said(TEXT)]) as server:
        anthropic(server).complete(conversation())
    body = server.bodies[0]
    assert body["system"] == [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be exact.", **MARK}]
    assert body["tools"] == [TOOL]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Read them."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c_1", "name": "read_file", "input": {"path": "ä.py"}},
                {"type": "tool_use", "id": "c2", "name": "read_file", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c_1", "content": "x = 1"},
                {"type": "tool_result", "tool_use_id": "c2", "content": ""},
                {"type": "text", "text": "Now answer.", **MARK},
            ],
        },
    ]


def test_a_model_without_native_calls_gets_them_as_text() -> None:
    with AnthropicServer([said(TEXT)]) as server:
        anthropic(server, tool_calls="json").complete(conversation())
    assert "tools" not in server.bodies[0]
    assert [turn["role"] for turn in server.bodies[0]["messages"]] == ["user", "assistant", "user"]
    assert '{"tool": "read_file", "args": {"path": "ä.py"}}' in server.bodies[0]["messages"][1]["content"][0]["text"]


def test_the_models_thoughts_go_back_with_the_results_as_they_came() -> None:
    hidden = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    first = said(THOUGHT, hidden, {"type": "text", "text": "Look."}, CALL, stop_reason="tool_use")
    with AnthropicServer([first, said(TEXT)]) as server:
        client = anthropic(server)
        reply = client.complete(ask(tools=(READ_FILE,)))
        messages = (
            Message(role="user", content="Hello"),
            Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls),
            Message(role="tool", content="x = 1", tool_call_id=reply.tool_calls[0].id),
        )
        client.complete(ChatRequest(purpose="test", messages=messages, tools=(READ_FILE,)))
    assert server.bodies[1]["messages"][1]["content"] == [THOUGHT, hidden, {"type": "text", "text": "Look."}, CALL]


def test_two_requests_of_a_conversation_begin_alike() -> None:
    with AnthropicServer([said(THOUGHT, CALL, stop_reason="tool_use"), said(TEXT)]) as server:
        client = anthropic(server)
        first = ask(tools=(READ_FILE,))
        reply = client.complete(first)
        more = (
            Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls),
            Message(role="tool", content="x = 1", tool_call_id=reply.tool_calls[0].id),
        )
        client.complete(ChatRequest(purpose="test", messages=(*first.messages, *more), tools=(READ_FILE,)))
    one, two = (json.dumps(body, sort_keys=False) for body in server.bodies)
    assert two.startswith(one[: one.index('], "temperature"')])


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_a_base_url_of_anthropic_may_end_in_the_path_that_the_sdk_adds(ending: str) -> None:
    with AnthropicServer([said(TEXT)]) as server:
        Client(settings(server.url + ending, api="anthropic")).complete()
    assert server.requests[0].path == "/v1/messages"
    assert server.requests[0].headers["anthropic-version"]
    assert CANARY in server.requests[0].headers.get("authorization", "") + server.requests[0].headers.get(
        "x-api-key", ""
    )


def test_anthropic_base_url_is_read_from_the_environment_if_the_settings_name_none() -> None:
    with AnthropicServer([said(TEXT)]) as server:
        Client(settings("", api="anthropic"), environ={**KEYS, "ANTHROPIC_BASE_URL": server.url}).complete()
    assert len(server.requests) == 1


@pytest.mark.parametrize(("api", "agent"), [("groq", "groq"), ("openai", "openai"), ("anthropic", "anthropic")])
def test_each_service_is_asked_through_its_own_sdk(api: str, agent: str) -> None:
    with served(api, [fine(api)]) as server:
        Client(given(server, api)).complete()
    assert server.requests[0].headers["user-agent"].lower().startswith(f"async{agent}/python")


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("key_env", ["GROQ_API_KEY", None])
def test_what_the_environment_holds_for_an_sdk_goes_to_no_other_service(
    api: str, key_env: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaks = {
        f"{name}_{what}": f"leak-{name}-{what}"
        for name in ("GROQ", "OPENAI", "ANTHROPIC")
        for what in ("API_KEY", "AUTH_TOKEN", "ADMIN_KEY", "ORG_ID", "PROJECT_ID")
    }
    leaks |= {f"{name}_CUSTOM_HEADERS": "X-Leak: leak\nAuthorization: leak" for name in ("GROQ", "OPENAI", "ANTHROPIC")}
    for name, value in leaks.items():
        monkeypatch.setenv(name, value)
    with served(api, [fine(api)]) as server:
        Client(given(server, api, key_env=key_env)).complete()
    sent = server.requests[0].headers
    assert "leak" not in json.dumps(dict(sent)).lower()
    assert not [name for name in sent if name.startswith("x-stainless")]
    assert (CANARY in json.dumps(dict(sent))) == (key_env is not None)


def test_a_provider_may_have_headers_of_its_own() -> None:
    with GroqServer([text("Hi.")]) as server:
        provider = Provider(
            base_url=server.openai_url,
            headers={"HTTP-Referer": "https://example.org", "X-Title": "Codur"},
            headers_env={"X-Gateway-Key": "GATEWAY"},
        )
        client = Client(settings(providers={"service": provider}), environ={"GATEWAY": "very-secret-1"})
        client.complete(ask("The gateway's key is very-secret-1."))
    request = server.requests[0]
    sent = [request.headers[name] for name in ("http-referer", "x-title", "x-gateway-key")]
    assert sent == ["https://example.org", "Codur", "very-secret-1"]
    assert "very-secret-1" not in json.dumps(request.body), "the redactor knows it"
    assert "very-secret-1" not in repr(client.pool) + repr(vars(client.pool._exchange.opened["main"]))


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        (Provider(base_url="http://h/v1", headers={"Api-Key": "0123456789abcdef"}), "headers.Api-Key"),
        (Provider(base_url="http://h/v1", headers={"Host": "elsewhere"}), "headers.Host"),
        (Provider(base_url="http://h/v1", headers={"A b": "c"}), "headers.A b"),
        (Provider(base_url="http://h/v1", headers={"A": "ä"}), "headers.A"),
        (Provider(base_url="http://h/v1", headers_env={"X-Key": "NOT_SET"}), "headers_env.X-Key"),
    ],
)
def test_a_header_that_cannot_be_sent_is_a_wrong_setting(provider: Provider, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Client(settings(providers={"service": provider})).complete()
    assert caught.value.key == f"providers.service.{key}"
    assert "0123456789abcdef" not in f"{caught.value} {caught.value.remedy}"


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ({}, "max_tokens"),
        ({"max_tokens_field": "max_completion_tokens"}, "max_completion_tokens"),
        ({"max_tokens_field": "max_tokens", "api": "groq"}, "max_tokens"),
        ({"api": "groq"}, "max_completion_tokens"),
    ],
)
def test_the_limit_of_an_answer_is_called_as_the_service_knows_it(provider: dict[str, Any], name: str) -> None:
    with GroqServer([text("Hi.")]) as server:
        url = server.url if provider.get("api") == "groq" else server.openai_url
        Client(settings(providers={"service": Provider(base_url=url, **provider)})).complete()
    assert [key for key in server.bodies[0] if "max" in key] == [name]


# --- what comes back --------------------------------------------------------------------------------------------------


def test_an_answer_with_calls_text_and_thoughts() -> None:
    with AnthropicServer([said(THOUGHT, TEXT, CALL, stop_reason="tool_use")]) as server:
        reply = anthropic(server, **PRICED | {"price_cache_write": 10.0}).complete(ask(tools=(READ_FILE,)))
    assert (reply.text, reply.finish_reason) == ("Hello there.", "tool_calls")
    assert reply.tool_calls == (ToolCall(id="toolu_1", name="read_file", arguments={"path": "a\n.py"}),)
    assert (reply.model, reply.profile) == ("claude-scripted", "main")
    assert reply.usage == Usage(calls=1, prompt_tokens=100, cached_tokens=30, completion_tokens=20, cost_usd=0.000215)


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause_turn"),
        (None, "stop"),
    ],
)
def test_why_an_answer_ended(stop_reason: str | None, finish: str) -> None:
    with AnthropicServer([said(TEXT, stop_reason=stop_reason)]) as server:
        assert anthropic(server).complete().finish_reason == finish


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (said(TEXT, stop_reason="refusal"), "a refusal"),
        (said(), "an empty answer"),
        (said(THOUGHT), "an empty answer"),
        (raw("not json"), "an answer that is not JSON"),
        (ServerReply(body={"type": "message"}), "an answer without any choice"),
        (ServerReply(body="[]"), "something that is not an answer"),
    ],
)
def test_an_answer_that_cannot_be_used(reply: ServerReply, words: str) -> None:
    with AnthropicServer([reply]) as server, pytest.raises(ModelAnswerError) as caught:
        anthropic(server).complete()
    assert words in caught.value.message
    assert caught.value.usage is not None
    assert caught.value.usage.calls == 1


def test_a_call_that_cannot_be_read_is_told() -> None:
    with AnthropicServer([said({**CALL, "input": ["a"]}, stop_reason="tool_use")]) as server:
        reply = anthropic(server).complete(ask(tools=(READ_FILE,)))
    assert (reply.tool_calls, reply.problem) == (
        (),
        "The arguments of read_file are not a JSON object (it is a list).",
    )


def test_structured_answers_come_as_text() -> None:
    with AnthropicServer([said({"type": "text", "text": '{"a": 1}'})]) as server:
        assert anthropic(server).complete(ask(schema=SCHEMA)).text == '{"a": 1}'


# --- how they fail ----------------------------------------------------------------------------------------------------

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    498: "flex_capacity",
    500: "api_error",
    529: "overloaded_error",
}
SAID = {
    400: "service (big) refused the request: status 400 (No).",
    401: "service refused the key in GROQ_API_KEY: status 401 (No).",
    403: "service does not allow this with the key in GROQ_API_KEY: status 403 (No).",
    404: "service has no model 'big' (No).",
    408: "service (big) is busy or out of order: status 408 (No).",
    413: "The request is too large for service (big) (No).",
    429: "The rate limit of service (big) is reached (No).",
    498: "service (big) is busy or out of order: status 498 (No).",
    500: "service (big) is busy or out of order: status 500 (No).",
    529: "service (big) is busy or out of order: status 529 (No).",
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", sorted(KINDS))
@pytest.mark.parametrize("stream", [True, False])
def test_an_error_means_the_same_whoever_tells_it(api: str, status: int, stream: bool) -> None:
    reply = failed(status, KINDS[status]) if api == "anthropic" else error(status, "No.", kind=KINDS[status])
    with served(api, [reply]) as server:
        client = Client(given(server, api, max_attempts=1), stream=stream)
        with pytest.raises(LimitReached if status == 429 else ModelUnavailable) as caught:
            client.complete()
    assert caught.value.message == SAID[status]
    assert len(server.requests) == 1
    assert client.usage == Usage()


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "first",
    [raw("<html>502 Bad Gateway</html>", status=502), raw("", status=529), cut(error(500)), hang_up()],
    ids=["page", "empty", "cut", "gone"],
)
def test_what_may_pass_is_sent_again(api: str, stream: bool, first: ServerReply) -> None:
    with served(api, [first, fine(api)]) as server:
        client = Client(given(server, api), stream=stream)
        assert client.complete().text == "Hello there."
    assert (client.waits, "html" in repr(client.events)) == ([0.5], False)


@pytest.mark.parametrize("api", APIS)
def test_the_service_says_how_long_to_wait(api: str) -> None:
    busy = failed(429, "rate_limit_error", **{"retry-after": "7"}) if api == "anthropic" else error(429, retry_after=7)
    with served(api, [busy, fine(api)]) as server:
        client = Client(given(server, api), chance=0.0)
        client.complete()
    assert client.waits == [7.0]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "reply", [raw("<html>Not found</html>", status=404), ServerReply(status=404, body={"detail": "Not Found"})]
)
def test_a_wrong_base_url_is_told_as_such(api: str, reply: ServerReply) -> None:
    with served(api, [reply]) as server:
        client = Client(given(server, api, fallback=["spare"]))
        with pytest.raises(ModelUnavailable) as caught:
            client.complete()
    assert caught.value.message.startswith(f"service has no such address below {server.url}: status 404")
    assert caught.value.remedy == "Correct providers.service.base_url."
    assert len(server.requests) == 1, "the other profile of the same provider is not asked"


def test_a_path_too_much_or_too_little_is_a_wrong_base_url() -> None:
    with GroqServer() as server:
        with pytest.raises(ModelUnavailable, match="has no such address"):
            Client(settings(server.url, api="openai")).complete()
        with pytest.raises(ModelUnavailable, match="has no such address"):
            Client(settings(server.url + "/api", api="anthropic")).complete()


def test_an_error_that_comes_with_status_200_is_what_it_says() -> None:
    with GroqServer([ServerReply(body={"error": {"message": "No.", "code": 503}}), text("Hi.")]) as server:
        client = Client(given(server, "openai"))
        assert client.complete().text == "Hi."
    assert client.waits == [0.5]


@pytest.mark.parametrize("api", APIS)
def test_the_key_is_in_no_error(api: str) -> None:
    told = f"Bad key {CANARY}"
    for status in (400, 401, 403, 500):
        reply = failed(status, KINDS[status], told) if api == "anthropic" else error(status, told)
        with served(api, lambda _, reply=reply: reply) as server:  # type: ignore[misc]
            client = Client(given(server, api, max_attempts=1))
            with pytest.raises(CodurError) as caught:
                client.complete()
        link: BaseException | None = caught.value
        while link is not None:
            assert isinstance(link, CodurError)
            link = link.__cause__ or link.__context__
        assert CANARY not in f"{caught.value} {caught.value.remedy} {client.events} {client.pool._exchange.opened}"


# --- packages that are not installed ----------------------------------------------------------------------------------

WITHOUT = """
import asyncio, json, sys
from codur.llm.request_failure import ServiceFailure
from codur.config.settings import Profile, Provider
from codur.llm.profiles.availability import installed
from tests.llm.kit import Client, ask, settings
api, url, spare = sys.argv[1:]
home = {"home": Provider(base_url=spare)} if spare else {}
mine = {"mine": Profile(provider="home", model="tiny")} if spare else {}
client = Client(settings(url, api=api, providers=home, profiles=mine, fallback=mine))
try:
    said = [client.complete().text]
except Exception as error:
    said = [error.message, error.remedy]
print(json.dumps([installed(api), client.pool.problem("main"), *said]))
"""


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all packages of this interpreter but the optional SDKs."""
    seen = tmp_path_factory.mktemp("packages")
    for place in [Path(entry) for entry in sys.path if entry.endswith("site-packages")]:
        for package in place.iterdir():
            name = package.name.partition("-")[0].lower()
            if name not in {"openai", "anthropic", "httpx2", "httpcore2"} and not (seen / package.name).exists():
                (seen / package.name).symlink_to(package)
    return seen


def without(packages: Path, api: str, url: str, spare: str = "") -> list[str]:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{packages}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", WITHOUT, api, url, spare],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_without_its_package_a_service_says_what_to_install(without_extras: Path) -> None:
    problem = "The package for provider service (api: anthropic) is not installed."
    install = 'Install it with `pip install "codur[anthropic]"`.'
    with AnthropicServer() as server:
        assert without(without_extras, "anthropic", server.url) == ["", problem, problem, install]
    assert server.requests == []


def test_without_its_package_the_openai_protocol_is_spoken_through_groqs(without_extras: Path) -> None:
    with GroqServer([text("Hi."), calls(("read_file", {}))]) as server:
        assert without(without_extras, "openai", server.openai_url) == ["groq", "", "Hi."]
    assert server.requests[0].headers["user-agent"].lower().startswith("asyncgroq/python")


def test_a_profile_without_its_package_is_passed_over(without_extras: Path) -> None:
    with AnthropicServer() as service, GroqServer([text("Hi.")]) as server:
        found = without(without_extras, "anthropic", service.url, server.openai_url)
    assert (found[0], found[2:]) == ("", ["Hi."])
