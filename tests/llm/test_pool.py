"""Who can be asked at all, the limits of a run, and how a run ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import LlmSettings, Profile, Provider, Settings
from codur.errors import ConfigError, LimitReached, ModelUnavailable
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.types import Limits, ToolCall, Usage
from tests.llm.kit import KEYS, PRICED, Client, ask, settings
from tests.support.groq_server import GroqServer, error, failed_generation, hold, text
from tests.support.scripted_model import ScriptedModel


def pool(given: Settings, environ: dict[str, str], **values: Any) -> ModelPool:
    return ModelPool(given, environ, Limits(), PoolOptions(**values))


LOCAL = Settings(llm=LlmSettings(default_profile="local", fallback_profiles=()))
JUST_LOCAL = Settings(llm=LlmSettings(default_profile="local"))
"""What `export CODUR_LLM__DEFAULT_PROFILE=local` alone makes of the defaults."""
DEAF = Settings(providers={**Settings().providers, "ollama": Provider(base_url="http://127.0.0.1:1/v1")})
"""The defaults where no Ollama runs."""
GROQ = {"gpt-oss-20b": Settings().llm.profiles["gpt-oss-20b"]}


@pytest.mark.parametrize(
    ("given", "environ", "offline", "available"),
    [
        (JUST_LOCAL, {}, False, True),
        (DEAF, {}, False, False),
        (DEAF, {"GROQ_API_KEY": ""}, False, False),
        (Settings(), KEYS, False, True),
        (Settings(), KEYS, True, False),
        (LOCAL, {}, False, True),
        (LOCAL, {}, True, False),
        (Settings(llm=LlmSettings(fallback_profiles=("local",))), {}, False, True),
    ],
)
def test_who_can_be_asked(given: Settings, environ: dict[str, str], offline: bool, available: bool) -> None:
    assert pool(given, environ, offline=offline).available() is available


@pytest.mark.parametrize(
    ("profile", "environ", "offline", "available"),
    [
        ("local", {}, False, True),
        ("local", {}, True, False),
        ("gpt-oss-20b", {}, False, False),
        ("gpt-oss-20b", KEYS, False, True),
    ],
)
def test_a_profile_of_the_users_choice_counts(
    profile: str, environ: dict[str, str], offline: bool, available: bool
) -> None:
    own = pool(DEAF, environ, offline=offline)
    assert own.available(profile) is available
    assert own.available() is (bool(environ) and not offline)


def test_a_local_default_profile_answers_for_profiles_without_a_key() -> None:
    with GroqServer(lambda _: text("Hi.")) as server:
        profiles = {"home": Profile(provider="home", model="tiny"), "other": Profile(provider="service", model="x")}
        given = settings(
            fallback=["spare"], profiles=profiles, providers={"home": Provider(base_url=server.openai_url)}
        )
        given = structs.replace(given, llm=structs.replace(given.llm, default_profile="home"))
        client = Client(given, environ={})
        replies = [client.complete(profile=name) for name in (given.llm.fast_profile, "other", "home")]
    assert [reply.profile for reply in replies] == ["home"] * 3
    assert [body["model"] for body in server.bodies] == ["tiny"] * 3


def test_the_default_profile_comes_before_the_fall_back_profiles() -> None:
    with GroqServer([error(404), text("Hi.")]) as server:
        given = settings(server.url, fallback=["third"], profiles={"third": Profile(provider="service", model="x")})
        assert Client(given).complete(profile="spare").profile == "main"
    assert [body["model"] for body in server.bodies] == ["small", "big"]


def test_why_a_profile_of_the_users_choice_cannot_be_asked() -> None:
    keyed = {"paid": Profile(provider="paid", model="x")}
    own = pool(settings(profiles=keyed, providers={"paid": Provider(api_key_env="PAID_KEY", base_url="http://x")}), {})
    assert own.why_unavailable("paid").message == "PAID_KEY is not set."
    assert own.why_unavailable("paid").remedy == "Set it with `export PAID_KEY=…`."
    assert own.why_unavailable().message == "GROQ_API_KEY is not set."
    for ask_about in (own.available, own.why_unavailable):
        with pytest.raises(ConfigError, match="there is no profile 'nobody'"):
            ask_about("nobody")


@pytest.mark.parametrize(
    ("given", "offline", "message", "remedy"),
    [
        (
            DEAF,
            False,
            "GROQ_API_KEY is not set, and nobody answers at http://127.0.0.1:1/v1.",
            "Set it with `export GROQ_API_KEY=…`, or start Ollama: `ollama serve`, then `ollama pull gpt-oss:20b`.",
        ),
        (
            settings(),
            False,
            "GROQ_API_KEY is not set.",
            "Set it with `export GROQ_API_KEY=…`.",
        ),
        (
            Settings(
                llm=LlmSettings(profiles={"mine": Profile(provider="llamacpp", model="x"), **GROQ}),
                providers={"llamacpp": Provider(base_url="http://127.0.0.1:1/v1"), **DEAF.providers},
            ),
            False,
            "GROQ_API_KEY is not set, and nobody answers at http://127.0.0.1:1/v1.",
            "Set it with `export GROQ_API_KEY=…`, or start the server at http://127.0.0.1:1/v1.",
        ),
        (
            settings(profiles={"mine": Profile(provider="half", model="x")}, providers={"half": Provider()}),
            False,
            "GROQ_API_KEY is not set.",
            "Set it with `export GROQ_API_KEY=…`.",
        ),
        (Settings(), True, "The run is offline.", "Run it again without --offline."),
    ],
)
def test_why_nobody_can_be_asked_comes_with_what_to_do(
    given: Settings, offline: bool, message: str, remedy: str
) -> None:
    client = Client(given, environ={}, offline=offline)
    expected = client.pool.why_unavailable()
    with pytest.raises(ModelUnavailable) as caught:
        client.complete(profile=given.llm.default_profile)
    for failure in (expected, caught.value):
        assert (failure.message, failure.remedy) == (message, remedy)
    assert set(client.told()) <= {"model_chosen"}


@pytest.mark.parametrize(
    ("given", "profile", "message", "remedy"),
    [
        (settings(), "other", "llm.profiles: there is no profile 'other'", "Profiles: main, spare."),
        (
            settings(profiles={"main": Profile(provider="nobody", model="x")}),
            "main",
            "llm.profiles.main.provider: there is no provider 'nobody'",
            "Providers: service.",
        ),
        (settings("", api="openai"), "main", "providers.service.base_url: missing", None),
        (
            settings("localhost:8080", api="openai"),
            "main",
            "providers.service.base_url: not a URL: 'localhost:8080'",
            None,
        ),
        (settings("http://[::1", api="openai"), "main", "providers.service.base_url: not a URL: 'http://[::1'", None),
        (
            settings("http://host:x", api="openai"),
            "main",
            "providers.service.base_url: not a URL: 'http://host:x'",
            None,
        ),
        (settings("ftp://host"), "main", "providers.service.base_url: not a URL: 'ftp://host'", None),
    ],
)
def test_settings_that_name_nobody_are_told_by_key(
    given: Settings, profile: str, message: str, remedy: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        Client(given).complete(profile=profile)
    assert str(caught.value) == message
    assert caught.value.remedy == (remedy or "Write it like http://127.0.0.1:11434/v1.")


@pytest.mark.parametrize(
    ("environ", "offline", "problems"),
    [
        ({}, False, ["GROQ_API_KEY is not set.", ""]),
        (KEYS, False, ["", ""]),
        (KEYS, True, ["The run is offline.", "The run is offline."]),
    ],
)
def test_each_profile_tells_its_own_problem(environ: dict[str, str], offline: bool, problems: list[str]) -> None:
    own = pool(Settings(), environ, offline=offline)
    assert [own.problem(name) for name in ("gpt-oss-120b", "local")] == problems


# --- limits -----------------------------------------------------------------------------------------------------------


def scripted(replies: Any, **profile: Any) -> ScriptedModel:
    values = {"max_completion_tokens": 1000, **PRICED, **profile}
    return ScriptedModel(replies, profile_name="main", profile=Profile(provider="scripted", model="m", **values))


HEAVY = ChatReply(text="x", usage=Usage(calls=1, prompt_tokens=900, completion_tokens=100, cost_usd=0.002))


@pytest.mark.parametrize(
    ("limits", "answers", "message", "remedy"),
    [
        (
            Limits(max_llm_calls=2),
            2,
            "The limit of 2 model calls is reached.",
            "Raise it with --max-llm-calls (runtime.max_llm_calls).",
        ),
        (
            Limits(max_llm_calls=0),
            0,
            "The limit of 0 model calls is reached.",
            "Raise it with --max-llm-calls (runtime.max_llm_calls).",
        ),
        (
            Limits(max_tokens=3005),
            2,
            "The next model call may need 1006 tokens; 2000 of 3005 are used.",
            "Raise the limit with --max-tokens (runtime.max_tokens).",
        ),
        (
            Limits(max_tokens=0),
            0,
            "The next model call may need 1006 tokens; 0 of 0 are used.",
            "Raise the limit with --max-tokens (runtime.max_tokens).",
        ),
        (
            Limits(max_cost_usd=0.006),
            2,
            "The next model call may cost $0.0020; $0.0040 of $0.0060 are spent.",
            "Raise the limit with --budget (runtime.max_cost_usd).",
        ),
        (
            Limits(max_cost_usd=0.0),
            0,
            "The next model call may cost $0.0020; $0.0000 of $0.0000 are spent.",
            "Raise the limit with --budget (runtime.max_cost_usd).",
        ),
    ],
)
def test_a_limit_is_not_passed(limits: Limits, answers: int, message: str, remedy: str) -> None:
    model = scripted([HEAVY] * 10)
    client = Client(settings(), limits=limits, models={"main": model})
    for _ in range(answers):
        client.complete()
    with pytest.raises(LimitReached) as caught:
        client.complete()
    assert (caught.value.message, caught.value.remedy) == (message, remedy)
    assert (len(model.requests), client.usage.calls) == (answers, answers)


def test_a_model_without_a_price_needs_no_money() -> None:
    model = scripted(["Hi."], price_in=0.0, price_cached=0.0, price_out=0.0)
    assert Client(settings(), limits=Limits(max_cost_usd=0.0), models={"main": model}).complete().text == "Hi."


def test_calls_at_the_same_time_share_the_limits() -> None:
    model = scripted(["one", "two", "three"])
    client = Client(settings(), limits=Limits(max_llm_calls=2), models={"main": model})

    async def ask_three() -> list[object]:
        return await asyncio.gather(*(client.pool.complete("main", ask()) for _ in range(3)), return_exceptions=True)

    outcomes = asyncio.run(ask_three())
    assert [type(outcome) for outcome in outcomes].count(LimitReached) == 1
    assert client.usage.calls == 2


def test_bogus_usage_does_not_open_the_limits() -> None:
    usage = {"prompt_tokens": -1_000_000, "completion_tokens": 10**15}
    with GroqServer(lambda _: text("x" * 350, usage=usage)) as server:
        client = Client(settings(server.url, max_completion_tokens=100), limits=Limits(max_tokens=300))
        client.complete()
        client.complete()
        with pytest.raises(LimitReached, match=r"212 of 300 are used"):
            client.complete()


def test_the_second_try_for_a_malformed_answer_needs_a_call_too() -> None:
    with GroqServer(lambda _: failed_generation("")) as server:
        client = Client(settings(server.url), limits=Limits(max_llm_calls=1))
        with pytest.raises(LimitReached):
            client.complete()
    assert len(server.requests) == client.usage.calls == 1


def test_what_was_held_is_given_back_when_nothing_came() -> None:
    with GroqServer([error(404), text("Hi.")]) as server:
        client = Client(settings(server.url, fallback=["spare"]), limits=Limits(max_llm_calls=1, max_tokens=3100))
        assert client.complete().profile == "spare"


# --- the models given -------------------------------------------------------------------------------------------------


def test_given_models_need_no_key_and_fall_back_like_others() -> None:
    main = ScriptedModel(["from main"], profile_name="main")
    client = Client(settings(), environ={}, models={"main": main})
    assert client.pool.available()
    assert client.complete(ask("Hello")).text == "from main"
    assert main.requests == [ask("Hello")]
    with pytest.raises(ModelUnavailable, match=r"has 1 replies; request 2 \(test\) has none"):
        client.complete()


def test_a_scripted_model_speaks_the_whole_interface() -> None:
    call = ToolCall(name="read_file", arguments={"path": "a.py"})

    def script(request: ChatRequest) -> ChatReply | str | BaseException:
        asked = request.messages[-1].content
        special: dict[str, ChatReply | BaseException] = {
            "call": ChatReply(tool_calls=(call,)),
            "fail": ValueError("as scripted"),
        }
        return special.get(asked) or asked.upper()

    model = ScriptedModel(script)
    answered = asyncio.run(model.complete(ask("hello")))
    assert (answered.text, answered.model, answered.profile) == ("HELLO", "scripted", "scripted")
    assert answered.max_completion_tokens == 8000
    assert answered.usage == Usage(calls=1, prompt_tokens=6, completion_tokens=2)
    called = asyncio.run(model.complete(ask("call")))
    assert (called.tool_calls, called.finish_reason) == ((call,), "tool_calls")
    with pytest.raises(ValueError, match="as scripted"):
        asyncio.run(model.complete(ask("fail")))
    assert [request.messages[0].content for request in model.requests] == ["hello", "call", "fail"]


# --- stopping and starting --------------------------------------------------------------------------------------------


def test_a_cancelled_question_stays_cancelled_and_leaves_no_connection() -> None:
    with GroqServer([hold(), text("Hi.")]) as server:
        client = Client(settings(server.url))

        async def ask_and_stop() -> None:
            question = asyncio.create_task(client.pool.complete("main", ask()))
            await asyncio.to_thread(server.holding.wait, 10)
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
            model: Any = client.pool._exchange.opened["main"]
            assert model._client is None

        asyncio.run(ask_and_stop())
        assert client.told() == ["model_called"]
        assert client.complete().text == "Hi."


def test_a_pool_serves_one_loop_after_another() -> None:
    with GroqServer([text("one"), text("two"), text("three")]) as server:
        client = Client(settings(server.url))
        assert [client.complete().text for _ in range(3)] == ["one", "two", "three"]


def test_a_pool_waits_by_itself() -> None:
    with GroqServer([error(500, headers={"retry-after-ms": "1"}), text("Hi.")]) as server:
        own = pool(settings(server.url), KEYS)

        async def ask_once() -> ChatReply:
            try:
                return await own.complete("main", ask())
            finally:
                await own.close()

        assert asyncio.run(ask_once()).usage.retries == 1


def test_importing_the_pool_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from codur.llm import model, pool\n"
        "from codur.config.settings import Settings\n"
        "from codur.types import Limits\n"
        "from codur.llm.pool_options import PoolOptions\n"
        "p = pool.ModelPool(Settings(), {'GROQ_API_KEY': 'k'}, Limits(), PoolOptions())\n"
        "assert p.available()\n"
        "p.why_unavailable()\n"
        "print(sorted({'groq', 'httpx', 'asyncio', 'pydantic', 'anyio', 'ssl', 'email'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (done.stdout, done.stderr) == ("[]\n", "")
