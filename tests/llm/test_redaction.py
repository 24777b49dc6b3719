"""No secret is sent to a model, and none is in what a failing client says."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from codur.config.settings import Provider
from codur.errors import CodurError
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.redaction import REDACTED, Redactor
from codur.types import Limits, Message, ToolCall
from tests.llm.kit import CANARY, KEYS, READ_FILE, SCHEMA, Client, ask, settings
from tests.support.groq_server import GroqServer, ServerReply, cut, error, failed_generation, hang_up, hold, raw, text
from tests.support.scripted_model import ScriptedModel

PROJECT = Path(__file__).resolve().parents[2]
OTHER = "db-passw0rd-canary"


def conversation(secret: str) -> ChatRequest:
    """A request that holds `secret` in every place that a run fills."""
    call = ToolCall(id="1", name="read_file", arguments={"path": f"{secret}.txt", "list": [{"deep": secret}]})
    return ChatRequest(
        messages=(
            Message(role="system", content=f"You know {secret}."),
            Message(role="user", content=json.dumps({"env": secret})),
            Message(role="assistant", content=secret, tool_calls=(call,)),
            Message(role="tool", content=f"GROQ_API_KEY={secret}\n", tool_call_id="1"),
        ),
        purpose="test",
        tools=(READ_FILE,),
    )


@pytest.mark.parametrize("api", ["groq", "openai"])
@pytest.mark.parametrize("style", ["native", "json"])
@pytest.mark.parametrize("secret", [CANARY, OTHER])
def test_secrets_of_the_environment_are_in_no_request(api: str, style: str, secret: str) -> None:
    with GroqServer([error(503), text("Hello.")]) as server:
        url = server.url if api == "groq" else server.openai_url
        client = Client(settings(url, api=api, tool_calls=style), environ={**KEYS, "DB_PASSWORD": OTHER})
        client.complete(conversation(secret))
    assert len(server.bodies) == 2
    for body in server.bodies:
        assert secret not in json.dumps(body)
        assert json.dumps(body).count(REDACTED) == 6


def test_the_key_of_a_provider_is_known_by_its_settings_whatever_its_name() -> None:
    plain = "a-plain-value-0815"
    given = settings("http://127.0.0.1:1", key_env="SERVICE", providers={"b": Provider(api_key_env="B_ACCESS")})
    model = ScriptedModel(["Hello."])
    client = Client(given, environ={"SERVICE": plain, "B_ACCESS": "another-value-4711"}, models={"main": model})
    client.complete(ask(f"{plain} and another-value-4711"))
    assert model.requests[0].messages[0].content == f"{REDACTED} and {REDACTED}"


def test_what_the_service_says_of_a_bad_answer_goes_back_to_the_model_redacted() -> None:
    with GroqServer([failed_generation(f"<broken {CANARY}"), text("Hello.")]) as server:
        Client(settings(server.url)).complete(ask(schema=SCHEMA, schema_name="a"))
    assert len(server.bodies) == 2
    assert CANARY not in json.dumps(server.bodies)


def test_a_redactor_can_be_given() -> None:
    model = ScriptedModel(["Hello."])
    options = PoolOptions(models={"main": model}, redactor=Redactor(["known-to-the-caller"]))
    pool = ModelPool(settings(), {}, Limits(), options)
    asyncio.run(pool.complete("main", ask("known-to-the-caller")))
    assert model.requests[0].messages[0].content == REDACTED


def test_a_request_without_secrets_is_sent_as_it_is() -> None:
    model = ScriptedModel(["Hello."])
    request = conversation("nothing")
    Client(settings(), models={"main": model}).complete(request)
    assert model.requests[0] == request


FAILURES = [
    error(401, f"Incorrect API key provided: {CANARY}."),
    error(500, f"Bearer {CANARY}"),
    raw(f"<html>{CANARY}</html>", status=502),
    raw(f"not json {CANARY}"),
    cut(text(f"Hello {CANARY}")),
    hang_up(),
    hold(),
    ServerReply(body={"error": {"message": f"key {CANARY}"}}, status=400),
]


@pytest.mark.parametrize("reply", FAILURES, ids=range(len(FAILURES)))
def test_no_exception_traceback_or_log_of_the_client_holds_the_key(
    reply: ServerReply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with GroqServer([reply]) as server:
        client = Client(settings(server.url, max_attempts=1, timeout_s=0.5))
        with pytest.raises(CodurError) as caught:
            client.complete()
        server.release()
    told = "".join(traceback.format_exception(caught.value))
    seen: BaseException | None = caught.value
    while seen is not None:
        told += f"{seen!r} {seen} {vars(seen)}"
        seen = seen.__cause__ or seen.__context__
    assert CANARY not in told + caplog.text


def test_the_debug_log_of_the_sdk_holds_no_key() -> None:
    """The SDK logs its requests when `GROQ_LOG=debug` is set."""
    program = (
        "import asyncio, os, sys\n"
        "from codur.config.settings import *\n"
        "from codur.llm.pool import ModelPool\n"
        "from codur.llm.pool_options import PoolOptions\n"
        "from tests.llm.kit import ask, settings\n"
        "from codur.types import Limits\n"
        "pool = ModelPool(settings(sys.argv[1]), os.environ, Limits(), PoolOptions())\n"
        "print(asyncio.run(pool.complete('main', ask('Hello'))).text)\n"
    )
    with GroqServer([text("Hello.")]) as server:
        ended = subprocess.run(
            [sys.executable, "-c", program, server.url],
            cwd=PROJECT,
            env={**os.environ, **KEYS, "GROQ_LOG": "debug"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.stdout == "Hello.\n"
    assert "HTTP Request" in ended.stderr
    assert CANARY not in ended.stderr
