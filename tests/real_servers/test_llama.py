"""llama.cpp's own server with a tiny model, spoken to in both of the protocols that it knows."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Provider
from codur.errors import ModelUnavailable
from codur.events import AnswerDelta, Event
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.auto import server_problem
from codur.llm.profiles.endpoint import endpoint_of
from codur.llm.profiles.local_models import served_models
from codur.llm.request_failure import ServiceFailure
from codur.llm.services.service_model import ServiceModel
from codur.parsing.json_text import parse_json_object
from codur.types import Message, ToolCall
from tests.llm.kit import READ_FILE, SCHEMA, ask
from tests.real_servers.kit import ASKED_FOR, KEY, PROGRAM, RealServer, client_of, running, said_address

pytestmark = ASKED_FOR
APIS = ("openai", "anthropic")
BOTH = pytest.mark.parametrize("api", APIS)
STREAMED = pytest.mark.parametrize("stream", [True, False])
WINDOW = 8192


@pytest.fixture(scope="module")
def llama(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Two requests at a time, with a window of `WINDOW` tokens each."""
    words = [str(PROGRAM), str(model), "serve", str(2 * WINDOW), "2", KEY]
    with running(words, tmp_path_factory.mktemp("llama"), said_address) as server:
        yield server


@pytest.fixture
def endless(endless_model: Path, tmp_path: Path) -> Iterator[RealServer]:
    """One request at a time, whose answer does not end before its bound."""
    with running([str(PROGRAM), str(endless_model), "serve", "65536", "1"], tmp_path, said_address) as server:
        yield server


def asked(server: RealServer, api: str, request: ChatRequest, *, stream: bool = False, **values: Any) -> ChatReply:
    return client_of(server.url, api, model="tiny", stream=stream, **values).complete(request)


def refused(server: RealServer, api: str, request: ChatRequest | None = None, **values: Any) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        client_of(server.url, api, **{"model": "tiny", **values}).complete(request)
    return caught.value


@BOTH
@STREAMED
def test_a_tool_is_called(llama: RealServer, api: str, stream: bool) -> None:
    request = ask(tools=(READ_FILE,), tool_choice="required", max_completion_tokens=2000)
    reply = asked(llama, api, request, stream=stream)
    assert {(call.name, *call.arguments) for call in reply.tool_calls} == {("read_file", "path")}
    assert (reply.finish_reason, reply.problem, reply.model) == ("tool_calls", "", "tiny")
    assert reply.usage.prompt_tokens > 100, "the model counts a token for nearly every letter"


@BOTH
@STREAMED
def test_a_conversation_with_results_is_taken(llama: RealServer, api: str, stream: bool) -> None:
    call = ToolCall(id="call_1", name="read_file", arguments={"path": "a.py"})
    messages = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="What is in a.py?"),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", tool_call_id="call_1", content="x = 1"),
        Message(role="user", content="Go on."),
    )
    request = ChatRequest(messages=messages, purpose="test", tools=(READ_FILE,), max_completion_tokens=50)
    reply = asked(llama, api, request, stream=stream)
    assert reply.usage.calls == 1


@BOTH
@STREAMED
def test_an_answer_that_is_cut_off_says_so(llama: RealServer, api: str, stream: bool) -> None:
    reply = asked(llama, api, ask(max_completion_tokens=5), stream=stream)
    assert (reply.finish_reason, reply.usage.completion_tokens) == ("length", 5)
    assert reply.problem == "The answer was cut off after 5 tokens. Answer more briefly."


def test_words_are_shown_as_they_come(llama: RealServer) -> None:
    for api in APIS:
        client = client_of(llama.url, api, model="tiny", stream=True)
        reply = client.complete(ask(max_completion_tokens=40))
        assert "answer_delta" in client.told()
        assert client.shown().strip() == reply.text.strip()


def test_what_was_counted_before_comes_from_the_cache(llama: RealServer) -> None:
    for api in APIS:
        first, second = (asked(llama, api, ask(f"Hello {api}", max_completion_tokens=5)) for _ in range(2))
        assert first.usage.prompt_tokens == second.usage.prompt_tokens
        assert second.usage.cached_tokens > first.usage.prompt_tokens / 2


