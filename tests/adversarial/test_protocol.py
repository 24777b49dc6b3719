"""G: what a model's service can do wrong, beyond what the tests of the client and of runs show."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codur.errors import CodurError, ModelUnavailable
from codur.structs import replace
from codur.types import Limits
from tests.llm.kit import READ_FILE, Client, ask, settings
from tests.runs.kit import EDIT, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, play
from tests.support.groq_server import GroqServer, ServerReply, calls, cut, error, json_reply, raw, text

RIGHT = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
HOSTILE = calls(("write_file", {"path": "owned.py", "content": "x" * 40}))
QUESTION = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.9,
        "detected_files": ["main.py"],
        "suggested_action": "explain",
        "reasoning": "A question.",
    }
)


def body_length(reply: ServerReply) -> int:
    return len(json.dumps(reply.body))


@contextmanager
def closed_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "https://127.0.0.1:{tls}"])
def test_g05_what_cannot_be_reached_is_tried_within_bounds_and_told(url: str) -> None:
    with closed_port() as port, GroqServer() as server:
        tls = server.url.rpartition(":")[2]
        client = Client(settings(url.format(port=port, tls=tls), max_attempts=3))
        with pytest.raises(ModelUnavailable) as caught:
            client.complete()
    assert caught.value.remedy
    assert len(client.waits) <= 2


def test_g06_g07_an_answer_cut_at_any_byte_is_never_carried_out() -> None:
    """Every reply is cut at another place; what follows is a whole answer without a call."""
    places = range(0, body_length(HOSTILE), 5)
    replies = [reply for place in places for reply in (cut(HOSTILE, place), text("Whole."))]
    with GroqServer(replies) as server:
        for _ in places:
            reply = Client(settings(server.url)).complete(ask(tools=(READ_FILE,)))
            assert (reply.text, reply.tool_calls) == ("Whole.", ())
        sent = server.bodies
    assert all(first == second for first, second in zip(sent[::2], sent[1::2], strict=True))


def test_g08_a_call_in_an_answer_that_was_cut_off_is_not_carried_out(tmp_path: Path) -> None:
    short = calls(
        ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}), finish_reason="length"
    )
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, short, RIGHT])
    assert run.result.outcome == "done"
    assert "cut off" in json.dumps(run.requests[2].body["messages"])


def test_g10_an_edit_goes_with_the_one_beside_it_that_cannot_be_made(tmp_path: Path) -> None:
    pair = calls(
        ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}),
        ("replace_function", {"path": "main.py", "name": "no_such_function", "code": "x = 1\n"}),
    )
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, pair, RIGHT])
    assert run.result.outcome == "done"
    assert "no_such_function" in json.dumps(run.requests[2].body["messages"])


def test_g11_an_answer_in_many_bytes_and_odd_forms_is_read() -> None:
    body = json.dumps(text("ü" * 1_000_000).body, ensure_ascii=False).encode()
    with GroqServer([raw(b"\r\n" + body + b"\r\n", content_type="application/json; charset=utf-8")]) as server:
        assert Client(settings(server.url)).complete().text == "ü" * 1_000_000


def _explore(tmp_path: Path, *again: ServerReply) -> tuple[Any, list[str]]:
    run = play(tmp_path, NEEDS_MODEL, "what is the purpose of main.py?", [QUESTION, *again, *[text("It prints.")] * 3])
    asked = [json.dumps(request.body["messages"]) for request in run.requests]
    return run, asked


def test_g14_a_call_that_is_repeated_is_not_carried_out_again(tmp_path: Path) -> None:
    same = calls(("read_file", {"path": "main.py"}))
    run, asked = _explore(tmp_path, *[same] * 50)
    assert len(run.requests) <= 12
    assert any("already made" in message for message in asked)


def test_g15_a_cycle_of_calls_ends(tmp_path: Path) -> None:
    first, second = calls(("read_file", {"path": "main.py"})), calls(("read_file", {"path": "expected.txt"}))
    run, asked = _explore(tmp_path, *[first, second] * 25)
    assert len(run.requests) <= 12
    assert any("already made" in message for message in asked)


def test_g15_the_same_wrong_edit_again_and_again_ends(tmp_path: Path) -> None:
    wrong = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))
    replies = iter([EDIT])
    run = play(
        tmp_path, NEEDS_MODEL, "main.py is wrong", lambda body: next(replies, wrong) if not body.get("tools") else wrong
    )
    assert run.result.outcome != "done"
    assert len(run.requests) <= 8
    assert run.files == NEEDS_MODEL


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        error(413, "Request too large.", code="request_too_large"),
    ],
)
def test_g16_a_request_that_is_too_long_is_not_sent_without_end(refusal: ServerReply) -> None:
    with GroqServer(lambda _: refusal) as server:
        client = Client(settings(server.url))
        with pytest.raises(CodurError) as caught:
            client.complete()
        assert len(server.requests) <= 2
    assert caught.value.remedy


def _ask_often(client: Client) -> None:
    for _ in range(50):
        client.complete()


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": -1, "total_tokens": -2}])
def test_g17_a_budget_holds_whatever_the_usage_says(usage: dict[str, Any] | None) -> None:
    with GroqServer(lambda _: text("x" * 3500, usage=usage)) as server:
        client = Client(settings(server.url), limits=replace(Limits(), max_tokens=5000))
        with pytest.raises(CodurError, match=r"may need|limit"):
            _ask_often(client)
        assert len(server.requests) < 10


def test_g18_a_thousand_calls_in_one_answer_are_capped(tmp_path: Path) -> None:
    many = calls(*[("grep_files", {"pattern": f"p{number}"}) for number in range(1000)])
    run, _ = _explore(tmp_path, many)
    ran = [event for event in run.events if event.kind == "tool_ran"]
    assert 0 < len(ran) <= 20
    assert run.unexpected == 0
