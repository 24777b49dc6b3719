"""Requests that fail: what is tried again, how long is waited, who is asked next, and what is said in the end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import datetime
from email.utils import formatdate
from typing import Any

import pytest

from codur.config.settings import Profile, Provider
from codur.errors import CodurError, LimitReached, ModelUnavailable
from codur.events import ModelCalled, ModelSwitched, ModelWaiting
from codur.structs import replace
from codur.types import Limits, Usage
from tests.llm.kit import CANARY, Client, settings
from tests.support.groq_server import GroqServer, ServerReply, cut, error, hang_up, raw, text

START = 1_000_000.0
HELLO = text("Hello.")


def failing(client: Client, kind: type[CodurError] = ModelUnavailable) -> CodurError:
    with pytest.raises(kind) as caught:
        client.complete()
    return caught.value


@pytest.mark.parametrize(
    "first",
    [
        error(408),
        error(409),
        error(429),
        error(498, code="capacity_exceeded"),
        error(500),
        error(503, headers={"content-type": "application/json"}),
        raw("<html><h1>502 Bad Gateway</h1></html>", status=502),
        raw("", status=529),
        cut(HELLO),
        hang_up(),
    ],
    ids=lambda reply: f"{reply.status}-{reply.cut_at}-{reply.hang_up}",
)
def test_what_may_pass_is_sent_again(first: ServerReply) -> None:
    with GroqServer([first, HELLO]) as server:
        client = Client(settings(server.url))
        reply = client.complete()
    assert (reply.text, client.waits) == ("Hello.", [0.5])
    assert (
        reply.usage
        == client.usage
        == Usage(calls=1, retries=1, prompt_tokens=100, completion_tokens=20, cost_usd=0.00014)
    )
    assert client.told() == ["model_called", "model_waiting", "model_called", "model_answered"]
    assert server.bodies[0] == server.bodies[1]


SETTINGS = "Check llm.profiles.main and its provider's base_url."
ACCOUNT = "Check the account, or use another profile."


@pytest.mark.parametrize(
    ("status", "code", "message", "remedy"),
    [
        (400, "", "service (big) refused the request: status 400", SETTINGS),
        (
            401,
            "invalid_api_key",
            "service refused the key in GROQ_API_KEY: status 401",
            "Set GROQ_API_KEY to a valid key.",
        ),
        (402, "", "The quota of service is used up", ACCOUNT),
        (
            403,
            "",
            "service does not allow this with the key in GROQ_API_KEY: status 403",
            "Check what the key in GROQ_API_KEY may do, and that the model is open to the account.",
        ),
        (
            404,
            "model_not_found",
            "service has no model 'big'",
            "Correct llm.profiles.main.model, or choose another profile.",
        ),
        (
            413,
            "rate_limit_exceeded",
            "The request is too large for service (big)",
            "Lower llm.profiles.main.request_tokens and llm.profiles.main.max_completion_tokens.",
        ),
        (422, "", "service (big) refused the request: status 422", SETTINGS),
        (429, "insufficient_quota", "The quota of service is used up", ACCOUNT),
        (307, "", "service (big) refused the request: status 307", SETTINGS),
    ],
)
def test_what_does_not_pass_is_not_sent_again(status: int, code: str, message: str, remedy: str) -> None:
    with GroqServer([error(status, "No.", code=code, headers={"location": "/elsewhere"})]) as server:
        client = Client(settings(server.url))
        failure = failing(client)
    assert (failure.message, failure.remedy) == (f"{message} (No).", remedy)
    assert (len(server.requests), server.unexpected, client.waits) == (1, 0, [])
    assert client.usage == Usage()


def test_a_service_that_wants_a_key_where_none_is_named() -> None:
    with GroqServer([error(401, "Who is it?")]) as server:
        failure = failing(Client(settings(server.openai_url, api="openai", key_env=None)))
    assert failure.message == "service wants a key: status 401 (Who is it?)."
    assert failure.remedy == "Name the variable with the key in providers.service.api_key_env."


def test_an_error_page_is_not_quoted() -> None:
    with GroqServer([raw("<!DOCTYPE html><p>long</p>", status=401)]) as server:
        assert failing(Client(settings(server.url))).message == "service refused the key in GROQ_API_KEY: status 401."


def test_waits_double_up_to_the_cap_and_end_with_the_attempts() -> None:
    with GroqServer(lambda _: error(503, "Busy.")) as server:
        client = Client(settings(server.url, max_attempts=9, retry_budget_s=1000))
        failure = failing(client)
    assert client.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert len(server.requests) == 9
    assert failure.message == "service (big) is busy or out of order: status 503 (Busy)."
    assert failure.remedy == "Try again later, or use another profile."
    assert client.usage == Usage(retries=8)


def test_waits_are_spread_by_chance() -> None:
    with GroqServer([error(500), error(500), HELLO]) as server:
        client = Client(settings(server.url), chance=0.25)
        client.complete()
    assert client.waits == [0.125, 0.25]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "100"}, 100.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(START + 7, usegmt=True)}, 7.0),
        ({"retry-after": "Mon Jan 12 13:46:47 1970"}, 7.0),
        ({"retry-after": formatdate(START - 7, usegmt=True)}, 0.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "Mon, 99 Foo 2026"}, 0.0),
    ],
)
def test_the_service_says_how_long_to_wait_at_least(headers: dict[str, str], wait: float) -> None:
    with GroqServer([error(429, "Slow down.", headers=headers), HELLO]) as server:
        client = Client(settings(server.url), chance=0.0)
        assert client.complete().text == "Hello."
    assert client.waits == [wait]
    waiting = next(event for event in client.events if isinstance(event, ModelWaiting))
    assert waiting == ModelWaiting(
        profile="main", seconds=wait, reason="The rate limit of service (big) is reached (Slow down)."
    )


def test_jitter_comes_on_top_of_what_the_service_asks_for() -> None:
    with GroqServer([error(500), error(429, retry_after=2), HELLO]) as server:
        client = Client(settings(server.url), chance=1.0)
        client.complete()
    assert client.waits == [0.5, 2.5]


def again(seconds: float, words: str) -> str:
    """The remedy that names a wait and the local time at its end."""
    moment, today = (datetime.fromtimestamp(START + item) for item in (seconds, 0))
    day = "" if moment.date() == today.date() else f"{moment:%Y-%m-%d} "
    return f"Try again in {words} (at {day}{moment:%H:%M}), or use another profile."


@pytest.mark.parametrize(
    ("retry_after", "seconds", "words"),
    [
        ("3600", 3600, "1 h 0 min"),
        (formatdate(START + 600, usegmt=True), 600, "10 min"),
        ("121", 121, "3 min"),
    ],
)
def test_a_rate_limit_too_far_away_ends_the_run_without_waiting(retry_after: str, seconds: int, words: str) -> None:
    with GroqServer([error(429, "Slow down.", retry_after=retry_after)]) as server:
        client = Client(settings(server.url))
        failure = failing(client, LimitReached)
    assert (failure.exit_code, failure.remedy) == (4, again(seconds, words))
    assert failure.message == "The rate limit of service (big) is reached (Slow down)."
    assert (client.waits, len(server.requests)) == ([], 1)


def test_a_rate_limit_without_a_time_ends_as_a_limit_too() -> None:
    with GroqServer(lambda _: error(429)) as server:
        failure = failing(Client(settings(server.url, max_attempts=2)), LimitReached)
    assert failure.remedy == "Try again in a few minutes, or use another profile."


def test_all_waits_together_fit_the_budget() -> None:
    with GroqServer(lambda _: error(429, retry_after=50)) as server:
        client = Client(settings(server.url), chance=0.0)
        failing(client, LimitReached)
    assert client.waits == [50.0, 50.0]


def test_no_wait_goes_beyond_the_run() -> None:
    with GroqServer([error(429, retry_after=30)]) as server:
        client = Client(settings(server.url), time_left=lambda: 20.0)
        failing(client, LimitReached)
    assert (client.waits, len(server.requests)) == ([], 1)


def test_a_run_whose_time_is_used_up_asks_nobody() -> None:
    with GroqServer() as server:
        failure = failing(
            Client(settings(server.url), time_left=lambda: 0.0, limits=Limits(max_runtime_s=60)), LimitReached
        )
    assert (failure.message, failure.remedy) == ("the run's time is used up", "Give it more time with --timeout.")
    assert server.requests == []


def test_a_request_ends_with_the_run() -> None:
    with GroqServer([replace(HELLO, held=True)]) as server:
        client = Client(settings(server.url), time_left=lambda: 0.05)
        failing(client, LimitReached)
    assert client.told() == ["model_called"]


def test_a_slow_service_is_a_timeout_and_tried_again() -> None:
    with GroqServer([replace(HELLO, held=True), HELLO]) as server:
        client = Client(settings(server.url, timeout_s=0.2, max_attempts=1))
        failure = failing(client)
        assert client.complete().text == "Hello."
    assert failure.message == "service (big) did not answer within 0.2 s."
    assert failure.remedy == "Raise providers.service.timeout_s, or choose another profile."


# --- fall-back profiles -----------------------------------------------------------------------------------------------


def by_model(answers: dict[str, ServerReply]) -> Callable[[Any], ServerReply]:
    return lambda body: answers[body["model"]]


@pytest.mark.parametrize(
    "first", [error(400), error(403), error(404), error(413), error(429, retry_after=3600), error(402)]
)
def test_the_next_profile_is_asked(first: ServerReply) -> None:
    with GroqServer(by_model({"big": first, "small": HELLO})) as server:
        client = Client(settings(server.url, fallback=["spare"]))
        reply = client.complete()
    assert (reply.text, reply.profile, client.waits) == ("Hello.", "spare", [])
    assert [body["model"] for body in server.bodies] == ["big", "small"]
    switched = [event for event in client.events if isinstance(event, ModelSwitched)]
    assert [(event.from_profile, event.to_profile) for event in switched] == [("main", "spare")]
    assert switched[0].reason.startswith(("service", "The r", "The q"))


def test_retries_come_before_the_next_profile() -> None:
    with GroqServer(by_model({"big": error(500), "small": HELLO})) as server:
        client = Client(settings(server.url, fallback=["spare"], max_attempts=3))
        reply = client.complete()
    assert [body["model"] for body in server.bodies] == ["big", "big", "big", "small"]
    assert (reply.usage.calls, reply.usage.retries) == (1, 2)


def test_a_refused_key_is_not_shown_to_the_same_service_again() -> None:
    with GroqServer(lambda _: error(401)) as server:
        client = Client(settings(server.url, fallback=["spare"]))
        failing(client)
        failing(client)
    assert len(server.requests) == 1
    assert not client.pool.available()
    assert client.pool.why_unavailable().message == (
        "service refused the key in GROQ_API_KEY: status 401 (Something is wrong)."
    )


def test_a_missing_model_is_not_asked_for_again() -> None:
    with GroqServer(by_model({"big": error(404), "small": HELLO})) as server:
        client = Client(settings(server.url, fallback=["spare"]))
        assert [client.complete().profile, client.complete().profile] == ["spare", "spare"]
    assert [body["model"] for body in server.bodies] == ["big", "small", "small"]
    assert client.pool.available()


def test_a_profile_at_its_rate_limit_rests_until_it_can_be_waited_for() -> None:
    with GroqServer(by_model({"big": error(429, retry_after=600), "small": HELLO})) as server:
        client = Client(settings(server.url, fallback=["spare"]))
        for clock in (0.0, 400.0, 500.0):
            client.clock = START + clock
            client.complete()
    assert [body["model"] for body in server.bodies] == ["big", "small", "small", "big", "small"]


def test_a_rate_limit_outranks_other_failures_because_waiting_helps() -> None:
    with GroqServer(by_model({"big": error(404), "small": error(429, retry_after=300)})) as server:
        failure = failing(Client(settings(server.url, fallback=["spare"])), LimitReached)
    assert failure.remedy == again(300, "5 min")


@pytest.mark.parametrize(
    ("first", "after_s", "asked", "switches"),
    [
        pytest.param(error(503), 30.0, ["big", "small", "small"], [("main", "spare")] * 2, id="busy, in the pause"),
        pytest.param(
            error(503), 90.0, ["big", "small", "big"], [("main", "spare"), ("spare", "main")], id="busy, after it"
        ),
        pytest.param(
            error(429, retry_after=600), 300.0, ["big", "small", "small"], [("main", "spare")] * 2, id="limit, in it"
        ),
        pytest.param(
            error(429, retry_after=600),
            700.0,
            ["big", "small", "big"],
            [("main", "spare"), ("spare", "main")],
            id="limit, after it",
        ),
        pytest.param(error(402), 9999.0, ["big", "small", "small"], [("main", "spare")] * 2, id="quota used up"),
        pytest.param(error(403), 9999.0, ["big", "small", "small"], [("main", "spare")] * 2, id="not allowed"),
        pytest.param(
            error(413), 0.0, ["big", "small", "big"], [("main", "spare"), ("spare", "main")], id="too large, once"
        ),
    ],
)
def test_the_first_profile_is_asked_again_when_its_pause_is_over(
    first: ServerReply, after_s: float, asked: list[str], switches: list[tuple[str, str]]
) -> None:
    replies = [first]

    def answers(body: Any) -> ServerReply:
        return replies.pop() if body["model"] == "big" and replies else HELLO

    with GroqServer(answers) as server:
        client = Client(settings(server.url, fallback=["spare"], max_attempts=1))
        client.complete()
        client.clock += after_s
        client.complete()
    assert [body["model"] for body in server.bodies] == asked
    told = [event for event in client.events if isinstance(event, ModelSwitched)]
    assert [(event.from_profile, event.to_profile) for event in told] == switches


def test_a_paused_profile_is_asked_if_there_is_no_other() -> None:
    with GroqServer([error(503), error(503), HELLO]) as server:
        client = Client(settings(server.url, fallback=["spare"], max_attempts=1))
        failing(client)
        assert client.pool.available()
        assert client.complete().profile == "main"


def test_every_failure_is_told() -> None:
    with GroqServer(by_model({"big": error(404, "Gone."), "small": error(403, "Closed.")})) as server:
        failure = failing(Client(settings(server.url, fallback=["spare"])))
    assert failure.message == (
        "service has no model 'big' (Gone). "
        "service does not allow this with the key in GROQ_API_KEY: status 403 (Closed)."
    )
    assert failure.remedy == "Correct llm.profiles.main.model, or choose another profile."


def test_a_profile_without_its_key_is_passed_over() -> None:
    with GroqServer([HELLO]) as server:
        client = Client(
            settings(
                "http://127.0.0.1:1",
                fallback=["mine"],
                profiles={"mine": Profile(provider="home", model="tiny")},
                providers={"home": Provider(base_url=server.openai_url)},
            ),
            environ={},
        )
        reply = client.complete()
    assert reply.profile == "mine"
    assert client.told() == ["model_switched", "model_called", "model_answered"]
    assert client.events[0] == ModelSwitched(from_profile="main", to_profile="mine", reason="GROQ_API_KEY is not set.")


# --- connections ------------------------------------------------------------------------------------------------------


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("provider", "remedy"),
    [
        ("ollama", "Start it with `ollama serve`, then get the model with `ollama pull tiny`."),
        ("llamacpp", "Start the server of provider llamacpp, or correct its base_url."),
    ],
)
def test_a_local_server_that_does_not_run_is_named_with_how_to_start_it(provider: str, remedy: str) -> None:
    url = f"http://127.0.0.1:{unused_port()}/v1"
    local = Profile(provider=provider, model="tiny")
    client = Client(settings(profiles={"main": local}, providers={provider: Provider(base_url=url)}), environ={})
    failure = failing(client)
    assert failure.message == f"No server answers at {url.removesuffix('/v1')} for profile main."
    assert (failure.remedy, client.waits) == (remedy, [])


def test_a_local_model_that_is_missing_is_named_with_how_to_get_it() -> None:
    local = Profile(provider="ollama", model="tiny")
    with GroqServer([error(404, "model 'tiny' not found", code="model_not_found")]) as server:
        providers = {"ollama": Provider(base_url=server.openai_url)}
        failure = failing(Client(settings(profiles={"main": local}, providers=providers), environ={}))
    assert failure.message == "ollama has no model 'tiny' (model 'tiny' not found)."
    assert failure.remedy == "Get it with `ollama pull tiny`."


def test_a_broken_connection_is_told_without_the_password_in_the_url() -> None:
    with GroqServer() as server:
        url = server.openai_url.replace("http://", "https://user:secret@")
        client = Client(settings(url, api="openai", max_attempts=2))
        failure = failing(client)
    place = url.removesuffix("/v1").replace("user:secret@", "")
    assert failure.message.startswith(f"service ({place}) cannot be reached: [SSL")
    assert "secret" not in failure.message
    assert failure.remedy == "Check the network connection, a proxy or firewall, and the provider's base_url."
    assert client.waits == [0.5]
    assert not client.pool.available()


# --- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        error(401, f"Incorrect API key provided: {CANARY}."),
        error(400, f"Bad header Bearer {CANARY}", failed_generation=CANARY),
        error(400, f"{CANARY} failed", code="tool_use_failed", failed_generation=f"{CANARY}{{"),
        error(500, f"Cannot use {CANARY}"),
        error(429, f"Limit of {CANARY}", retry_after=9999),
        raw(f"Forbidden for {CANARY}", status=403, content_type="text/plain"),
        ServerReply(body={"error": {"message": f"key {CANARY}"}}),
        ServerReply(body={"model": CANARY, "choices": [{"message": {"refusal": f"no {CANARY}"}}]}),
        hang_up(),
    ],
)
def test_the_key_is_in_no_error_event_or_repr(reply: ServerReply) -> None:
    with GroqServer(lambda _: reply) as server:
        client = Client(settings(server.url, max_attempts=2))
        failure = failing(client, CodurError)
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    chain: list[BaseException] = []
    link: BaseException | None = failure
    while link is not None:
        chain.append(link)
        link = link.__cause__ or link.__context__
    assert all(isinstance(error, CodurError) for error in chain), "the SDK's errors hold the request with its key"
    shown = [repr(error) + str(error) + getattr(error, "remedy", "") + getattr(error, "hint", "") for error in chain]
    models = list(client.pool._exchange.opened.values())
    things = [*shown, *map(repr, client.events), repr(client.pool), *map(repr, models), repr(vars(models[0]))]
    assert all(CANARY not in thing for thing in things)


@pytest.mark.parametrize("key", ["   ", "with blank", "zwei\nzeilen", "schlüssel"])
def test_a_key_that_cannot_be_one_is_not_sent(key: str) -> None:
    with GroqServer() as server:
        client = Client(settings(server.url), environ={"GROQ_API_KEY": key})
        failure = failing(client)
    state = "holds no usable key" if key.strip() else "is not set"
    assert failure.message == f"GROQ_API_KEY {state}."
    assert not client.pool.available()
    assert server.requests == []


def test_every_request_is_announced() -> None:
    with GroqServer([error(500), HELLO]) as server:
        client = Client(settings(server.url))
        client.complete()
    called = ModelCalled(profile="main", model="big", purpose="test", prompt_chars=5)
    assert [event for event in client.events if isinstance(event, ModelCalled)] == [called, called]
