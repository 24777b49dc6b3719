"""Whole runs that end well: which nodes, how many calls, what stays changed."""

from __future__ import annotations

from pathlib import Path

from codur.ui.report import summary_lines
from tests.runs.kit import (
    EDIT,
    MEDIAN,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    REPAIRABLE,
    play,
)
from tests.support.groq_server import calls, json_reply, text


def right(path: str = "main.py") -> tuple[str, dict[str, str]]:
    return ("replace_function", {"path": path, "name": "median", "code": MEDIAN_RIGHT})


def test_a_greeting_needs_no_model(tmp_path: Path) -> None:
    run = play(tmp_path, {"main.py": "print(1)\n"}, "hello!", [])
    assert (run.result.outcome, run.result.exit_code, run.result.model_calls) == ("done", 0, 0)
    assert run.nodes == ["pattern_plan", "policy"]
    assert run.result.answer
    assert run.requests == []


def test_reading_a_file_needs_no_model(tmp_path: Path) -> None:
    run = play(tmp_path, {"notes.txt": "milk\neggs\n"}, "show me notes.txt", [])
    assert run.nodes == ["pattern_plan", "policy", "tool", "review"]
    assert "milk\neggs" in run.result.answer
    assert (run.result.outcome, run.result.solved_by, run.result.model_calls) == ("done", "pattern", 0)


def test_a_small_bug_is_fixed_without_a_model(tmp_path: Path) -> None:
    run = play(tmp_path, REPAIRABLE, "fix main.py", [], search=True, key=None)
    assert (run.result.outcome, run.result.solved_by, run.result.model_calls) == ("done", "repair", 0)
    assert run.nodes == ["pattern_plan", "policy", "repair", "review"]
    assert run.result.before is not None
    assert run.result.before.status == "failed"
    assert run.result.verdict is not None
    assert run.result.verdict.passed
    assert "range(start, end + 1)" in run.files["main.py"]
    assert run.result.changed_files == ("main.py",)
    assert "+    for number in range(start, end + 1):" in run.result.diff
    assert run.requests == []


def test_a_fix_by_the_model_takes_two_calls(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [EDIT, calls(right())])
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 2, 0)
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "coding", "review"]
    assert run.result.solved_by == "codur-coding"
    assert run.result.verdict is not None
    assert run.result.verdict.passed
    assert [request.body["model"] for request in run.requests] == ["openai/gpt-oss-20b", "openai/gpt-oss-120b"]
    assert run.result.usage.total_tokens == 240


def test_the_model_follows_an_offline_search_that_found_nothing(tmp_path: Path) -> None:
    run = play(
        tmp_path,
        NEEDS_MODEL,
        "fix main.py",
        [EDIT, calls(right())],
        search=True,
        sections={"repair": {"mode": "before_model", "budget_s": 0.5}},
    )
    assert (run.result.outcome, run.result.model_calls) == ("done", 2)
    assert run.nodes == ["pattern_plan", "policy", "repair", "review", "llm_pre_plan", "policy", "coding", "review"]


def test_a_wrong_first_answer_is_tried_again_with_the_failure(tmp_path: Path) -> None:
    wrong = ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY})
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [EDIT, calls(wrong), calls(right())])
    assert (run.result.outcome, run.result.model_calls, run.result.iterations) == ("done", 3, 2)
    assert run.nodes == [
        *("pattern_plan", "llm_pre_plan", "policy", "coding", "review"),
        *("llm_plan", "policy", "coding", "review"),
    ]
    retry = run.message(2)
    assert "fix main.py" in retry
    assert "First difference, output line 2:\n  expected: 2.5\n  actual:   3" in retry
    assert "Expected output:\n2\n2.5" in retry
    assert "Actual output:\n2\n3" in retry
    assert "return sorted(values)[len(values) // 2]" in retry.split("# Files")[1]
    assert "Attempt 1 (codur-coding, kept): replace_function median in main.py" in retry
    assert [attempt.progress for attempt in run.result.attempts] == [0.5]


def test_a_check_and_one_source_need_no_classification(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [calls(right())], check_is_goal=True)
    assert (run.result.outcome, run.result.model_calls) == ("done", 1)
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "coding", "review"]
    assert (run.result.route[1].origin, run.result.route[1].tier) == ("pre_plan", "deterministic")


def test_a_check_and_two_sources_need_one(tmp_path: Path) -> None:
    files = {**NEEDS_MODEL, "other.py": "x = 1\n"}
    run = play(tmp_path, files, "fix main.py", [EDIT, calls(right())], check_is_goal=True)
    assert (run.result.outcome, run.result.model_calls) == ("done", 2)


