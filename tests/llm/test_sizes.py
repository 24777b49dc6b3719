"""How large requests are made: by windows and limits that are set, told, refused, looked up and remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Profile
from codur.errors import LimitReached, ModelUnavailable
from codur.events import Note
from codur.llm.model import ChatRequest
from codur.llm.rate_limits.told_limits import SaidLimit, is_too_long, said_limit
from codur.llm.remembered_sizes import KEPT_S, Remembered
from codur.llm.tokens import BYTES_PER_TOKEN, prompt_tokens
from codur.types import Message
from tests.llm.kit import CANARY, KEYS, Client, ask, settings
from tests.support.groq_server import GroqServer, ServerReply, error, text
from tests.support.ollama_server import OllamaServer

GENEROUS: dict[str, Any] = {"request_tokens": 40_000, "max_completion_tokens": 8000}
WINDOW = 4096


def filling(profile: Profile) -> ChatRequest:
    """A request that takes all that the profile has room for."""
    chars = int((profile.request_tokens - profile.max_completion_tokens - 10) * BYTES_PER_TOKEN)
    return ask("x" * chars, max_completion_tokens=profile.max_completion_tokens)


def size(body: Any) -> float:
    prompt = sum(len(message["content"]) for message in body["messages"])
    return prompt / BYTES_PER_TOKEN + float(body.get("max_tokens") or body["max_completion_tokens"])


def notes(client: Client) -> list[str]:
    return [event.text for event in client.events if isinstance(event, Note)]


REFUSALS = {
    "groq, a minute": error(
        413,
        "Request too large for model `big` in organization `o` service tier `on_demand` on tokens per minute (TPM): "
        f"Limit {WINDOW}, Requested 40000, please reduce your message size and try again.",
        code="rate_limit_exceeded",
        kind="tokens",
    ),
    "openai, a minute": error(
        429,
        f"Request too large for big on tokens per min (TPM): Limit {WINDOW:,}, Requested 40000. Reduce the input.",
        code="rate_limit_exceeded",
    ),
    "openai": error(
        400,
        f"This model's maximum context length is {WINDOW} tokens. However, you requested 40,000 tokens (32000 in the "
        "messages, 8000 in the completion). Please reduce the length of the messages or completion.",
        code="context_length_exceeded",
    ),
    "openai, the prompt": error(
        400,
        f"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in 32000 tokens.",
        code="context_length_exceeded",
    ),
    "vllm": error(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is "
        f"{WINDOW} tokens and your request has 32000 input tokens (8000 > {WINDOW} - 32000).",
        kind="BadRequestError",
    ),
    "llama.cpp": error(
        400,
        f"request (32000 tokens) exceeds the available context size ({WINDOW} tokens), try increasing it",
        kind="exceed_context_size_error",
        n_prompt_tokens=32000,
        n_ctx=WINDOW,
    ),
    "llama-cpp-python": error(500, f"Requested tokens (32000) exceed context window of {WINDOW}", kind="server_error"),
    "anthropic's words": error(400, f"prompt is too long: 32000 tokens > {WINDOW} maximum"),
    "anthropic's sum": error(
        400, f"input length and `max_tokens` exceed context limit: 32000 + 8000 > {WINDOW}, decrease input length"
    ),
    "mistral": error(400, f"Prompt contains 32000 tokens, too large for model with {WINDOW} maximum context length"),
    "ollama, as text": ServerReply(
        status=400,
        body={"error": f'{{"error":{{"message":"request (32000 tokens) exceeds the available context size ({WINDOW} '},
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_what_is_too_long_is_made_again_to_fit_once_and_said(refusal: ServerReply) -> None:
    with GroqServer([refusal, text("Yes."), text("Again.")]) as server:
        client = Client(settings(server.url, **GENEROUS))
        assert client.complete(filling).text == "Yes."
        assert client.complete(filling).text == "Again.", "the next one is right from the start"
    assert size(server.bodies[0]) > 39_000
    assert all(WINDOW / 2 < size(body) <= WINDOW for body in server.bodies[1:])
    (note,) = notes(client)
    assert note.startswith("service (big) takes no more than ")
    assert note.endswith(" tokens; the request was cut.")


@pytest.mark.parametrize("status", [413, 400])
def test_a_refusal_without_figures_halves_the_request(status: int) -> None:
    refusal = error(status, "The prompt is too long.")
    with GroqServer([refusal, text("Yes.")]) as server:
        client = Client(settings(server.url, **GENEROUS))
        client.complete(filling)
    assert size(server.bodies[1]) == pytest.approx(size(server.bodies[0]) / 2, rel=0.02)
    assert len(notes(client)) == 1


def test_a_second_refusal_is_the_end_and_tells_what_to_do() -> None:
    refusal = REFUSALS["llama.cpp"]
    smaller = error(400, "request (3000 tokens) exceeds the available context size (2048 tokens)")
    with GroqServer([refusal, smaller]) as server:
        client = Client(settings(server.url, **GENEROUS))
        with pytest.raises(ModelUnavailable, match="takes 2,048 at a time") as caught:
            client.complete(filling)
        assert server.unexpected == 0
    assert caught.value.remedy == "Lower llm.profiles.main.request_tokens to 2048, or use another profile."
    assert len(server.requests) == 2


def test_a_request_that_nobody_can_cut_is_refused_with_the_remedy() -> None:
    with GroqServer([REFUSALS["llama.cpp"]]) as server:
        client = Client(settings(server.url, **GENEROUS))
        with pytest.raises(ModelUnavailable, match="4,096 at a time"):
            client.complete(ask("x" * 100_000))
        assert len(server.requests) == 1


def test_a_fall_back_profile_gets_a_request_of_its_own_size() -> None:
    spare = {"spare": Profile(provider="service", model="small", context_window=3000, request_tokens=40_000)}
    with GroqServer([error(402), text("Yes.")]) as server:
        client = Client(settings(server.url, fallback=["spare"], profiles=spare, **GENEROUS))
        client.complete(filling)
    assert size(server.bodies[0]) > 39_000
    assert size(server.bodies[1]) <= 3000


@pytest.mark.parametrize(
    ("values", "tokens", "answer"),
    [
        ({}, 40_000, 8000),
        ({"context_window": 131_072}, 40_000, 8000),
        ({"context_window": 8192}, 8192, 4096),
        ({"request_tokens": 6000}, 6000, 3000),
        ({"request_tokens": 6000, "max_completion_tokens": 1000}, 6000, 1000),
        ({"tokens_per_minute": 8000}, 8000, 4000),
        ({"context_window": 1}, 1, 256),
    ],
)
def test_what_the_settings_say(values: dict[str, int], tokens: int, answer: int) -> None:
    fitted = Client(settings(**{**GENEROUS, **values})).pool.sizes.fitted("main")
    assert (fitted.request_tokens, fitted.max_completion_tokens) == (tokens, answer)


def told(tokens: int) -> ServerReply:
    """An answer with the headers of a limit a minute."""
    headers = {
        "x-ratelimit-limit-tokens": str(tokens),
        "x-ratelimit-remaining-tokens": str(tokens),
        "x-ratelimit-reset-tokens": "0s",
    }
    return ServerReply(headers=headers, body=text("Yes.").body)


def test_the_limit_of_one_model_stands_for_the_others_of_its_provider_until_they_tell_theirs() -> None:
    with GroqServer([told(8000), told(250_000)]) as server:
        client = Client(settings(server.url, **GENEROUS))
        assert client.pool.sizes.fitted("main").request_tokens == 40_000
        client.complete(profile="spare")
        assert client.pool.sizes.fitted("main").request_tokens == 7900
        client.complete(filling)
        assert client.pool.sizes.fitted("main").request_tokens == 40_000
    assert size(server.bodies[1]) <= 7900


def test_the_next_run_of_the_account_starts_right(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    with GroqServer([REFUSALS["openai"], text("Yes."), text("Yes."), text("Yes.")]) as server:

        def client(**values: Any) -> Client:
            return Client(settings(server.url, **GENEROUS), remembered=Remembered(file), **values)

        first = client()
        first.complete(filling)
        again = client()
        again.complete(filling)
        assert size(server.bodies[2]) <= WINDOW
        assert notes(again) == []
        assert client(clock=first.clock + KEPT_S + 1).pool.sizes.fitted("main").request_tokens == 40_000
        assert client(environ={"GROQ_API_KEY": "gsk_another"}).pool.sizes.fitted("main").request_tokens == 40_000
        file.write_text("{ damaged")
        damaged = client()
        assert damaged.pool.sizes.fitted("main").request_tokens == 40_000
    assert CANARY not in file.read_text()


def test_what_is_kept_holds_no_key_and_a_limit_that_is_told_anew_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    with GroqServer([told(8000), told(250_000)]) as server:
        for _ in range(2):
            Client(settings(server.url, **GENEROUS), remembered=Remembered(file)).complete(filling)
            assert KEYS["GROQ_API_KEY"] not in file.read_text()
    ((name, entry),) = json.loads(file.read_text()).items()
    assert entry == {"model": "service big", "a_minute": 249_900, "seen": 1_000_000}
    assert len(name) == 24
    assert size(server.bodies[1]) <= 7900, "the plan was thought to be the old one"


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    with GroqServer([told(8000)]) as server:
        client = Client(settings(server.url, **GENEROUS), remembered=Remembered(tmp_path / "none" / "limits.json"))
        assert client.complete().text == "Yes."


SHOWN = {"parameters": 'stop "<|x|>"\nnum_ctx 8192', "model_info": {"llama.context_length": 131_072}}


def local(server: GroqServer, **values: Any) -> Client:
    return Client(settings(server.openai_url, api="openai", key_env=None, **{**GENEROUS, **values}), environ={})


@pytest.mark.parametrize(
    ("shown", "loaded", "tokens"),
    [
        (SHOWN, {}, 8192),
        ({"model_info": {"llama.context_length": 16_384, "llama.block_count": 32}}, {}, 16_384),
        (SHOWN, {"big": 4096}, 4096),
        (SHOWN, {"other": 4096}, 8192),
        ({}, {}, 40_000),
        ({"model_info": None, "parameters": 7}, {}, 40_000),
    ],
)
def test_ollama_tells_the_window_of_a_model(shown: dict[str, Any], loaded: dict[str, int], tokens: int) -> None:
    with OllamaServer(["big"], shown=shown) as server:
        server.load(**loaded)
        assert local(server).pool.sizes.fitted("main").request_tokens == tokens


def test_ollama_is_asked_until_the_model_is_loaded_and_not_where_the_settings_say_it() -> None:
    with OllamaServer(["big"], shown=SHOWN) as server:
        client = local(server)
        assert client.pool.sizes.fitted("main").request_tokens == 8192
        server.load(big=32_768)
        assert client.pool.sizes.fitted("main").request_tokens == 32_768
        looks = len(server.looked_up)
        client.pool.sizes.fitted("main")
        assert local(server, context_window=5000).pool.sizes.fitted("main").request_tokens == 5000
        assert len(server.looked_up) == looks


def test_another_local_server_is_asked_once_and_nobody_else_is() -> None:
    with GroqServer() as server:
        client = local(server)
        assert [client.pool.sizes.fitted("main").request_tokens for _ in range(3)] == [40_000] * 3
        assert server.looked_up == ["/api/ps", "/api/show"][: len(server.looked_up)]
        assert len(server.looked_up) == 1
        Client(settings(server.url, **GENEROUS)).pool.sizes.fitted("main")
        assert (len(server.looked_up), server.requests) == (1, [])


def test_why_requests_are_as_large_as_they_are() -> None:
    def words(**values: Any) -> str:
        return Client(settings(**{**GENEROUS, **values})).pool.sizes.told("main")

    assert words() == "requests of up to 40,000 tokens; its context window is not known"
    assert words(context_window=131_072) == "requests of up to 40,000 tokens"
    assert words(context_window=8192) == "requests of up to 8,192 tokens, its context window"
    assert words(tokens_per_minute=8000) == "requests of up to 8,000 tokens, which its service allows a minute"


def test_a_window_that_is_set_too_large_is_told() -> None:
    with GroqServer([REFUSALS["openai"], text("Yes.")]) as server:
        client = Client(settings(server.url, context_window=131_072, **GENEROUS))
        client.complete(filling)
    assert client.pool.sizes.told("main").endswith("context_window says 131,072, but it has told of 4,096")


def test_a_task_that_cannot_be_told_is_refused_before_anything_is_sent() -> None:
    pool = Client(settings(**GENEROUS)).pool
    pool.sizes.require_room("main", "x" * 100_000)
    with pytest.raises(LimitReached) as caught:
        pool.sizes.require_room("main", "x" * 200_000)
    assert caught.value.message == (
        "The task would need a request of about 58,399 tokens, and service (big) gets 40,000 at most."
    )
    assert caught.value.remedy == (
        "Put what is not needed at once into a file, or raise llm.profiles.main.request_tokens, or use another profile."
    )
    small = Client(settings(context_window=8000, **GENEROUS)).pool
    with pytest.raises(LimitReached) as caught:
        small.sizes.require_room("main", "x" * 200_000)
    assert caught.value.remedy == "Put what is not needed at once into a file, or use another profile."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("This model's maximum context length is 8,192 tokens.", SaidLimit(limit=8192, window=True)),
        ("prompt is too long: 9 tokens > 8 maximum", SaidLimit(limit=8, prompt=9, window=True)),
        ("The model's context length of only 4096 tokens", SaidLimit(limit=4096, window=True)),
        ("maximum context length is , tokens", None),
        ("max_tokens is too large: 8000", None),
        ("", None),
    ],
)
def test_figures_of_windows(words: str, said: SaidLimit | None) -> None:
    assert said_limit(words) == said


@pytest.mark.parametrize(
    "words", ["Invalid value for context.", "max_tokens is too large: 9", "A key is too long.", ""]
)
def test_other_refusals_are_not_about_length(words: str) -> None:
    assert not is_too_long(words)


def test_the_estimate_of_the_tests_is_the_programs() -> None:
    request = ChatRequest(messages=(Message(role="user", content="x" * 3500),), purpose="test")
    assert prompt_tokens(request) == 1004
