"""LiteLLM's proxy: with answers that it makes up itself, and in front of the services that are scripted here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.local_models import served_models
from codur.types import Message, ToolCall
from tests.llm.kit import READ_FILE, ask
from tests.real_servers.kit import ASKED_FOR, KEY, RealServer, client_of, free_port, once_there, running
from tests.support import anthropic_server as anthropic
from tests.support import chat_streams as chat
from tests.support.anthropic_server import AnthropicServer, failed, said
from tests.support.groq_server import GroqServer, ServerReply, calls, completion, error, text

pytestmark = ASKED_FOR
APIS = ("openai", "anthropic")
BOTH = pytest.mark.parametrize("api", APIS)
STREAMED = pytest.mark.parametrize("stream", [True, False])
TOOL = ask(tools=(READ_FILE,))
MADE_UP = {
    "words": "Hello there, reader.",
    "limited": "litellm.RateLimitError",
    "long": "litellm.ContextWindowExceededError",
    "broken": "litellm.InternalServerError",
}
SLOW = {
    "retry-after": "7",
    **{
        f"x-ratelimit-{what}-tokens": value for what, value in (("limit", "8000"), ("remaining", "70"), ("reset", "9s"))
    },
}


@dataclass
class Behind:
    """What the services behind the proxy answer next."""

    chat: ServerReply = field(default_factory=lambda: text("Hello."))
    claude: ServerReply = field(default_factory=lambda: said(anthropic.TEXT))


@pytest.fixture(scope="module")
def behind() -> Behind:
    return Behind()


@pytest.fixture(scope="module")
def proxy(behind: Behind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Models as in `MADE_UP`; `chat` and `claude` are scripted, the first in both protocols."""
    home, url = tmp_path_factory.mktemp("litellm"), f"http://127.0.0.1:{free_port()}"
    with GroqServer(lambda _: behind.chat) as first, AnthropicServer(lambda _: behind.claude) as second:
        deployed = {
            "chat": {"model": "hosted_vllm/chat", "api_base": first.openai_url},
            "claude": {"model": "anthropic/claude", "api_base": second.url},
            **{name: {"model": "openai/gpt-4o", "mock_response": made} for name, made in MADE_UP.items()},
        }
        models = [{"model_name": n, "litellm_params": {"api_key": "none", **given}} for n, given in deployed.items()]
        config = {
            "model_list": models,
            "general_settings": {"master_key": KEY},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
        (home / "config.yaml").write_text(json.dumps(config))
        words = ["-m", "litellm.proxy.proxy_cli", "--config", "config.yaml", "--host", "127.0.0.1"]
        there = once_there(url, "/health/liveliness")
        with running([*words, "--port", url.rpartition(":")[2]], home, there) as server:
            yield server


def asked(
    proxy: RealServer, api: str, model: str, request: ChatRequest | None = None, *, stream: bool = False
) -> ChatReply:
    return client_of(proxy.url, api, model=model, stream=stream).complete(request)


@BOTH
@STREAMED
def test_words_come_back(proxy: RealServer, behind: Behind, api: str, stream: bool) -> None:
    assert asked(proxy, api, "words", stream=stream).text == "Hello there, reader."
    behind.chat = chat.streamed(chat.words("Hello there.", api="openai")) if stream else text("Hello there.")
    reply = asked(proxy, api, "chat", stream=stream)
    assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("Hello there.", 100, 20)


@BOTH
@STREAMED
@pytest.mark.parametrize("model", ["chat", "claude"])
def test_calls_come_back(proxy: RealServer, behind: Behind, api: str, model: str, stream: bool) -> None:
    call = {"tool_calls": [{"index": 0, **chat.CALL}]}
    one, block = ("read_file", {"path": "a\n.py"}), anthropic.CALL
    behind.chat = calls(one)
    behind.claude = said(block, stop_reason="tool_use")
    if stream:
        behind.chat = chat.streamed(chat.stream([call], api="openai", finish_reason="tool_calls"))
        behind.claude = chat.streamed(anthropic.stream(block, stop_reason="tool_use"))
    reply = asked(proxy, api, model, TOOL, stream=stream)
    assert [(one.name, one.arguments) for one in reply.tool_calls] == [one]
    assert reply.tool_calls[0].id in {"call_1", "toolu_1"}


@BOTH
def test_results_go_on_to_the_service(proxy: RealServer, behind: Behind, api: str) -> None:
    call = ToolCall(id="call_1", name="read_file", arguments={"path": "a"})
    messages = (
        Message(role="user", content="Look."),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", tool_call_id="call_1", content="x = 1"),
    )
    behind.chat = text("It is one.")
    assert (
        asked(proxy, api, "chat", ChatRequest(messages=messages, purpose="test", tools=(READ_FILE,))).text
        == "It is one."
    )


@BOTH
@STREAMED
def test_refusals_are_understood(proxy: RealServer, api: str, stream: bool) -> None:
    with pytest.raises(LimitReached, match="The rate limit of service"):
        asked(proxy, api, "limited", stream=stream)
    with pytest.raises(ModelUnavailable, match="context window exceeded"):
        asked(proxy, api, "long", stream=stream)
    with pytest.raises(ModelUnavailable, match="is busy or out of order: status 500"):
        asked(proxy, api, "broken", stream=stream)
    with pytest.raises(ModelUnavailable, match="service has no model 'nosuch'"):
        asked(proxy, api, "nosuch", stream=stream)


@BOTH
def test_a_wrong_key_or_address_is_told_as_such(proxy: RealServer, api: str) -> None:
    with pytest.raises(ModelUnavailable, match="service refused the key in GROQ_API_KEY"):
        client_of(proxy.url, api, model="words", key="sk-wrong").complete()
    with pytest.raises(ModelUnavailable, match="has no such address below"):
        client_of(f"{proxy.url}/nowhere", api, model="words").complete()


def test_limits_and_waits_of_the_service_behind_it_are_kept_to(proxy: RealServer, behind: Behind) -> None:
    behind.chat = ServerReply(headers=SLOW, body=completion({"content": "Hello."}))
    (quota,) = asked(proxy, "openai", "chat").limits
    assert (quota.unit, quota.limit, quota.remaining, quota.reset_s) == ("tokens", 8000.0, 70.0, 9.0)
    behind.chat = error(429, "Slow down.", headers=SLOW)
    client = client_of(proxy.url, "openai", model="chat", max_attempts=2)
    with pytest.raises(LimitReached):
        client.complete()
    assert sum(client.waits) >= 7


@BOTH
def test_a_key_that_the_service_behind_it_refuses(proxy: RealServer, behind: Behind, api: str) -> None:
    behind.claude = failed(401, "authentication_error", "Bad key")
    with pytest.raises(ModelUnavailable, match=r"status 401 .*Bad key"):
        asked(proxy, api, "claude")


def test_a_stream_that_breaks_behind_it(proxy: RealServer, behind: Behind) -> None:
    whole = anthropic.stream(anthropic.TEXT)
    behind.claude = chat.streamed(whole, cut_at=len(whole) // 2)
    with pytest.raises(ModelUnavailable, match="broke off"):
        asked(proxy, "anthropic", "claude", stream=True)
    late = chat.event(anthropic.error_body("overloaded_error"), "error")
    behind.claude = chat.streamed(whole.partition("event: message_delta")[0] + late)
    with pytest.raises(ModelUnavailable, match="is busy or out of order"):
        asked(proxy, "anthropic", "claude", stream=True)
    behind.chat = chat.streamed("")
    with pytest.raises(ModelAnswerError, match="an empty answer"):
        asked(proxy, "openai", "chat", stream=True)


def test_a_proxy_takes_a_stream_of_the_chat_protocol_that_breaks_for_whole(proxy: RealServer, behind: Behind) -> None:
    """Nothing in its answer tells; it is here so that a version that tells is noticed."""
    whole = chat.words("Hello there, you.", api="openai")
    behind.chat = chat.streamed(whole, cut_at=len(whole) // 2)
    reply = asked(proxy, "openai", "chat", stream=True)
    assert "Hello there, you.".startswith(reply.text)
    assert reply.finish_reason == "stop"


def test_without_its_key_it_lists_no_models(proxy: RealServer) -> None:
    assert served_models(f"{proxy.url}/v1") is None
