"""Whole runs of agents that come no further: who takes over, from where, and when nobody does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import AgentPreferences, Profile, Settings
from codur.errors import ModelUnavailable
from codur.events import ignore
from codur.llm.model import ChatReply, ChatRequest
from codur.session.host import Host
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import BestAttempt, Limits, RunResult, Task, ToolCall
from tests.runs.kit import EDIT, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, fill, host
from tests.support.scripted_model import Reply, ScriptedModel

FIRST, SECOND, AWAY = "gpt-oss-120b", "llm:gpt-oss-20b", "llm:away"
CLASSIFIED = json.loads(str(EDIT.body["choices"][0]["message"]["content"] if isinstance(EDIT.body, dict) else ""))


def edit(code: str) -> ChatReply:
    arguments = {"path": "main.py", "name": "median", "code": code}
    return ChatReply(tool_calls=(ToolCall(name="replace_function", arguments=arguments),))


def returning(value: str) -> ChatReply:
    return edit(f"def median(values):\n    return {value}\n")


RIGHT, HALF, NO_EDIT = edit(MEDIAN_RIGHT), edit(MEDIAN_ODD_ONLY), "I would rather not."
GONE = ModelUnavailable("the service is gone", remedy="Wait.")
USELESS = (returning("0"), returning("-1"), returning("0"))


class Coder(ScriptedModel):
    """Classifies as a fix, and answers coding requests from a script."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.coding: list[str] = []
        self._replies = iter(replies)
        super().__init__(self._answer)

    def _answer(self, request: ChatRequest) -> Reply:
        if request.purpose != "coding":
            return json.dumps(CLASSIFIED)
        self.coding.append(request.messages[-1].content)
        return next(self._replies)


@dataclass(frozen=True, kw_only=True)
class Played:
    result: RunResult
    first: Coder
    second: Coder
    program: str


def play(
    directory: Path, first: Sequence[Reply], second: Sequence[Reply] = (), *, limits: Limits | None = None, **given: Any
) -> Played:
    """A run with two models; what else is given are preferences, or fields of the task."""
    workspace = directory / "project"
    workspace.mkdir()
    fill(workspace, NEEDS_MODEL)
    settings = Settings()
    fields = {name: given.pop(name) for name in ("keep",) if name in given}
    settings = structs.replace(
        settings,
        agents=structs.replace(settings.agents, preferences=structs.replace(AgentPreferences(), **given)),
        llm=structs.replace(
            settings.llm,
            fallback_profiles=(),
            profiles={**settings.llm.profiles, "away": Profile(provider="groq", model="m")},
        ),
        repair=structs.replace(settings.repair, mode="off"),
    )
    models = {FIRST: Coder(first), SECOND.removeprefix("llm:"): Coder(second)}
    place: Host = replace(host(key=None), models=models)
    task = Task(prompt="main.py is wrong", workspace=str(workspace), limits=limits or Limits(), **fields)
    result = run_task(task, settings, host=place, emit=ignore)
    program = (workspace / "main.py").read_text()
    return Played(result=result, first=models[FIRST], second=models[SECOND.removeprefix("llm:")], program=program)


def test_the_sequence_is_failure_hint_next_agent_end(tmp_path: Path) -> None:
    run = play(tmp_path, USELESS, (returning("-2"), returning("-3"), returning("-2")), escalation=(SECOND,))
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("not_achieved", 1, 7)
    assert [attempt.by for attempt in run.result.attempts] == ["codur-coding"] * 3 + [SECOND] * 3
    assert ["# Hint" in text for text in run.first.coding] == [False, False, True]
    assert ["# Hint" in text for text in run.second.coding] == [True, False, True]
    assert run.result.reason == "stopped early: 3 attempts in a row came no further"
    assert run.program == NEEDS_MODEL["main.py"]


@pytest.mark.parametrize(("start", "begins_with"), [("best", "len(values) // 2"), ("clean", "NotImplementedError")])
def test_the_next_agent_starts_where_the_settings_say(start: str, begins_with: str, tmp_path: Path) -> None:
    run = play(tmp_path, (HALF, *USELESS), (RIGHT,), escalation=(SECOND,), escalation_start=start)
    assert (run.result.outcome, run.result.solved_by, run.result.best) == ("done", SECOND, None)
    assert begins_with in run.second.coding[0].split("# Files")[1]


def test_the_best_attempt_stays_the_best_after_a_clean_start(tmp_path: Path) -> None:
    useless = (returning("-2"), returning("-3"), returning("-2"))
    run = play(tmp_path, (HALF, *USELESS), useless, escalation=(SECOND,), escalation_start="clean", keep=True)
    assert run.result.best == BestAttempt(number=1, by="codur-coding", progress=0.5, kept=True)
    assert "len(values) // 2" in run.program
    assert run.result.changed_files == ("main.py",)


def test_an_agent_that_cannot_run_is_passed_over_with_a_note(tmp_path: Path) -> None:
    run = play(tmp_path, USELESS, (RIGHT,), escalation=(AWAY, SECOND))
    assert (run.result.outcome, run.result.solved_by) == ("done", SECOND)
    assert run.result.notes == ("llm:away was passed over: GROQ_API_KEY is not set.",)


def test_no_agent_takes_over_that_cannot_be_paid(tmp_path: Path) -> None:
    run = play(tmp_path, USELESS, (RIGHT,), escalation=(SECOND,), limits=Limits(max_llm_calls=4))
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("limit", 4, 4)
    assert "does not pay for an attempt of the next agent" in run.result.reason
    assert "--max-llm-calls" in run.result.remedy


def test_an_agent_has_one_turn(tmp_path: Path) -> None:
    run = play(tmp_path, USELESS, USELESS, escalation=("codur-coding", SECOND, SECOND, "agent:codur-coding"))
    assert [attempt.by for attempt in run.result.attempts] == ["codur-coding"] * 3 + [SECOND] * 3
    assert "stopped early" in run.result.reason


def test_without_an_order_nobody_takes_over(tmp_path: Path) -> None:
    run = play(tmp_path, (NO_EDIT, NO_EDIT, NO_EDIT), (RIGHT,), fallback_order=(SECOND,))
    assert (run.result.outcome, run.result.model_calls, run.result.best) == ("not_achieved", 4, None)
    assert "Nothing was applied in attempts 1, 2." in run.first.coding[2]


@pytest.mark.parametrize("before", [(), (returning("0"),)])
def test_another_agent_stands_in_for_one_that_cannot_run(before: tuple[Reply, ...], tmp_path: Path) -> None:
    run = play(tmp_path, (*before, GONE), (RIGHT,), fallback_order=("codur-coding", SECOND))
    assert (run.result.outcome, run.result.solved_by, run.result.reason) == ("done", SECOND, "")
    assert run.result.notes == ("codur-coding cannot run; llm:gpt-oss-20b stands in: the service is gone",)


def test_a_stand_in_that_cannot_run_either_ends_the_run(tmp_path: Path) -> None:
    run = play(tmp_path, (GONE,), (GONE,), fallback_order=("codur-coding", SECOND))
    assert (run.result.outcome, run.result.exit_code) == ("no_model", 3)
