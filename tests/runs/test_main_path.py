"""Whole runs that end well: which nodes, how many calls, what stays changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import Profile, Provider
from codur.events import FileChanged, ignore
from codur.nodes.parts.attempt_verdict import _UNSTEADY
from codur.session.task_run import run_task
from codur.types import Task
from codur.ui.shown.run_report import summary_lines
from tests.runs.kit import (
    EDIT,
    MEDIAN,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    REPAIRABLE,
    fill,
    host,
    play,
    settings_for,
)
from tests.support.groq_server import GroqServer, calls, error, json_reply, text

HALF = "def half(n):\n    return n // 2\n"


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


def test_a_fix_by_the_model_takes_one_call(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [calls(right())])
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 1, 0)
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "coding", "review"]
    assert run.result.solved_by == "codur-coding"
    assert run.result.verdict is not None
    assert run.result.verdict.passed
    assert [request.body["model"] for request in run.requests] == ["openai/gpt-oss-120b"]
    assert run.result.usage.total_tokens == 120


def test_the_model_follows_an_offline_search_that_found_nothing(tmp_path: Path) -> None:
    run = play(
        tmp_path,
        NEEDS_MODEL,
        "fix main.py",
        [calls(right())],
        search=True,
        sections={"repair": {"mode": "before_model", "budget_s": 0.5}},
    )
    assert (run.result.outcome, run.result.model_calls) == ("done", 1)
    assert run.nodes == ["pattern_plan", "policy", "repair", "review", "llm_pre_plan", "policy", "coding", "review"]


def test_a_wrong_first_answer_is_tried_again_with_the_failure(tmp_path: Path) -> None:
    wrong = ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY})
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [calls(wrong), calls(right())])
    assert (run.result.outcome, run.result.model_calls, run.result.iterations) == ("done", 2, 2)
    assert run.nodes == [
        *("pattern_plan", "llm_pre_plan", "policy", "coding", "review"),
        *("llm_plan", "policy", "coding", "review"),
    ]
    retry = run.message(1)
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


TWO = {"main.py": "from other import half\n\nprint(half(5))\n", "expected.txt": "2.5\n", "other.py": HALF}
TESTED = {
    "main.py": "def double(n):\n    return 2 * n\n",
    "other.py": HALF,
    "test_half.py": "from other import half\n\n\ndef test_half():\n    assert half(5) == 2.5\n",
}

MADE = {
    **TESTED,
    "main.py": "from other import half\n\nraise SystemExit(half(5) != 2.5)\n",
    "test_half.py": "",
    "Makefile": "test:\n\t@python main.py || { echo '  1 failing'; exit 1; }\n",
}


@pytest.mark.parametrize(
    ("files", "prompt", "asked"),
    [
        (TWO, "fix the program", True),
        (TWO, "fix other.py", False),
        ({**TWO, "other.py": HALF.replace("n // 2", "n / O")}, "fix the program", False),
        (TESTED, "the tests fail, fix the bug", False),
        (MADE, "the tests fail, fix the bug", False),
        (TWO, "fix other.py and commit it", True),
        (TWO, "other.py is wrong", True),
        (TESTED, "test_half.py::test_half fails", False),
        (TESTED, "test_half raises since yesterday", False),
    ],
    ids=[
        "two candidates",
        "one named",
        "one that the failure names",
        "tests that fail",
        "tests of another runner that fail",
        "more is asked for",
        "no sure kind",
        "a failing test is told by its id",
        "or by its name",
    ],
)
def test_a_classifier_is_asked_where_it_decides_something(
    tmp_path: Path, files: dict[str, str], prompt: str, asked: bool
) -> None:
    edit = calls(("replace_file_content", {"path": "other.py", "content": HALF.replace("n // 2", "n / 2")}))
    run = play(tmp_path, files, prompt, lambda body: edit if body.get("tools") else EDIT)
    assert ("tools" not in run.requests[0].body) is asked
    # What was ordered beside the edit was not done.
    outcome = "not_achieved" if "commit it" in prompt else "done"
    assert (run.result.outcome, run.result.model_calls) == (outcome, 1 + asked)


def test_hidden_generated_and_vendored_files_are_no_candidates(tmp_path: Path) -> None:
    others = (".meta/example.py", ".approaches/one/snippet.py", "vendor/six.py", "api_pb2.py", "node_modules/a/b.js")
    files = {**NEEDS_MODEL, **dict.fromkeys(others, "def median(values):\n    return None\n")}
    run = play(tmp_path, files, "Write the function median.", [calls(right())], check_is_goal=True)
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 1, 0)


def classified(action: str, task_type: str, **more: Any) -> Any:
    reply = {"task_type": task_type, "confidence": 0.95, "detected_files": [], "reasoning": "It is clear."}
    return json_reply({**reply, "suggested_action": action, "capability": "", "arguments": [], "answer": "", **more})


def test_a_classifier_gives_the_one_call_that_is_needed(tmp_path: Path) -> None:
    call = {"capability": "grep_files", "arguments": [{"name": "pattern", "value": "def median"}]}
    run = play(tmp_path, {"main.py": MEDIAN}, "who defines functions here?", [classified("tool", "search", **call)])
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 1, 0)
    assert run.nodes == ["pattern_plan", "llm_pre_plan", "policy", "tool", "review"]
    assert "def median(values):" in run.result.answer
    assert "grep_files(pattern" in run.message(0)


def test_a_call_that_changes_something_is_planned(tmp_path: Path) -> None:
    call = {"capability": "delete_file", "arguments": [{"name": "path", "value": "main.py"}]}
    plan = json_reply({"reasoning": "Nothing to do.", "steps": []})
    run = play(tmp_path, {"main.py": MEDIAN}, "who needs main.py?", [classified("tool", "search", **call), plan])
    assert run.nodes[:3] == ["pattern_plan", "llm_pre_plan", "llm_plan"]
    assert "main.py" in run.files


def test_a_classifier_says_the_last_word(tmp_path: Path) -> None:
    run = play(tmp_path, {"main.py": MEDIAN}, "well, never mind", [classified("end", "greeting", answer="All right.")])
    assert (run.result.outcome, run.result.answer, run.result.model_calls) == ("done", "All right.", 1)


def test_a_classifier_is_told_which_tests_fail_and_why(tmp_path: Path) -> None:
    tests = "from main import a, b\n\ndef test_a():\n    assert a() == 1\n\ndef test_b():\n    assert b() == 2\n"
    files = {"main.py": "def a():\n    return 1\n\ndef b():\n    return 3\n", "test_main.py": tests}
    run = play(tmp_path, files, "main.py is wrong", [EDIT, *[text("I cannot.")] * 9])
    assert "failing: test_main.py::test_b\nerror: assert 3 == 2" in run.message(0)


@pytest.mark.parametrize(
    ("prompt", "replies"),
    [
        ("fix main.py", [calls(right())]),
        ("main.py is wrong", [EDIT, calls(right())]),
        ("what is main.py good for?", [classified("explain", "explanation"), text("For medians.")]),
        ("read main.py, find what is wrong in it, fix it and tell me what it was", [error(401)]),
        ("main.py is wrong", [error(401)]),
    ],
)
def test_nothing_goes_to_a_service_that_the_user_did_not_name(tmp_path: Path, prompt: str, replies: list[Any]) -> None:
    fill(tmp_path, NEEDS_MODEL)
    with GroqServer() as other, GroqServer(replies) as named:
        settings = settings_for(other)
        mine = Provider(api="openai", base_url=named.openai_url, api_key_env="GROQ_API_KEY", timeout_s=20.0)
        profiles = {**settings.llm.profiles, "mine": Profile(provider="mine", model="a-model")}
        settings = structs.replace(
            settings,
            providers={**settings.providers, "mine": mine},
            llm=structs.replace(settings.llm, profiles=profiles),
        )
        run_task(Task(prompt=prompt, workspace=str(tmp_path), agent="llm:mine"), settings, host=host(), emit=ignore)
        assert (len(named.requests), named.unexpected) == (len(replies), 0)
        assert other.requests == []


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
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [unsure, plan, calls(right())])
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


def test_a_question_about_faults_is_answered_whatever_fails(tmp_path: Path) -> None:
    said = json_reply(
        {
            "task_type": "explanation",
            "confidence": 0.9,
            "detected_files": ["main.py"],
            "suggested_action": "explain",
            "reasoning": "A look for faults is wanted.",
        }
    )
    run = play(
        tmp_path, NEEDS_MODEL, "look over main.py, anything wrong with it?", [said, text("Line 2 is off by one.")]
    )
    assert (run.result.outcome, run.result.answer, run.unexpected) == ("done", "Line 2 is off by one.", 0)


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
    assert sum("still passes" in words for words in told) == 1, "once, as the verdict"


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
    run = play(tmp_path, NEEDS_MODEL, "fix main.py", [answer])
    assert (run.result.outcome, run.result.model_calls) == ("done", 1)
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


def test_a_body_that_is_not_there_yet_is_written_without_a_classification(tmp_path: Path) -> None:
    files = {
        "TASK.md": "# Fares\n\n`fare(zones)` in fares.py gives 2 for each zone, by `price()` of table.py.\n",
        "fares.py": "from table import price\n\n\ndef fare(zones):\n    raise NotImplementedError\n",
        "table.py": "def price():\n    return 2\n",
        "test_fares.py": "from fares import fare\n\n\ndef test_fare():\n    assert fare(3) == 6\n",
    }
    edit = calls(
        (
            "replace_function",
            {"path": "fares.py", "name": "fare", "code": "def fare(zones):\n    return zones * price()\n"},
        )
    )
    run = play(tmp_path, files, "do what TASK.md says; the tests must pass", [edit])
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 1, 0)
    request = str(run.requests[0].body["messages"])
    assert all(part in request for part in ("gives 2 for each zone", "def fare(zones)", "assert fare(3) == 6"))


def test_what_is_told_of_a_change_while_the_run_goes_on_is_bounded(tmp_path: Path) -> None:
    edit = calls(("replace_file_content", {"path": "main.py", "content": f"# {'x' * 5000}\n" * 100 + "print('b')\n"}))
    run = play(tmp_path, {"main.py": "print('a')\n", "expected.txt": "b\n"}, "main.py is wrong", [EDIT, edit])
    told = [event.diff for event in run.events if isinstance(event, FileChanged)]
    assert len(told) == 1
    assert told[0].count("\n") == 60
    assert max(map(len, told[0].splitlines())) == 401


@pytest.mark.parametrize("kept", ["rate.py", "price.py"])
def test_a_search_leaves_the_files_alone_that_the_task_names(kept: str, tmp_path: Path) -> None:
    files = {
        "price.py": "from rate import rate\n\n\ndef price(net):\n    return net - rate(net)\n",
        "rate.py": "def rate(net):\n    return net * 2\n",
        "test_price.py": "from price import price\n\n\ndef test_price():\n    assert (price(3), price(5)) == (9, 15)\n",
    }
    played = play(tmp_path, files, f"the price is wrong, fix it; don't touch {kept}", [], key=None, search=True)
    assert played.files[kept] == files[kept]
    assert (played.result.outcome == "done") == (kept == "rate.py"), played.result.reason


@pytest.mark.parametrize(
    ("prompt", "searched"),
    [
        ("ci.yml: the release job must run only for tags v*, and only after the test job passed", False),
        ("the Dockerfile must use python:3.12-slim", False),
        ("README.md: the commands are wrong, it must say python -m pytest", False),
        ("fix the workflow: release runs on every push", False),
        ("the sum is wrong in rate, as README.md says", True),
        ("rate.py is wrong, see README.md", True),
        ("the tests fail, fix the bug; README.md is right", True),
        ("the numbers in prices.csv are doubled, fix it", True),
    ],
)
def test_where_the_task_is_about_no_code_none_is_searched_for(prompt: str, searched: bool, tmp_path: Path) -> None:
    files = {
        "rate.py": "def rate(net):\n    return net + 2\n",
        "test_rate.py": "from rate import rate\n\n\ndef test_rate():\n    assert (rate(3), rate(5)) == (6, 10)\n",
        "ci.yml": "on: push\n",
        "README.md": "Run it.\n",
        "Dockerfile": "FROM python\n",
        "prices.csv": "1\n",
    }
    played = play(tmp_path, files, prompt, [], key=None, search=True)
    assert ("rate.py" in played.result.changed_files) == searched, played.result.reason


@pytest.mark.parametrize(
    ("prompt", "by_chance"),
    [
        ("the tests are flaky, fix it", True),
        ("sometimes test_a fails", True),
        ("every few runs test_a fails", True),
        ("test_a fails 3 times out of 10", True),
        ("test_a passes only half of the time", True),
        ("test_a does not always pass", True),
        ("test_a is unstable", True),
        ("retry 3 times in fetch() before giving up", False),
        ("log every second run of the job", False),
        ("show a tip now and then", False),
    ],
)
def test_what_says_that_tests_fail_by_chance(prompt: str, by_chance: bool) -> None:
    assert (_UNSTEADY.search(prompt) is not None) is by_chance


def test_of_a_flaky_test_one_pass_proves_nothing(tmp_path: Path) -> None:
    wrong = "def hits():\n    return 1\n"
    test = (
        "import random\nfrom main import hits\n\ndef test_hits():\n    assert hits() == 2 and random.random() < 0.5\n"
    )
    edit = calls(("replace_file_content", {"path": "main.py", "content": wrong.replace("1", "2")}))
    played = play(tmp_path, {"main.py": wrong, "test_main.py": test}, "the tests are flaky, fix it", [edit] * 4)
    assert played.result.outcome != "done"


def test_the_first_tests_of_a_project_are_run(tmp_path: Path) -> None:
    broken = "from main import hits\n\n\ndef test_hits():\n    with pytest.raises(TypeError):\n        hits(1)\n"
    made = [
        calls(("create_file", {"path": "test_main.py", "content": broken})),
        calls(("replace_file_content", {"path": "test_main.py", "content": f"import pytest\n\n{broken}"})),
    ]
    sort = classified("edit", "code_generation")
    played = play(tmp_path, {"main.py": "def hits():\n    return 1\n"}, "now tests for it", [sort, text("NONE"), *made])
    assert (played.result.outcome, played.result.verdict and played.result.verdict.tests_passed) == ("done", 1)


def test_first_tests_of_another_runner_than_pytest_are_run(tmp_path: Path) -> None:
    tests = "require('node:test')('adds', () => require('node:assert').equal(require('./add')(), 2));\n"
    files = {"add.test.js": tests, "package.json": '{"scripts": {"test": "node --test"}}\n'}
    made = [
        calls(*(("replace_file_content", {"path": path, "content": content}) for path, content in written.items()))
        for written in [{"add.js": f"module.exports = () => {sum_};\n", **files} for sum_ in ("1 + 2", "1 + 1")]
    ]
    played = play(tmp_path, {}, "write a module add.js that adds", made)
    verdict = played.result.verdict
    assert verdict is not None
    assert (played.result.outcome, verdict.check, verdict.tests_passed) == ("done", "npm test", 1)
    assert len(played.result.attempts) == 1


def test_first_tests_that_do_not_tell_how_many_ran_prove_nothing(tmp_path: Path) -> None:
    wrong = {
        "add.js": "exports.add = (a, b) => b - a;\n",
        "add.test.js": "require('node:test')('adds', () => {});\n",
        "package.json": '{"name": "x", "scripts": {"test": "true"}}\n',
    }
    made = calls(
        *(("replace_file_content", {"path": path, "content": content}) for path, content in wrong.items()),
        content="done",
    )
    files = {"add.js": "exports.add = (a, b) => a - b;\n", "package.json": '{"name": "x"}\n'}
    played = play(
        tmp_path, files, "fix add in add.js, and write tests for it", lambda body: made if body.get("tools") else EDIT
    )
    assert (played.result.outcome, played.files["add.js"]) == ("done", wrong["add.js"]), played.result
    assert played.result.verdict is None or played.result.verdict.status != "passed"