def test_an_answer_has_the_form_that_is_asked_for(llama: RealServer) -> None:
    strict = asked(llama, "openai", ask(schema=SCHEMA, max_completion_tokens=2000))
    assert isinstance((parse_json_object(strict.text) or {}).get("a"), int)
    loose = asked(llama, "openai", ask(json_object=True, max_completion_tokens=2000), json_mode="object")
    assert parse_json_object(loose.text) is not None


@BOTH
@STREAMED
def test_a_prompt_beyond_the_window_is_refused_with_the_figures(llama: RealServer, api: str, stream: bool) -> None:
    client = client_of(llama.url, api, model="tiny", stream=stream)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=f"service .tiny. takes {WINDOW:,} at a time"):
            client.complete(ask("word " * 4000))
    assert client.told() == ["model_called"], "the second is not sent"


@BOTH
def test_a_wrong_key_or_address_is_told_as_such(llama: RealServer, api: str) -> None:
    assert refused(llama, api, key="sk-wrong").remedy == "Set GROQ_API_KEY to a valid key."
    assert "wants a key: status 401 (Invalid API Key)" in refused(llama, api, key="", key_env=None).message
    elsewhere = RealServer(f"{llama.url}/nowhere", llama.process)
    assert "has no such address below" in refused(elsewhere, api).message


def test_the_model_that_is_loaded_answers_whatever_is_asked_for(llama: RealServer) -> None:
    reply = client_of(llama.url, "openai", model="other").complete(ask(max_completion_tokens=5))
    assert reply.model == "tiny"


def test_its_models_are_listed(endless: RealServer) -> None:
    url = f"{endless.url}/v1"
    assert served_models(url) == ("tiny",)
    known, other = (client_of(endless.url, "openai", model=name, key_env=None).settings for name in ("tiny", "other"))
    assert server_problem(known, "main") == ("", "")
    assert "does not have other" in server_problem(other, "main")[0]


def test_requests_beyond_its_slots_wait_for_their_turn(llama: RealServer) -> None:
    client = client_of(llama.url, "openai", model="tiny")

    async def all_at_once() -> list[ChatReply]:
        try:
            asking = (client.pool.complete("main", ask(f"{n}", max_completion_tokens=30)) for n in range(6))
            return await asyncio.gather(*asking)
        finally:
            await client.pool.close()

    assert [reply.usage.calls for reply in asyncio.run(all_at_once())] == [1] * 6


def first_word(server: RealServer, api: str, then: Callable[[], None], **values: Any) -> ServiceFailure:
    """How a long streamed answer fails if `then` is called at its first word."""
    client = client_of(server.url, api, model="tiny", key_env=None, max_completion_tokens=60_000, **values)
    provider: Provider = client.settings.providers["service"]
    shown: list[Event] = []

    def show(request: ChatRequest, words: str) -> None:
        if not shown:
            then()
        shown.append(AnswerDelta(profile="main", purpose=request.purpose, text=words))

    async def run() -> ServiceFailure:
        profile = client.settings.llm.profiles["main"]
        service = ServiceModel("main", profile, endpoint_of("service", provider, {}), show=show)
        try:
            with pytest.raises(ServiceFailure) as caught:
                await service.complete(ask())
        finally:
            await service.close()
        return caught.value

    failure = asyncio.run(run())
    assert shown
    return failure


@BOTH
def test_a_server_that_ends_in_the_middle_of_an_answer(endless: RealServer, api: str) -> None:
    failure = first_word(endless, api, endless.process.kill)
    assert failure.kind == "broken"
    assert failure.usage is not None
    assert failure.usage.completion_tokens > 0
    endless.process.wait()
    assert "No server answers" in refused(endless, api).message


@BOTH
def test_a_server_that_stands_still_in_the_middle_of_an_answer(endless: RealServer, api: str) -> None:
    def stop() -> None:
        os.kill(endless.process.pid, signal.SIGSTOP)

    failure = first_word(endless, api, stop, timeout_s=2.0)
    assert failure.kind == "timeout"
    assert failure.usage is not None
    assert failure.usage.completion_tokens > 0
    assert "did not answer within 2 s" in refused(endless, api, timeout_s=2.0).message
    os.kill(endless.process.pid, signal.SIGCONT)
    assert asked(endless, api, ask(max_completion_tokens=5), timeout_s=120.0).finish_reason == "length"
