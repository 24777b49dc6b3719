"""Servers that speak the protocols in their own way: what they say in it is understood all the same."""

from __future__ import annotations

import pytest

from codur.errors import LimitReached, ModelUnavailable
from codur.llm.model import Quota
from codur.types import ToolCall
from tests.llm.kit import READ_FILE, Client, ask, settings
from tests.support.anthropic_server import TEXT, AnthropicServer, failed, said
from tests.support.chat_streams import chunk, event, streamed
from tests.support.groq_server import GroqServer, ServerReply, completion, text
from tests.support.other_servers import (
    LITELLM_LIMITS,
    litellm_error,
    litellm_error_body,
    litellm_stream,
    llama_call,
    llama_error,
    llama_python_cut_call,
)

KEY = "Set GROQ_API_KEY to a valid key."
MODEL = "Correct llm.profiles.main.model, or choose another profile."
ADDRESS = "Correct providers.service.base_url."
FORMAT = "Set llm.profiles.main.json_mode to object, or to text."
NO_SCHEMA = (
    "1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
)
LITELLM_MODEL = "/chat/completions: Invalid model name passed in model=big. Call `/v1/models` to view available models."


def client_of(server: GroqServer, *, stream: bool = False, **values: object) -> Client:
    return Client(settings(server.openai_url, api="openai", **values), stream=stream)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "words", "remedy"),
    [
        (litellm_error(400, "no_db_connection", "No connected db."), "service refused the key in GROQ_API_KEY", KEY),
        (litellm_error(400, "invalid_request_error", LITELLM_MODEL), "service has no model 'big'", MODEL),
        (llama_error(404, "not_found_error", "File Not Found"), "service has no such address below", ADDRESS),
        (llama_error(401, "authentication_error", "Invalid API Key"), "service refused the key in GROQ_API_KEY", KEY),
        (ServerReply(status=401, body={"detail": "Invalid API key"}), r"status 401 \(Invalid API key\)", KEY),
        (ServerReply(status=500, body={"error": {"message": NO_SCHEMA}}), "refused the request: status 500", FORMAT),
    ],
    ids=["litellm-key", "litellm-model", "llama-path", "llama-key", "python-key", "python-schema"],
)
def test_what_is_wrong_is_told_with_what_to_do(reply: ServerReply, words: str, remedy: str) -> None:
    with GroqServer([reply]) as server, pytest.raises(ModelUnavailable, match=words) as caught:
        client_of(server).complete()
    assert caught.value.remedy == remedy
    assert len(server.requests) == 1, "it is not asked in vain again"


def test_a_model_that_loads_is_waited_for() -> None:
    loading = llama_error(503, "unavailable_error", "Loading model")
    with GroqServer([loading, loading, text("Hi.")]) as server:
        client = client_of(server)
        assert client.complete().text == "Hi."
    assert client.waits == [0.5, 1.0]


def test_what_a_proxy_passes_on_of_the_limits_behind_it_counts() -> None:
    with GroqServer([ServerReply(headers=LITELLM_LIMITS, body=completion({"content": "Hi."}))]) as server:
        reply = client_of(server).complete()
    assert reply.limits == (Quota(unit="tokens", limit=8000.0, remaining=7000.0, reset_s=1.5),)


def test_what_a_proxy_passes_on_of_a_wait_is_kept_to() -> None:
    headers = {**LITELLM_LIMITS, "llm_provider-retry-after": "7"}
    refused = litellm_error(429, "throttling_error", "litellm.RateLimitError: Slow down", headers)
    with GroqServer([refused, text("Hi.")]) as server:
        client = client_of(server)
        client.chance = 0.0
        assert client.complete().text == "Hi."
    assert client.waits == [7.0]


def test_a_status_that_is_told_as_a_text_within_a_stream_counts() -> None:
    told = litellm_error_body("429", None, "litellm.RateLimitError: Slow down")
    broken = streamed(event(chunk({"content": "Hel"})) + event(told))
    with GroqServer([broken]) as server, pytest.raises(LimitReached, match="The rate limit of service"):
        client_of(server, stream=True, max_attempts=1).complete()


def test_a_stream_may_say_why_it_ended_before_its_last_choice() -> None:
    with GroqServer([litellm_stream(["Hel", "lo."])]) as server:
        reply = client_of(server, stream=True).complete()
    assert (reply.text, reply.finish_reason, reply.usage.completion_tokens) == ("Hello.", "stop", 5)


def test_a_call_may_come_after_words_and_token_by_token() -> None:
    with GroqServer([llama_call('{"path" :"a\\n.py" }')]) as server:
        reply = client_of(server, stream=True).complete(ask(tools=(READ_FILE,)))
    assert reply.tool_calls == (ToolCall(id="DSh3", name="read_file", arguments={"path": "a\n.py"}),)
    assert (reply.text, reply.usage.prompt_tokens, reply.usage.cached_tokens) == ("I look.", 367, 53)


@pytest.mark.parametrize("tokens", [200, 199])
def test_an_answer_that_ends_at_its_bound_was_cut_off_whatever_is_told(tokens: int) -> None:
    whole = text("All of it", usage={"prompt_tokens": 10, "completion_tokens": tokens})
    message = said(TEXT, usage={"input_tokens": 10, "output_tokens": tokens})
    with GroqServer([llama_python_cut_call(tokens), whole]) as server, AnthropicServer([message]) as other:
        request = ask(tools=(READ_FILE,), max_completion_tokens=200)
        call, words = (client_of(server).complete(request) for _ in range(2))
        proxied = Client(settings(other.url, api="anthropic")).complete(request)
    cut = "The answer was cut off after 200 tokens. Answer more briefly."
    if tokens == 200:
        assert {reply.problem for reply in (call, words, proxied)} == {cut}
    else:
        assert "The arguments of read_file are not a JSON object" in call.problem
        assert (words.problem, proxied.problem) == ("", "")


def test_a_whole_call_at_the_bound_is_carried_out() -> None:
    function = {"name": "read_file", "arguments": '{"path": "a"}'}
    body = completion({"tool_calls": [{"id": "c", "function": function}]}, usage={"completion_tokens": 200})
    with GroqServer([ServerReply(body=body)]) as server:
        reply = client_of(server).complete(ask(tools=(READ_FILE,), max_completion_tokens=200))
    assert (reply.finish_reason, len(reply.tool_calls), reply.problem) == ("tool_calls", 1, "")


def test_a_model_that_is_missing_behind_anthropics_protocol_is_told_as_such() -> None:
    refused = failed(400, "invalid_request_error", LITELLM_MODEL)
    with AnthropicServer([refused]) as server, pytest.raises(ModelUnavailable, match="service has no model 'big'"):
        Client(settings(server.url, api="anthropic")).complete()


def test_what_was_said_before_a_stream_stood_still_is_counted() -> None:
    stuck = streamed(event(chunk({"content": "Hello there, you."})), stays_open=True)
    with GroqServer([stuck]) as server:
        client = client_of(server, stream=True, timeout_s=0.3, max_attempts=1)
        with pytest.raises(ModelUnavailable, match="did not answer within"):
            client.complete()
        server.release()
    assert (client.usage.calls, client.usage.completion_tokens > 0) == (1, True)
