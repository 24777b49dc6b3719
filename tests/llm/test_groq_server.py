"""The test server itself: it records, counts what was not expected, and lets go what it holds."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from codur.structs import replace
from tests.support.groq_server import GroqServer, error, text

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(url: str, body: Any) -> tuple[int, Any]:
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    try:
        with DIRECT.open(request, timeout=300) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, json.load(failure)


def test_replies_come_in_order_and_then_run_out() -> None:
    with GroqServer([text("one"), error(418, "Tea.")]) as server:
        url = f"{server.url}/openai/v1/chat/completions"
        outcomes = [post(url, {"n": 1}), post(f"{server.openai_url}/chat/completions", {"n": 2}), post(url, {"n": 3})]
    assert outcomes[0][1]["choices"][0]["message"] == {"role": "assistant", "content": "one"}
    assert outcomes[1:] == [
        (418, {"error": {"message": "Tea.", "type": "invalid_request_error"}}),
        (500, {"error": {"message": "The test server has no reply for request 3.", "type": "invalid_request_error"}}),
    ]
    assert (server.bodies, server.unexpected) == ([{"n": 1}, {"n": 2}, {"n": 3}], 1)
    assert server.requests[0].headers["content-type"] == "application/json"


def test_another_path_is_unexpected() -> None:
    with GroqServer([text("one")]) as server:
        assert post(f"{server.url}/v2/chat", {})[0] == 404
    assert server.unexpected == 1


def test_a_reply_can_depend_on_the_request() -> None:
    with GroqServer(lambda body: replace(text(body["say"]), delay_s=0.01)) as server:
        status, answer = post(f"{server.openai_url}/chat/completions", {"say": "hi"})
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "hi")


def test_an_error_in_the_replies_is_unexpected(capsys: pytest.CaptureFixture[str]) -> None:
    with GroqServer(lambda body: text(body["missing"])) as server, pytest.raises(OSError, match=r"."):
        post(f"{server.openai_url}/chat/completions", {})
    assert server.unexpected == 1
    assert "KeyError: 'missing'" in capsys.readouterr().err
