"""`auto`: Groq if its key is set, else a local server that runs, else nobody."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import AUTO, LlmSettings, Profile, Provider, Settings
from codur.errors import ModelUnavailable
from codur.events import ModelChosen
from codur.llm.profiles.auto import server_problem
from codur.llm.profiles.local_models import served_models
from tests.llm.kit import KEYS, Client
from tests.support.groq_server import GroqServer, ServerReply, hold, raw, text
from tests.support.ollama_server import OllamaServer
from tests.support.scripted_model import ScriptedModel


def at(url: str, **llm: Any) -> Settings:
    """The default settings, with Ollama's place."""
    given = Settings()
    ollama = structs.replace(given.providers["ollama"], base_url=url)
    return structs.replace(
        given, providers={**given.providers, "ollama": ollama}, llm=structs.replace(given.llm, **llm)
    )


def test_groq_if_its_key_is_set_without_a_look_elsewhere() -> None:
    with OllamaServer(["gpt-oss:20b"]) as server:
        client = Client(at(server.openai_url))
        assert (client.pool.profiles.default, client.pool.profiles.fast) == ("gpt-oss-120b", "gpt-oss-20b")
        assert client.pool.available()
    assert server.looked_up == []
    chosen = ModelChosen(profile="gpt-oss-120b", model="openai/gpt-oss-120b", reason="GROQ_API_KEY is set.")
    assert client.events == [chosen], "it is told once"


@pytest.mark.parametrize(
    ("pulled", "model"),
    [
        (["llama3.2:3b", "gpt-oss:20b"], "gpt-oss:20b"),
        (["nomic-embed-text:latest", "qwen3:8b", "llama3.2:3b"], "qwen3:8b"),
    ],
)
def test_else_a_model_that_ollama_has(pulled: list[str], model: str) -> None:
    with OllamaServer(pulled, [text("Hi."), text("Ho.")]) as server:
        client = Client(at(server.openai_url), environ={})
        assert client.pool.available()
        assert client.pool.profile(AUTO).model == model
        replies = [client.complete(profile=name) for name in (AUTO, client.pool.profiles.fast)]
    assert [(reply.profile, reply.text) for reply in replies] == [("local", "Hi."), ("local", "Ho.")]
    assert [body["model"] for body in server.bodies] == [model, model]
    assert server.looked_up == ["/v1/models"], "it is looked up once"
    reason = f"GROQ_API_KEY is not set, and {model} is served at {server.openai_url}."
    assert client.events[0] == ModelChosen(profile="local", model=model, reason=reason)


def test_a_model_without_a_tag_is_the_latest() -> None:
    with OllamaServer(["a:1", "qwen3:latest"]) as server:
        given = at(server.openai_url)
        local = structs.replace(given.llm.profiles["local"], model="qwen3")
        given = structs.replace(given, llm=structs.replace(given.llm, profiles={**given.llm.profiles, "local": local}))
        assert Client(given, environ={}).pool.profile(AUTO).model == "qwen3:latest"


@pytest.mark.parametrize(
    ("listing", "problem"),
    [
        (None, "the server at {} has no model"),
        (
            ServerReply(body={"data": [{"id": "bge-m3"}, {"id": 7}, "x"]}),
            "the server at {} has no model",
        ),
        (raw("<html>Welcome</html>"), "nobody answers at {}"),
        (raw("{}"), "nobody answers at {}"),
        (raw("[]"), "nobody answers at {}"),
        (raw("[" * 100_000), "nobody answers at {}"),
        (ServerReply(status=500, body={"data": []}), "nobody answers at {}"),
        (ServerReply(status=302, headers={"location": "http://192.0.2.1/"}), "nobody answers at {}"),
        (raw(b'{"data": [' + b" " * 2_000_000 + b"]}"), "nobody answers at {}"),
    ],
)
def test_else_nobody(listing: ServerReply | None, problem: str) -> None:
    with OllamaServer([], listing=listing) as server:
        client = Client(at(server.openai_url), environ={})
        assert not client.pool.available()
        with pytest.raises(ModelUnavailable) as caught:
            client.complete(profile=AUTO)
    reason = f"GROQ_API_KEY is not set, and {problem.format(server.openai_url)}."
    way = "start Ollama: `ollama serve`, then " if "nobody" in problem else "give Ollama a model: "
    remedy = f"Set it with `export GROQ_API_KEY=…`, or {way}`ollama pull gpt-oss:20b`."
    assert (caught.value.message, caught.value.remedy) == (reason, remedy)
    assert (client.pool.why_unavailable().message, client.pool.why_unavailable().remedy) == (reason, remedy)
    assert client.events == [ModelChosen(profile="", model="", reason=reason)]
    assert server.requests == []


