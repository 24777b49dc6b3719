"""Whole runs at default settings against a server with the rules of Groq's free plan: every request fits."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from codur.events import Event, Note
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import Limits, Task
from tests.runs.kit import (
    EDIT,
    KEY,
    MEDIAN,
    MEDIAN_EXPECTED,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    contents,
    fill,
    host,
    settings_for,
)
from tests.support.groq_server import GroqServer, ServerReply, calls, error, json_reply, text

TOKENS_PER_MINUTE = 8000
MINUTE_S = 3.0
"""The server's minute, so that the test does not take any."""
BYTES_PER_TOKEN = 3.6

PLAN = json_reply(
    {
        "reasoning": "One function.",
        "steps": [
            {
                "id": "edit",
                "action": "coding",
                "capability": "agent:codur-coding",
                "objective": "Write median.",
                "expected_output": "",
                "success_criteria": "",
                "inputs": [],
                "arguments": [],
            }
        ],
    }
)
UNSURE = json_reply(
    {
        "task_type": "code_fix",
        "confidence": 0.3,
        "detected_files": ["main.py"],
        "suggested_action": "plan",
        "reasoning": "It is not clear.",
    }
)


class FreePlan:
    """Refuses as Groq does, for each model by itself: 413 for what can never fit, 429 for what does not fit now.

    The longest answer counts.

    Args:
        tells: the limits are told with each answer.
    """

    def __init__(self, answers: Any, *, tells: bool = True) -> None:
        self._tells = tells
        self.statuses: list[int] = []
        self.sizes: list[int] = []
        self._answers = answers
        self._levels: dict[str, tuple[float, float]] = {}
        self._level = float(TOKENS_PER_MINUTE)
        self._lock = threading.Lock()

    def __call__(self, body: Any) -> ServerReply:
        with self._lock:
            now = time.monotonic()
            rate = TOKENS_PER_MINUTE / MINUTE_S
            level, at = self._levels.get(body["model"], (float(TOKENS_PER_MINUTE), now))
            self._level = min(TOKENS_PER_MINUTE, level + (now - at) * rate)
            self._levels[body["model"]] = (self._level, now)
            shown = {name: body[name] for name in ("messages", "tools", "response_format") if name in body}
            prompt = int(len(json.dumps(shown, ensure_ascii=False).encode()) / BYTES_PER_TOKEN)
            size = prompt + body["max_completion_tokens"]
            self.sizes.append(size)
            if size > TOKENS_PER_MINUTE:
                return self._refuse(413, f"Request too large: tokens per minute (TPM): Limit 8000, Requested {size}")
            if size > self._level:
                return self._refuse(429, "Rate limit reached.", retry_after=(size - self._level) / rate)
            self._level -= size
            self._levels[body["model"]] = (self._level, now)
            self.statuses.append(200)
            reply: ServerReply = self._answers(body)
            usage = {"prompt_tokens": prompt, "completion_tokens": 100, "total_tokens": prompt + 100}
            assert isinstance(reply.body, dict)
            return replace(reply, body={**reply.body, "usage": usage}, headers={**reply.headers, **self._headers()})

    def _headers(self) -> dict[str, str]:
        if not self._tells:
            return {}
        missing = TOKENS_PER_MINUTE - self._level
        return {
            "x-ratelimit-limit-tokens": str(TOKENS_PER_MINUTE),
            "x-ratelimit-remaining-tokens": str(int(self._level)),
            "x-ratelimit-reset-tokens": f"{missing * MINUTE_S / TOKENS_PER_MINUTE:.3f}s",
        }

    def _refuse(self, status: int, message: str, **more: Any) -> ServerReply:
        self.statuses.append(status)
        return error(status, message, code="rate_limit_exceeded", headers=self._headers(), **more)


LONG = "".join(
    f'def helper_{number}(value):\n    """Gives {number} more."""\n    return value + {number}\n\n\n'
    for number in range(800)
)
NOISE = "\n".join(f"print('line {number}', 'x' * 60)" for number in range(400))


