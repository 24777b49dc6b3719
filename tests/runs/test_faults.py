"""Whole runs that go wrong: what the model, the service or the user does, and how the run ends."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import AgentPreferences, Provider, RepairSettings, Settings
from codur.events import CheckRan, ignore
from codur.session.record.exchanges import SkippedTime
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import BestAttempt, Limits, Task
from tests.runs.kit import (
    EDIT,
    KEY,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    REPAIRABLE,
    Played,
    contents,
    fill,
    host,
    play,
)
from tests.support.groq_server import (
    ServerReply,
    calls,
    error,
    failed_generation,
    json_reply,
    text,
)

FIX = "main.py is wrong"
RIGHT = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
WRONG = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))


def unchanged(run: Played) -> bool:
    return run.files == NEEDS_MODEL and run.result.changed_files == ()


@pytest.mark.parametrize(
    ("replies", "calls_made"),
    [
        pytest.param([text("no JSON here"), EDIT, RIGHT], 3, id="invalid JSON is asked for again"),
        pytest.param([text("{}"), EDIT, RIGHT], 3, id="JSON with missing fields"),
        pytest.param(
            [EDIT, failed_generation('{"name": "replace_function", "arguments": {"path": "main.py"}}'), RIGHT],
            3,
            id="tool_use_failed with a readable but wrong call",
        ),
        pytest.param([error(429, "slow down", retry_after=0.1), EDIT, RIGHT], 2, id="429 with Retry-After"),
        pytest.param([error(500), EDIT, error(503), RIGHT], 2, id="a server error now and then"),
        pytest.param([EDIT, calls(("repair_everything", {"path": "main.py"})), RIGHT], 3, id="unknown tool in an edit"),
        pytest.param(
            [EDIT, calls(("replace_function", {"path": "main.py", "name": "mean", "code": MEDIAN_RIGHT})), RIGHT],
            3,
            id="unknown function",
        ),
        pytest.param(
            [EDIT, calls(("replace_function", {"path": "main.py"}), finish_reason="length"), RIGHT],
            3,
            id="an answer cut off executes nothing",
        ),
        pytest.param([EDIT, text("I would sort the values first."), RIGHT], 3, id="words instead of an edit"),
    ],
)
def test_faults_that_a_run_gets_over(tmp_path: Path, replies: list[ServerReply], calls_made: int) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, replies)
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", calls_made, 0)
    assert run.result.verdict is not None
    assert run.result.verdict.passed


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        pytest.param([error(401, f"Invalid API Key {KEY}")], "GROQ_API_KEY", id="401"),
        pytest.param([error(500)] * 12, "500", id="500 until the retries are used up"),
    ],
)
def test_no_model_is_exit_3_and_tells_what_to_do(tmp_path: Path, replies: list[ServerReply], words: str) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, replies)
    assert (run.result.outcome, run.result.exit_code) == ("no_model", 3)
    assert words in run.result.reason + run.result.remedy
    assert run.result.remedy
    assert KEY not in repr(run.result)
    assert KEY not in repr(run.events)
    assert unchanged(run)


def test_without_a_key_what_needs_a_model_ends_with_exit_3(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [], key=None)
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("no_model", 3, 0)
    assert "GROQ_API_KEY" in run.result.reason + run.result.remedy
    assert "ollama" in run.result.reason + run.result.remedy
    assert unchanged(run)


def test_when_the_service_fails_a_small_bug_is_still_fixed_offline(tmp_path: Path) -> None:
    run = play(tmp_path, REPAIRABLE, FIX, [error(401)] * 3, sections={"repair": {"mode": "after_failure"}})
    assert (run.result.outcome, run.result.solved_by, run.result.model_calls) == ("done", "repair", 0)
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "repair", "review"]


def test_a_refused_connection_is_exit_3(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    settings = structs.replace(
        Settings(),
        providers={"groq": Provider(api="groq", api_key_env="GROQ_API_KEY", base_url="http://127.0.0.1:9")},
        repair=RepairSettings(mode="off"),
        llm=structs.replace(Settings().llm, max_attempts=2),
    )
    result = run_task(Task(prompt=FIX, workspace=str(tmp_path)), settings, host=host(), emit=ignore)
    assert (result.outcome, result.exit_code) == ("no_model", 3)
    assert "No server answers at http://127.0.0.1:9" in result.reason
    assert contents(tmp_path) == NEEDS_MODEL


def test_the_iteration_limit(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, _ever_different(), limits=Limits(max_iterations=3))
    assert (run.result.outcome, run.result.exit_code, run.result.iterations) == ("limit", 4, 3)
    assert "3 attempts" in run.result.reason
    assert unchanged(run)


def test_the_call_limit(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, WRONG], limits=Limits(max_llm_calls=2))
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("limit", 4, 2)
    assert "--max-llm-calls" in run.result.remedy
    assert unchanged(run)


def test_the_token_limit(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, RIGHT], limits=Limits(max_tokens=500))
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert unchanged(run)


def test_the_step_limit(tmp_path: Path) -> None:
    run = play(
        tmp_path,
        NEEDS_MODEL,
        FIX,
        _ever_different(),
        limits=Limits(max_iterations=10_000, max_llm_calls=10_000, max_tokens=10**9),
        sections={"agents": {"preferences": AgentPreferences(patience=10_000)}},
    )
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert run.result.reason == "the run was stopped after 350 steps"
    assert unchanged(run)


def test_equal_failures_stop_early(tmp_path: Path) -> None:
    same = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, same, same, same, same, same])
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)
    assert "stopped early" in run.result.reason
    assert (run.result.iterations, run.result.model_calls) == (4, 5)  # the first came further
    assert run.result.best == BestAttempt(number=1, by="codur-coding", progress=0.5)
    assert run.result.remedy == "Run it again with --keep to keep what came furthest."
    checks = [event for event in run.events if isinstance(event, CheckRan) and event.when == "attempt"]
    assert [event.verdict.note for event in checks[1:]] == [
        "the same change as attempt 1, so the check was not run again"
    ] * 3
    assert unchanged(run)


def test_keep_leaves_the_best_attempt(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, WRONG], limits=Limits(max_iterations=1), keep=True)
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert "return sorted(values)[len(values) // 2]" in run.files["main.py"]
    assert run.result.changed_files == ("main.py",)


def test_keep_leaves_the_first_attempt_where_none_came_further(tmp_path: Path) -> None:
    files = {"main.py": "print(1)\n", "main_test.sh": "exit 1\n"}
    edits = [calls(("replace_in_file", {"path": "main.py", "old": old, "new": new})) for old, new in ("12", "13")]
    limits = Limits(max_iterations=2)
    run = play(
        tmp_path,
        files,
        FIX,
        [EDIT, *edits],
        limits=limits,
        keep=True,
        check_command="python main.py && sh main_test.sh",
    )
    assert (run.result.outcome, run.files["main.py"]) == ("limit", "print(2)\n")
    assert run.result.best is not None
    assert run.result.best.kept


def test_an_edit_of_the_expected_output_is_refused(tmp_path: Path) -> None:
    cheat = calls(("replace_file_content", {"path": "expected.txt", "content": "1\n"}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, cheat, RIGHT])
    assert run.result.outcome == "done"
    assert run.files["expected.txt"] == NEEDS_MODEL["expected.txt"]
    assert "expected.txt" in run.result.attempts[0].error
    assert "protected" in run.message(2)


def test_a_program_that_prints_the_expected_text_is_tampered(tmp_path: Path) -> None:
    cheat = calls(("replace_file_content", {"path": "main.py", "content": 'print("2\\n2.5")\n'}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, cheat], limits=Limits(max_iterations=1))
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert run.result.attempts[0].signature.startswith("tampered")
    assert unchanged(run)


def test_a_program_that_reads_the_expected_output_is_tampered(tmp_path: Path) -> None:
    sly = 'name = "exp" + "ected.txt"\nprint(open(name).read(), end="")\n'
    cheat = calls(("replace_file_content", {"path": "main.py", "content": sly}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, cheat, RIGHT], sections={"sandbox": {"backend": "none"}})
    assert run.result.outcome == "done"
    assert "reads" in run.result.attempts[0].error
    assert "# Earlier attempts" in run.message(2)


def test_in_a_sandbox_a_program_that_reads_the_expected_output_gains_nothing(tmp_path: Path) -> None:
    """It is not there to be read, or what reads it is found out."""
    sly = 'name = "exp" + "ected.txt"\nprint(open(name).read(), end="")\n'
    cheat = calls(("replace_file_content", {"path": "main.py", "content": sly}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, cheat, RIGHT])
    assert run.result.outcome == "done"
    assert run.result.attempts[0].progress < 1
    assert "sorted" in run.files["main.py"]


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ({"action": "tool", "capability": "launch_rocket"}, "launch_rocket"),
        ({"action": "delegate", "capability": "nobody"}, "nobody"),
    ],
)
def test_a_plan_with_an_unknown_name_goes_back_once(tmp_path: Path, step: dict[str, str], name: str) -> None:
    unsure = json_reply({**_classification(), "confidence": 0.1})
    bad = json_reply({"reasoning": "", "steps": [{**_coding_step(), **step}]})
    good = json_reply({"reasoning": "", "steps": [_coding_step()]})
    run = play(tmp_path, NEEDS_MODEL, FIX, [unsure, bad, good, RIGHT])
    assert (run.result.outcome, run.result.model_calls) == ("done", 4)
    _, _, told = run.message(2).partition("\n\n# Your last plan was sent back\n")
    assert name in told
    assert f"- edit: {step['action']} {name}" in told

    (tmp_path / "again").mkdir()
    run = play(tmp_path / "again", NEEDS_MODEL, FIX, [unsure, bad, bad])
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("not_achieved", 1, 3)
    assert name in run.result.reason


def test_a_fallback_profile_takes_over(tmp_path: Path) -> None:
    gone = error(404, "The model does not exist", code="model_not_found")
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, gone, RIGHT])
    assert run.result.outcome == "done"
    assert [event.kind for event in run.events if event.kind == "model_switched"] == ["model_switched"]


def _classification() -> dict[str, object]:
    return {
        "task_type": "code_fix",
        "confidence": 0.9,
        "detected_files": ["main.py"],
        "suggested_action": "plan",
        "reasoning": "",
    }


def _coding_step() -> dict[str, object]:
    return {
        "id": "edit",
        "action": "coding",
        "capability": "codur-coding",
        "objective": "Finish the function",
        "expected_output": "",
        "success_criteria": "",
        "inputs": [],
        "arguments": [],
    }


def _ever_different() -> Callable[[Any], ServerReply]:
    """A model that fails in another way each time, so that only a limit ends the run."""
    numbers = itertools.count(10)

    def answer(body: Any) -> ServerReply:
        if "replace_function" not in str(body.get("tools")):
            return EDIT
        code = f"def median(values):\n    return {next(numbers)}\n"
        return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))

    return answer


def test_the_time_limit_while_a_model_is_asked(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, replace(RIGHT, delay_s=30.0)], limits=Limits(max_runtime_s=3.0))
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert (run.result.reason, run.result.remedy) == ("the run's time is used up", "Give it more time with --timeout.")
    assert unchanged(run)


def test_the_time_limit_while_a_program_runs(tmp_path: Path) -> None:
    hangs = "def median(values):\n    while True:\n        pass\n"
    edit = calls(("replace_function", {"path": "main.py", "name": "median", "code": hangs}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, edit], limits=Limits(max_runtime_s=6.0))
    assert (run.result.outcome, run.result.exit_code) == ("limit", 4)
    assert unchanged(run)


def test_a_first_check_that_hangs_leaves_time_to_say_so(tmp_path: Path) -> None:
    files = {"main.py": "while True: pass\n", "expected.txt": "1\n"}
    run = play(tmp_path, files, FIX, [], key=None, limits=Limits(max_runtime_s=8.0))
    assert (run.result.outcome, run.result.exit_code, run.files) == ("no_model", 3, files)
    assert run.result.verdict is not None
    assert run.result.verdict.timed_out


FREE_PLAN = {"limit": "8000", "remaining": "8000", "reset": "0s"}


@pytest.mark.parametrize("lines", [40, 190, 900])
def test_requests_fit_groqs_free_plan(lines: int, tmp_path: Path) -> None:
    """Groq counts the prompt and the whole answer budget against 8,000 tokens a minute before it answers."""
    body = "".join(f"def part_{number}(value):\n    return value * {number} + 1\n\n\n" for number in range(lines // 4))
    files = {"main.py": f"{body}{NEEDS_MODEL['main.py']}", "expected.txt": "2\n2.5\n" + "x\n" * 400}
    headers = {f"x-ratelimit-{what}-tokens": value for what, value in FREE_PLAN.items()}
    told = replace(EDIT, headers=headers)
    prompt = FIX + ". " + "The report is wrong. " * 100
    run = play(tmp_path, files, prompt, [told, WRONG, WRONG], clock=SkippedTime())
    assert len(run.requests) >= 3
    for request in run.requests:
        sent = sum(len(message["content"]) for message in request.body["messages"])
        sent += len(json.dumps(request.body.get("tools", ""))) + len(
            json.dumps(request.body.get("response_format", ""))
        )
        assert sent / 3.5 + request.body["max_completion_tokens"] <= 8000
    assert "def median(values):" in run.message(1)
