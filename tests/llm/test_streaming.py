"""Streamed answers: shown while they come, and taken only when they are whole. Real SDKs, a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import Profile
from codur.errors import CodurError, LimitReached, ModelAnswerError, ModelError, ModelUnavailable
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.request_failure import ServiceFailure
from codur.llm.services.service_model import ServiceModel
from codur.types import ToolCall, Usage
from tests.llm.kit import CANARY, PRICED, READ_FILE, SCHEMA, Client, ask, settings
from tests.support import anthropic_server as anthropic
from tests.support import chat_streams as chat
from tests.support.anthropic_server import AnthropicServer
from tests.support.groq_server import GroqServer, Replies, ServerReply, error, hang_up, hold, raw, text

APIS = ("groq", "openai", "anthropic")
TOOLS = ask(tools=(READ_FILE,))
HELLO = "Hello there, you."


def words(api: str, said: str = HELLO) -> str:
    if api == "anthropic":
        return anthropic.stream({"type": "text", "text": said})
    return chat.words(said, api=api)


def called(api: str, said: str = "Look.") -> str:
    if api == "anthropic":
        return anthropic.stream({"type": "text", "text": said}, anthropic.CALL, stop_reason="tool_use")
    deltas: list[dict[str, Any]] = [{"content": said}, {"tool_calls": [{"index": 0, **chat.CALL}]}]
    return chat.stream(deltas, finish_reason="tool_calls", api=api)


@contextmanager
def served(api: str, replies: Replies) -> Iterator[GroqServer]:
    with AnthropicServer(replies) if api == "anthropic" else GroqServer(replies) as server:
        yield server


def url_of(server: GroqServer, api: str) -> str:
    return server.openai_url if api == "openai" else server.url


def client_of(server: GroqServer, api: str, **values: Any) -> Client:
    return Client(settings(url_of(server, api), api=api, **values), stream=True)


@pytest.mark.parametrize("pieces", [1, 7, 100_000])
@pytest.mark.parametrize("api", APIS)
def test_words_are_shown_as_they_come_and_the_answer_is_the_whole(api: str, pieces: int) -> None:
    with served(api, [chat.streamed(words(api), pieces=pieces)]) as server:
        client = client_of(server, api)
        reply = client.complete()
    assert (reply.text, reply.finish_reason, reply.tool_calls) == (HELLO, "stop", ())
    assert client.shown() == HELLO
    assert client.told().count("answer_delta") > 1
    assert server.bodies[0]["stream"] is True
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 100, 20)
    assert client.told()[-1] == "model_answered"


def test_the_usage_is_asked_for_and_counted() -> None:
    cached = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}
    for api in ("groq", "openai"):
        with served(api, [chat.streamed(chat.words(HELLO, api=api, usage=cached))]) as server:
            usage = client_of(server, api).complete().usage
        assert (usage.cached_tokens, usage.cost_usd) == (40, 0.00012)
        assert ("stream_options" in server.bodies[0]) == (api == "openai")
    with served("anthropic", [chat.streamed(words("anthropic"))]) as server:
        priced = {**PRICED, "price_cache_write": 10.0}
        usage = client_of(server, "anthropic", **priced).complete().usage
    assert usage == Usage(calls=1, prompt_tokens=100, cached_tokens=30, completion_tokens=20, cost_usd=0.000215)


def test_without_usage_it_is_estimated() -> None:
    with served("openai", [chat.streamed(chat.words(HELLO, api="openai", usage=None))]) as server:
        usage = client_of(server, "openai").complete().usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 6, 5)


@pytest.mark.parametrize("api", APIS)
def test_a_tool_call_comes_out_as_it_would_in_one_piece(api: str) -> None:
    with served(api, [chat.streamed(called(api))]) as server:
        client = client_of(server, api)
        reply = client.complete(TOOLS)
    own = "toolu_1" if api == "anthropic" else "call_1"
    assert reply.tool_calls == (ToolCall(id=own, name="read_file", arguments={"path": "a\n.py"}),)
    assert (reply.text, reply.finish_reason, reply.problem) == ("Look.", "tool_calls", "")
    assert client.shown() == "Look."


@pytest.mark.parametrize("api", ["groq", "openai"])
def test_a_tool_call_may_be_split_anywhere(api: str) -> None:
    every = list(chat.splits())
    streams = [chat.streamed(chat.stream(deltas, finish_reason="tool_calls", api=api)) for deltas in every]
    replies = answers(api, streams, TOOLS)
    wanted = (ToolCall(id="call_1", name="read_file", arguments={"path": "a\n.py"}),)
    assert len(every) == 29
    assert [reply.tool_calls if isinstance(reply, ChatReply) else reply for reply in replies] == [wanted] * 29


def test_a_tool_call_of_anthropic_may_be_split_anywhere() -> None:
    sizes = range(1, len(json.dumps(anthropic.CALL["input"])) + 1)
    streams = [
        chat.streamed(anthropic.stream(anthropic.THOUGHT, anthropic.CALL, stop_reason="tool_use", sizes=size))
        for size in sizes
    ]
    wanted = (ToolCall(id="toolu_1", name="read_file", arguments={"path": "a\n.py"}),)
    replies = answers("anthropic", streams, TOOLS)
    assert [reply.tool_calls if isinstance(reply, ChatReply) else reply for reply in replies] == [wanted] * len(sizes)


@pytest.mark.parametrize(
    "deltas",
    [
        [  # both at once, and each in turn
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"path"'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": '{"path"'}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ': "x"}'}}]},
            {"tool_calls": [{"index": 1, "function": {"arguments": ': "y"}'}}]},
        ],
        [  # every call with the index 0
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"path": "x"}'}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "read_file", "arguments": '{"path": "y"}'}}]},
        ],
        [  # another id with every piece of a call, and its name again
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"path"'}}]},
            {"tool_calls": [{"index": 0, "id": "a2", "function": {"arguments": ': "x"}'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": '{"path"'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": ': "y"}'}}]},
        ],
    ],
)
def test_several_calls_are_told_apart(deltas: list[dict[str, Any]]) -> None:
    (reply,) = answers("openai", [chat.streamed(chat.stream(deltas, finish_reason="tool_calls", api="openai"))], TOOLS)
    assert isinstance(reply, ChatReply)
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [("a", {"path": "x"}), ("b", {"path": "y"})]


# --- streams that end early -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_ends_early_is_never_an_answer_wherever_it_is_cut(api: str, sized: bool) -> None:
    whole = called(api, "ä").encode()
    end = whole.rstrip(b"\n")
    cuts = range(1, len(end) + 1, 7 if sized else 1)
    replies = [chat.streamed(whole, cut_at=at, sized=sized, pieces=None) for at in cuts]
    outcomes = answers(api, replies, TOOLS)
    kinds = {outcome.kind if isinstance(outcome, ServiceFailure) else repr(outcome) for outcome in outcomes}
    assert kinds == {"broken"}
    assert "usage=Usage(calls=1" not in repr(outcomes[0])
    assert outcomes[-1].usage.calls == 1, "what came of an answer is counted"  # type: ignore[union-attr]
    (complete,) = answers(api, [chat.streamed(whole, sized=sized)], TOOLS)
    assert isinstance(complete, ChatReply)
    assert len(complete.tool_calls) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_stop_is_no_failure_of_the_service_whatever_the_sdk_makes_of_it(api: str) -> None:
    def stopped(_request: ChatRequest, _words: str) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as stop:
            raise TimeoutError("what closed the connection failed") from stop

    with served(api, [chat.streamed(words(api))]) as server, pytest.raises(KeyboardInterrupt):
        asyncio.run(model_of(server, api, stopped).complete(ask()))


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_broke_off_is_asked_for_again(api: str) -> None:
    broken = chat.streamed(words(api), cut_at=len(words(api)) // 2)
    with served(api, [broken, chat.streamed(words(api))]) as server:
        client = client_of(server, api)
        reply = client.complete()
    assert (reply.text, reply.usage.retries, client.waits) == (HELLO, 1, [0.5])
    assert client.shown().endswith(HELLO)
    assert [kind for kind in client.told() if kind != "answer_delta"] == [
        "model_called",
        "model_answered",
        "model_waiting",
        "model_called",
        "model_answered",
    ]


@pytest.mark.parametrize("api", APIS)
def test_after_a_stream_without_a_word_the_answer_is_asked_for_in_one_piece(api: str) -> None:
    with served(api, [chat.streamed(""), hang_up(), error(400, "That is too much.")]) as server:
        client = client_of(server, api)
        with pytest.raises(ModelUnavailable, match="That is too much"):
            client.complete()
    assert [body.get("stream", False) for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize("api", APIS)
def test_in_the_end_a_broken_stream_is_told_with_what_to_do(api: str) -> None:
    with served(api, lambda _: chat.streamed(words(api), cut_at=40)) as server:
        client = client_of(server, api, max_attempts=2)
        with pytest.raises(ModelUnavailable, match=r"^The answer of service \(big\) broke off") as caught:
            client.complete()
    assert caught.value.remedy == "Try again, or switch streaming off with CODUR_LLM__STREAM=false."
    assert client.pool.available(), "the next answer may be whole"


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_stops_without_ending_is_a_timeout(api: str) -> None:
    stuck = chat.streamed(words(api), cut_at=len(words(api)) // 2, stays_open=True)
    with served(api, [stuck]) as server:
        client = client_of(server, api, timeout_s=0.3, max_attempts=1)
        with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
            client.complete()
        server.release()


def test_signs_of_life_alone_do_not_keep_a_stream_alive() -> None:
    comments = chat.streamed(": still working\n\n" * 200, pieces=17, stays_open=True)
    pings = chat.streamed(chat.event({"type": "ping"}, "ping") * 200, pieces=17, stays_open=True)
    for api, reply in (("openai", comments), ("anthropic", pings)):
        with served(api, [reply]) as server:
            with pytest.raises(ModelUnavailable, match="did not answer within"):
                client_of(server, api, timeout_s=0.3, max_attempts=1).complete()
            server.release()


@pytest.mark.parametrize("api", APIS)
def test_a_server_that_leaves_the_connection_open_after_the_end_is_not_waited_for(api: str) -> None:
    with served(api, [chat.streamed(words(api), stays_open=True)]) as server:
        assert client_of(server, api, max_attempts=1).complete().text == HELLO
        server.release()


def test_a_stream_ends_with_the_run() -> None:
    stuck = chat.streamed(words("groq"), cut_at=60, stays_open=True)
    with served("groq", [stuck]) as server:
        client = Client(settings(server.url), stream=True, time_left=lambda: 0.2)
        with pytest.raises(LimitReached):
            client.complete()
        server.release()


@pytest.mark.parametrize("api", APIS)
def test_a_stream_without_end_is_cut_at_the_bound(api: str) -> None:
    filler = {"type": "ping", "x": "y" * 1_000_000} if api == "anthropic" else chat.chunk({"x": "y" * 1_000_000})
    (outcome,) = answers(api, [chat.streamed(chat.event(filler) * 22, pieces=None)])
    assert isinstance(outcome, ModelAnswerError)
    assert "an answer of more than 20 MiB" in outcome.message


# --- errors within a stream -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "told", "kind"),
    [
        ("groq", {"error": {"message": "No.", "type": "internal_server_error"}}, "service"),
        ("groq", {"error": {"message": "No.", "type": "tokens", "code": "rate_limit_exceeded"}}, "rate_limit"),
        ("groq", {"error": {"message": "No.", "type": "invalid_request_error"}}, "request"),
        ("groq", {"error": "No."}, "service"),
        ("openai", {"error": {"message": "No.", "code": 429}}, "rate_limit"),
        ("openai", {"error": {"message": "No.", "code": 502}, "choices": [{"finish_reason": "error"}]}, "service"),
        ("openai", {"error": {"message": "No.", "code": "insufficient_quota"}}, "quota"),
        ("openai", {"error": {"message": "No.", "code": 401}}, "key"),
        ("openai", {"error": {"message": "No.", "code": 404}}, "model"),
        ("openai", {"error": {"message": "No.", "code": True}}, "service"),
        ("anthropic", anthropic.error_body("overloaded_error"), "service"),
        ("anthropic", anthropic.error_body("rate_limit_error"), "rate_limit"),
        ("anthropic", anthropic.error_body("api_error"), "service"),
        ("anthropic", anthropic.error_body("invalid_request_error"), "request"),
        ("anthropic", anthropic.error_body("authentication_error"), "key"),
        ("anthropic", anthropic.error_body("billing_error"), "quota"),
        ("anthropic", anthropic.error_body("request_too_large"), "too_large"),
        ("anthropic", anthropic.error_body("new_kind_of_error"), "service"),
    ],
)
@pytest.mark.parametrize("begun", [True, False])
def test_an_error_within_a_stream_is_what_its_status_would_be(
    api: str, told: dict[str, Any], kind: str, begun: bool
) -> None:
    before = words(api)[: words(api).index("\n\n", len(words(api)) // 2) + 2] if begun else ""
    (failure,) = answers(api, [chat.streamed(before + chat.event(told, "error"))])
    assert isinstance(failure, ServiceFailure)
    assert (failure.kind, "(No)" in failure.message or "No" not in str(told)) == (kind, True)


def test_a_generation_that_failed_within_a_stream_is_read_all_the_same() -> None:
    generated = '<function=read_file>{"path": "a.py"}</function>'
    told = {"error": {"message": "Failed.", "code": "tool_use_failed", "failed_generation": generated}}
    (reply,) = answers("groq", [chat.streamed(chat.event(told, "error"))], TOOLS)
    assert isinstance(reply, ChatReply)
    assert [call.arguments for call in reply.tool_calls] == [{"path": "a.py"}]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("bad", ["not json", "[]", '"text"', "{" * 5000, '{"type": "content_block_delta"}'])
def test_events_that_cannot_be_read_are_no_answer(api: str, bad: str) -> None:
    (outcome,) = answers(api, [chat.streamed(chat.event(bad) + words(api))])
    if api == "anthropic" or not bad.startswith('{"type"'):
        assert isinstance(outcome, ModelAnswerError)
        assert "a stream that is not of its protocol" in outcome.message
    else:
        assert isinstance(outcome, ChatReply), "a field that is not known does no harm"


@pytest.mark.parametrize("api", APIS)
def test_an_answer_in_one_piece_where_a_stream_was_asked_for_is_taken(api: str) -> None:
    whole = anthropic.said(anthropic.TEXT) if api == "anthropic" else text("Hello there.")
    (reply,) = answers(api, [whole])
    assert isinstance(reply, ChatReply)
    assert reply.text == "Hello there."
    (page,) = answers(api, [raw("<html>Welcome</html>")])
    assert isinstance(page, ServiceFailure)  # nobody there speaks the protocol: it is not asked again
    assert (page.kind, "a web page instead of an answer" in page.message) == ("address", True)


def test_a_cut_off_answer_says_so() -> None:
    for api, stream in (
        ("groq", chat.words("Half", finish_reason="length")),
        ("anthropic", anthropic.stream({"type": "text", "text": "Half"}, stop_reason="max_tokens")),
    ):
        (reply,) = answers(api, [chat.streamed(stream)])
        assert isinstance(reply, ChatReply)
        assert (reply.text, reply.finish_reason) == ("Half", "length")


# --- what is shown ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>secret thoughts</think>\nThe answer.", "The answer."),
        ('{"tool": "x", "args": {}}', ""),
        ('```json\n{"a": 1}\n```', ""),
        ("<b>bold</b> words", "<b>bold</b> words"),
        ("One\nword", "One\nword"),
        ("x" * 5000, "x" * 5000),
    ],
)
def test_only_words_for_people_are_shown(said: str, shown: str) -> None:
    with served("groq", [chat.streamed(chat.stream([{"content": piece} for piece in said]))]) as server:
        client = client_of(server, "groq")
        client.complete()
    assert client.shown() == shown


def test_a_secret_in_pieces_is_shown_whole_so_that_it_is_found() -> None:
    with served("groq", [chat.streamed(chat.stream([{"content": piece} for piece in f"a {CANARY} b"]))]) as server:
        client = client_of(server, "groq")
        client.complete()
    pieces = [getattr(event, "text", "") for event in client.events]
    assert f"{CANARY} " in pieces


@pytest.mark.parametrize(
    "request_",
    [ask(schema=SCHEMA), ask(json_object=True), ask(tools=(READ_FILE,), tool_choice="required")],
    ids=["schema", "object", "calls"],
)
def test_what_is_not_for_people_is_asked_for_in_one_piece(request_: ChatRequest) -> None:
    with served("groq", [text('{"a": 1}')]) as server:
        client_of(server, "groq").complete(request_)
    assert "stream" not in server.bodies[0]


def test_the_setting_switches_it_off() -> None:
    with served("groq", [text("Hello.")]) as server:
        given = settings(server.url)
        client = Client(structs.replace(given, llm=structs.replace(given.llm, stream=False)), stream=True)
        assert client.complete().text == "Hello."
    assert ("stream" in server.bodies[0], client.shown()) == (False, "")


@pytest.mark.parametrize("api", APIS)
def test_a_key_is_in_no_error_of_a_stream(api: str) -> None:
    told = {"type": "error", "error": {"message": f"Bad {CANARY}", "type": "authentication_error"}}
    for reply in (chat.streamed(chat.event(told, "error")), chat.streamed(words(api), cut_at=30)):
        with served(api, [reply]) as server:
            client = client_of(server, api, max_attempts=1)
            with pytest.raises(CodurError) as caught:
                client.complete()
        link: BaseException | None = caught.value
        while link is not None:
            assert isinstance(link, CodurError)
            assert CANARY not in f"{link} {link!r} {getattr(link, 'remedy', '')}"
            link = link.__cause__ or link.__context__


def test_a_run_that_is_stopped_closes_the_stream() -> None:
    with served("groq", [hold(chat.streamed(words("groq"))), text("Hello.")]) as server:
        model = model_of(server, "groq")

        async def stopped() -> str:
            waiting = asyncio.create_task(model.complete(ask()))
            await asyncio.to_thread(server.holding.wait)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            server.release()
            reply = await model.complete(ask())
            await model.close()
            return reply.text

        assert asyncio.run(stopped()) == "Hello."


def model_of(
    server: GroqServer, api: str, show: Callable[[ChatRequest, str], None] = lambda _request, _words: None
) -> ServiceModel:
    endpoint = Endpoint(provider="service", api=api, base_url=url_of(server, api), timeout_s=20.0, key=CANARY)
    profile = Profile(provider="service", model="big", **PRICED)
    return ServiceModel("main", profile, endpoint, show=show)


def answers(api: str, replies: list[ServerReply], request: ChatRequest = TOOLS) -> list[ChatReply | ModelError]:
    """What a model makes of each of the replies, asked in turn."""

    async def all_of(model: ServiceModel) -> list[ChatReply | ModelError]:
        outcomes: list[ChatReply | ModelError] = []
        for _ in replies:
            try:
                outcomes.append(await model.complete(request))
            except ModelError as error:
                outcomes.append(error)
        await model.close()
        return outcomes

    with served(api, replies) as server:
        return asyncio.run(all_of(model_of(server, api)))