def answers(first: ServerReply) -> Any:
    """A model that classifies with `first`, plans, explains, and is right at the third attempt."""
    attempts = iter([MEDIAN_ODD_ONLY, MEDIAN_ODD_ONLY.replace("sorted(values)", "list(sorted(values))")])

    def reply(body: Any) -> ServerReply:
        shown = json.dumps(body.get("response_format") or {})
        if body.get("tools"):
            names = [tool["function"]["name"] for tool in body["tools"]]
            if "replace_in_file" not in names:
                asked = sum(message["role"] == "tool" for message in body["messages"])
                return calls(("read_file", {"path": "big.py"})) if not asked else text("It computes medians.")
            code = next(attempts, MEDIAN_RIGHT)
            return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))
        return PLAN if "steps" in shown else first

    return reply


@pytest.mark.parametrize(
    ("prompt", "files", "first", "outcome"),
    [
        pytest.param("main.py is wrong", {"main.py": MEDIAN}, EDIT, "done", id="a small file"),
        pytest.param("main.py is wrong", {"main.py": LONG + MEDIAN, "big.py": LONG}, EDIT, "done", id="a long file"),
        pytest.param(
            "main.py is wrong so that it prints the medians. " + "It must be exact. " * 800,
            {
                "main.py": LONG + MEDIAN.replace("print(median([3", NOISE + "\nprint(median([3"),
                **{f"m{n}.py": LONG for n in range(40)},
            },
            UNSURE,
            "any",
            id="a long task, plans, much output, many files",
        ),
        pytest.param("explain what big.py is for", {"big.py": LONG + MEDIAN}, UNSURE, "any", id="a question"),
    ],
)
def test_every_request_fits(
    prompt: str, files: dict[str, str], first: ServerReply, outcome: str, tmp_path: Path
) -> None:
    fill(tmp_path, {**files, "expected.txt": MEDIAN_EXPECTED})
    plan = FreePlan(answers(first))
    with GroqServer(plan) as server:
        task = Task(prompt=prompt, workspace=str(tmp_path), limits=Limits())
        result = run_task(task, settings_for(server), host=host(), emit=lambda _: None)
        assert server.unexpected == 0
    assert plan.statuses
    assert set(plan.statuses) == {200}, f"{plan.sizes}, {result.reason}"
    assert max(plan.sizes) <= TOKENS_PER_MINUTE
    if outcome != "any":
        assert result.outcome == outcome, result.reason


def test_where_nothing_is_told_a_refusal_is_learnt_from_and_the_next_run_starts_right(tmp_path: Path) -> None:
    for name in ("first", "second"):
        fill(tmp_path / name, {"main.py": LONG + MEDIAN, "big.py": LONG, "expected.txt": MEDIAN_EXPECTED})
    told: list[Event] = []
    refused: list[int] = []
    with GroqServer(lambda body: plan(body)) as server:
        for name in ("first", "second"):
            plan = FreePlan(answers(EDIT), tells=False)
            task = Task(prompt="fix main.py", workspace=str(tmp_path / name), limits=Limits())
            settings = settings_for(server)
            result = run_task(task, settings, host=host(state=tmp_path / "state"), emit=told.append)
            assert result.outcome == "done", result.reason
            refused.append(plan.statuses.count(413))
    assert refused == [1, 0]
    (note,) = (event.text for event in told if isinstance(event, Note) and "was cut" in event.text)
    assert note.startswith("groq (openai/gpt-oss-120b) takes no more than ")
    kept = (tmp_path / "state" / "cache" / "limits.json").read_text()
    assert KEY not in kept


@pytest.mark.parametrize("pre_plan", [True, False])
def test_a_task_that_cannot_be_told_costs_no_call(pre_plan: bool, tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    with GroqServer() as server:
        settings = settings_for(server, planning={"use_llm_pre_plan": pre_plan})
        task = Task(
            prompt="main.py is wrong. " + "It must be exact. " * 11_000, workspace=str(tmp_path), limits=Limits()
        )
        result = run_task(task, settings, host=host(), emit=lambda _: None)
        assert server.requests == []
    assert (result.outcome, result.exit_code) == ("limit", 4)
    assert result.reason.startswith("The task would need a request of about 57,8")
    assert result.reason.endswith("tokens, and groq (openai/gpt-oss-120b) gets 40,000 at most.")
    assert "raise llm.profiles.gpt-oss-120b.request_tokens" in result.remedy
    assert contents(tmp_path) == NEEDS_MODEL