def test_a_low_confidence_gets_a_plan_first(tmp_path: Path) -> None:
    unsure = json_reply(
        {
            "task_type": "code_fix",
            "confidence": 0.5,
            "detected_files": ["main.py"],
            "suggested_action": "plan",
            "reasoning": "Not sure.",
        }
    )
    plan = json_reply(
        {
            "reasoning": "Read, then edit.",
            "steps": [
                _step("look", "tool", "read_file", arguments=[{"name": "path", "value": "main.py"}]),
                _step("edit", "coding", "codur-coding", inputs=["look"]),
            ],
        }
    )
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [unsure, plan, calls(right())])
    assert (run.result.outcome, run.result.model_calls) == ("done", 3)
    assert run.nodes == [
        *("pattern_plan", "llm_pre_plan", "llm_plan", "policy", "tool", "review"),
        *("policy", "coding", "review"),
    ]
    assert "# Result of step look" in run.message(2)


def test_a_question_goes_to_the_explaining_agent(tmp_path: Path) -> None:
    explain = json_reply(
        {
            "task_type": "explanation",
            "confidence": 0.9,
            "detected_files": ["main.py"],
            "suggested_action": "explain",
            "reasoning": "A question about code.",
        }
    )
    replies = [explain, calls(("read_file", {"path": "main.py"})), text("It prints two medians.")]
    run = play(tmp_path, {"main.py": MEDIAN}, "what is the purpose of main.py?", replies)
    assert (run.result.outcome, run.result.answer) == ("done", "It prints two medians.")
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "delegate", "execute", "review"]
    assert run.requests[2].body["messages"][-1]["role"] == "tool"
    assert "def median(values):" in run.requests[2].body["messages"][-1]["content"]
    assert run.result.changed_files == ()


def test_code_without_a_check_is_said_to_be_unchecked(tmp_path: Path) -> None:
    generate = json_reply(
        {
            "task_type": "code_generation",
            "confidence": 0.9,
            "detected_files": [],
            "suggested_action": "edit",
            "reasoning": "A new file.",
        }
    )
    answer = calls(("replace_file_content", {"path": "greet.py", "content": "print('hello')\n"}))
    run = play(tmp_path, {}, "write greet.py that says hello", [generate, answer])
    assert run.result.outcome == "done"
    assert run.result.verdict is not None
    assert run.result.verdict.status == "no_check"
    assert run.files == {"greet.py": "print('hello')\n"}


def test_a_green_check_proves_nothing_and_is_reported(tmp_path: Path) -> None:
    files = {"main.py": "print('a')\n", "expected.txt": "a\n"}
    edit = calls(("replace_file_content", {"path": "main.py", "content": 'LETTER = "a"\nprint(LETTER)\n'}))
    run = play(tmp_path, files, "fix main.py: the letter should be a named constant", [EDIT, edit])
    assert run.result.outcome == "done"
    assert run.result.before is not None
    assert run.result.before.passed
    told = [row.text for row in summary_lines(run.result)]
    assert sum("passed before anything was changed" in words for words in told) == 1, "once, as the verdict"


def test_a_bare_fix_of_a_green_program_changes_nothing(tmp_path: Path) -> None:
    run = play(tmp_path, {"main.py": "print('a')\n", "expected.txt": "a\n"}, "fix main.py", [])
    assert (run.result.outcome, run.result.model_calls, run.result.changed_files) == ("done", 0, ())
    assert "nothing to fix" in run.result.answer


def test_a_named_file_that_the_check_does_not_see_is_mentioned(tmp_path: Path) -> None:
    files = {**REPAIRABLE, "sub/main.py": REPAIRABLE["main.py"]}
    run = play(tmp_path, files, "fix main.py and sub/main.py", [], search=True, key=None)
    assert run.result.outcome == "done"
    assert run.result.changed_files == ("main.py",)
    assert run.result.notes == ("named in the task and not changed: sub/main.py",)


def test_dry_run_changes_nothing(tmp_path: Path) -> None:
    run = play(tmp_path, REPAIRABLE, "fix main.py", [], search=True, key=None, dry_run=True)
    assert run.result.outcome == "done"
    assert "+    for number in range(start, end + 1):" in run.result.diff
    assert run.files == REPAIRABLE


def test_json_mode_models_answer_with_a_whole_file(tmp_path: Path) -> None:
    code = MEDIAN.replace("    raise NotImplementedError\n", MEDIAN_RIGHT.split('"""\n')[1])
    answer = json_reply({"thought": "Finish it.", "code": code})
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [EDIT, answer])
    assert (run.result.outcome, run.result.model_calls) == ("done", 2)
    assert run.files["main.py"] == code


def _step(
    name: str,
    action: str,
    capability: str,
    *,
    inputs: list[str] | None = None,
    arguments: list[dict[str, str]] | None = None,
) -> dict[str, object]:
    return {
        "id": name,
        "action": action,
        "capability": capability,
        "objective": "",
        "expected_output": "",
        "success_criteria": "",
        "inputs": inputs or [],
        "arguments": arguments or [],
    }
