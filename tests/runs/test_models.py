"""Which model a run asks when none is named, what it shows of answers, and how alike its requests begin."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.events import AnswerDelta, Event, ModelChosen
from codur.session.host import Host
from codur.session.task_run import run_task
from codur.types import RunResult, Task
from tests.runs.kit import EDIT, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, fill, settings_for
from tests.support.anthropic_server import AnthropicServer, said
from tests.support.chat_streams import streamed, words
from tests.support.groq_server import GroqServer, ServerReply, calls, json_reply
from tests.support.ollama_server import OllamaServer

EXPLAIN = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.95,
        "detected_files": ["main.py"],
        "suggested_action": "explain",
        "reasoning": "A question.",
    }
)


def play(
    directory: Path, server: GroqServer, prompt: str, *, environ: dict[str, str] | None = None, stream: bool = False
) -> tuple[RunResult, list[Event]]:
    given = settings_for(server)
    ollama = structs.replace(given.providers["ollama"], base_url=server.openai_url)
    anthropic = structs.replace(given.providers["anthropic"], base_url=server.url)
    given = structs.replace(given, providers={**given.providers, "ollama": ollama, "anthropic": anthropic})
    if isinstance(server, AnthropicServer):
        given = structs.replace(
            given, llm=structs.replace(given.llm, default_profile="claude-sonnet", fast_profile="claude-haiku")
        )
    variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(environ or {})}
    events: list[Event] = []
    result = run_task(
        Task(prompt=prompt, workspace=str(directory)),
        given,
        host=Host(environ=variables, home=Path("/nonexistent"), stream=stream),
        emit=events.append,
    )
    return result, events


def edit(code: str) -> ServerReply:
    return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))


def test_without_a_key_a_run_is_done_with_the_model_that_ollama_has(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    with OllamaServer(["qwen3:8b"], [EDIT, edit(MEDIAN_RIGHT)]) as server:
        result, events = play(tmp_path, server, "main.py is wrong")
    assert (result.outcome, result.model_calls, server.unexpected) == ("done", 2, 0)
    assert [body["model"] for body in server.bodies] == ["qwen3:8b", "qwen3:8b"]
    assert server.looked_up == ["/v1/models", "/api/ps", "/api/show"]  # which model, and how much fits in its window
    reason = f"GROQ_API_KEY is not set, and qwen3:8b is served at {server.openai_url}."
    assert ModelChosen(profile="local", model="qwen3:8b", reason=reason) in events
    assert f"model: local (qwen3:8b): {reason}" in result.notes


@pytest.mark.parametrize("prompt", ["hello", "list files", "show main.py"])
def test_what_needs_no_model_looks_for_none(prompt: str, tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    with OllamaServer(["qwen3:8b"]) as server:
        result, events = play(tmp_path, server, prompt)
    assert (result.exit_code, result.model_calls, server.looked_up) == (0, 0, [])
    assert not [event for event in events if isinstance(event, ModelChosen)]


def test_an_explanation_is_told_while_it_comes(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    answer = "It prints two medians, the middle values of two lists."
    with GroqServer([EXPLAIN, streamed(words(answer))]) as server:
        result, events = play(
            tmp_path,
            server,
            "why does main.py need a median?",
            environ={"GROQ_API_KEY": "gsk_x0123456789"},
            stream=True,
        )
    assert (result.exit_code, server.unexpected) == (0, 0)
    assert answer in result.answer
    assert "".join(event.text for event in events if isinstance(event, AnswerDelta)) == answer


def first_difference(one: str, two: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def test_two_coding_requests_of_a_run_begin_alike_as_far_as_they_can(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    with GroqServer([EDIT, edit(MEDIAN_ODD_ONLY), edit(MEDIAN_RIGHT)]) as server:
        result, _ = play(tmp_path, server, "main.py is wrong", environ={"GROQ_API_KEY": "gsk_x0123456789"})
    assert (result.outcome, server.unexpected) == ("done", 0)
    first, second = server.bodies[1:]
    assert first["tools"] == second["tools"]
    assert first["messages"][0] == second["messages"][0]
    one, two = (body["messages"][1]["content"] for body in (first, second))
    assert first_difference(one, two) >= one.index("main.py is wrong") + len("main.py is wrong"), (
        "the task comes before what failed"
    )
    common = first_difference(*(json.dumps(body["messages"]) for body in (first, second)))
    assert common > len(json.dumps(first["messages"][0]))


def test_a_run_with_anthropic_is_done_and_its_requests_begin_alike(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)

    def use(code: str, number: int) -> ServerReply:
        given = {"path": "main.py", "name": "median", "code": code}
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "replace_function", "input": given}
        return said({"type": "thinking", "thinking": "", "signature": "c2ln"}, call, stop_reason="tool_use")

    decided: dict[str, Any] = json.loads(EDIT.body["choices"][0]["message"]["content"])  # type: ignore[index,call-overload]
    classified = said({"type": "text", "text": json.dumps(decided)})
    with AnthropicServer([classified, use(MEDIAN_ODD_ONLY, 1), use(MEDIAN_RIGHT, 2)]) as server:
        result, _ = play(tmp_path, server, "main.py is wrong", environ={"ANTHROPIC_API_KEY": "sk-ant-x0123456789"})
    assert (result.outcome, result.model_calls, server.unexpected) == ("done", 3, 0)
    assert [body["model"] for body in server.bodies] == ["claude-haiku-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5"]
    first, second = server.bodies[1:]
    assert (first["tools"], first["system"]) == (second["tools"], second["system"])
    assert first["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert first["tool_choice"] == {"type": "auto"}, "these models refuse a demand for a call"
    assert "temperature" not in first
    assert server.bodies[0]["output_config"]["format"]["type"] == "json_schema"