def test_a_server_that_does_not_run_is_found_out_at_once() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    client = Client(at(url), environ={})
    assert not client.pool.available()
    assert "nobody answers" in repr(client.events)


def test_a_server_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert served_models(f"http://127.0.0.1:{silent.getsockname()[1]}/v1") is None


def test_a_server_that_answers_drop_by_drop_is_not_waited_for() -> None:
    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            stop.wait(60)

    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        assert served_models(f"http://127.0.0.1:{server.getsockname()[1]}/v1") is None
        stop.set()
        thread.join()


def test_offline_nobody_is_looked_for() -> None:
    with OllamaServer(["qwen3:8b"]) as server:
        client = Client(at(server.openai_url), environ={}, offline=True)
        assert not client.pool.available()
        assert client.pool.problem(AUTO) == "The run is offline."
        with pytest.raises(ModelUnavailable):
            client.complete(profile=AUTO)
    assert (server.looked_up, client.events) == ([], [])


def test_a_profile_that_is_named_needs_no_look() -> None:
    with OllamaServer(["qwen3:8b"]) as server:
        client = Client(at(server.openai_url, default_profile="local", fast_profile="local"), environ={})
        assert client.pool.available()
        assert (client.pool.profiles.default, client.pool.profiles.fast) == ("local", "local")
        assert client.pool.profile(AUTO).model == "gpt-oss:20b"
    assert (server.looked_up, client.events) == ([], [])


def test_one_may_be_named_and_the_other_not() -> None:
    client = Client(at("http://127.0.0.1:1/v1", default_profile="local"))
    assert (client.pool.profiles.default, client.pool.profiles.fast) == ("local", "gpt-oss-20b")


def test_models_that_are_given_count_as_at_hand() -> None:
    scripted = ScriptedModel(["Hi."], profile_name="gpt-oss-20b")
    client = Client(at("http://127.0.0.1:1/v1"), environ={}, models={"gpt-oss-20b": scripted})
    assert (client.pool.profiles.default, client.pool.profiles.fast) == ("gpt-oss-20b", "gpt-oss-20b")
    assert client.complete(profile=AUTO).text == "Hi."


def test_a_local_server_of_another_kind_is_found_too() -> None:
    with GroqServer([text("Hi.")], gets={"/v1/models": ServerReply(body={"data": [{"id": "mine.gguf"}]})}) as server:
        given = Settings(
            llm=LlmSettings(profiles={"own": Profile(provider="lm", model="x")}, fallback_profiles=()),
            providers={"lm": Provider(base_url=server.openai_url)},
        )
        client = Client(given, environ={})
        assert client.complete(profile=AUTO).text == "Hi."
    assert server.bodies[0]["model"] == "mine.gguf"
    assert "No profile of Groq is set up" in repr(client.events[0])


def test_a_key_alone_is_enough_for_a_service_that_is_slow_to_answer() -> None:
    with OllamaServer([], listing=hold()) as server:
        assert Client(at(server.openai_url), environ=KEYS).pool.available()
    assert server.looked_up == []


def test_whether_a_local_server_can_answer_for_a_profile() -> None:
    with OllamaServer(["qwen3:8b"]) as server:
        given = at(server.openai_url)
        assert server_problem(given, "local") == (
            f"The server at {server.openai_url} does not have gpt-oss:20b.",
            "Give Ollama a model: `ollama pull gpt-oss:20b`.",
        )
    assert server_problem(given, "local") == (
        f"Nobody answers at {server.openai_url}.",
        "Start Ollama: `ollama serve`, then `ollama pull gpt-oss:20b`.",
    )
    with OllamaServer(["gpt-oss:20b"]) as server:
        assert server_problem(at(server.openai_url), "local") == ("", "")
        assert server_problem(at(server.openai_url), "gpt-oss-120b") == ("", "")
