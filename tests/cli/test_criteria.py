"""What a plan says that must hold: by code where code can decide it, else by one call, and never dropped in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.kit import codur_here, the_object
from tests.runs.kit import KEY, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.runs.test_plans import plan, tool
from tests.support.groq_server import GroqServer, ServerReply, calls, error, json_reply

NOTES = {"notes.txt": "count\ncount\ncount\ncount\nother\n"}
WORDS = "at least 50 matches"
SEARCH = {"action": "tool", "capability": "grep_files", "arguments": {"pattern": "count"}}
OPEN = {"id": "look", **SEARCH, "success_criteria": WORDS}
WRITE = {
    "id": "write",
    "action": "tool",
    "capability": "write_file",
    "arguments": {"path": "poem.txt", "content": "A line.\n"},
    "success_criteria": "it rhymes",
}


def judged(*answers: tuple[bool, str]) -> ServerReply:
    verdicts = [{"number": number, "met": met, "why": why} for number, (met, why) in enumerate(answers, start=1)]
    return json_reply({"verdicts": verdicts})


class Ran:
    """A run, what it asked, and what it left behind."""

    def __init__(self, replies: list[ServerReply], project: Path, home: Path, *words: str, key: bool = True) -> None:
        with GroqServer(replies) as server:
            config = {"providers": {"groq": {"api": "groq", "base_url": server.url}}, "repair": {"mode": "off"}}
            config["verification"] = {"make_check": "never"}
            fill(home, {".config/codur/config.yaml": yaml.safe_dump(config)})
            variables = {"GROQ_API_KEY": KEY} if key else {}
            ran = codur_here("run", *words, "--json", cwd=project, home=home, **variables)
        self.result: dict[str, Any] = the_object(ran.out)
        self.requests = [str(body["messages"][-1]["content"]) for body in server.bodies]
        self.code, self.unexpected, self.files = ran.code, server.unexpected, contents(project)


def of_user(project: Path, *steps: dict[str, Any], task: str = "look") -> str:
    path = project.parent / "plan.yaml"
    path.write_text(yaml.safe_dump({"codur_plan": 1, "task": task, "steps": list(steps)}))
    return str(path)


def test_what_code_cannot_decide_is_judged_by_one_call(project: Path, home: Path) -> None:
    fill(project, NOTES)
    given = of_user(project, OPEN, {**OPEN, "id": "again", "success_criteria": "", "expected_output": "four lines"})
    ran = Ran([judged((False, "There are 4."), (True, "Four."))], project, home, "--plan-file", given)
    assert (ran.code, ran.unexpected, len(ran.requests)) == (1, 0, 1)
    assert ran.result["reason"] == "step look: 'at least 50 matches' is not met, judged by a model: There are 4."
    assert "step again: 'four lines' is met, judged by a model: Four." in ran.result["notes"]
    assert "notes.txt:4" in ran.requests[0]


def test_what_is_met_ends_as_the_checks_say(project: Path, home: Path) -> None:
    fill(project, NOTES)
    ran = Ran([judged((True, "Enough."))], project, home, "--plan-file", of_user(project, OPEN))
    assert (ran.code, ran.result["outcome"]) == (0, "done")
    assert "step look: 'at least 50 matches' is met, judged by a model: Enough." in ran.result["notes"]


@pytest.mark.parametrize("why", ["no model", "the service fails", "an answer that says nothing of it"])
def test_without_a_judge_the_users_plan_ends_with_1_and_its_work_stays(why: str, project: Path, home: Path) -> None:
    replies = {"no model": [], "the service fails": [error(401)], "an answer that says nothing of it": [judged()]}[why]
    given = of_user(project, WRITE, task="write a poem into poem.txt")
    ran = Ran(replies, project, home, "--plan-file", given, key=why != "no model")
    assert (ran.code, ran.result["outcome"], ran.unexpected) == (1, "not_achieved", 0)
    assert ran.result["reason"].startswith("not checked: 'it rhymes' (step write): ")
    assert (ran.files, ran.result["changed_files"]) == ({"poem.txt": "A line.\n"}, ["poem.txt"])


def test_what_is_not_met_is_undone(project: Path, home: Path) -> None:
    given = of_user(project, WRITE, task="write a poem into poem.txt")
    ran = Ran([judged((False, "One line does not rhyme."))], project, home, "--plan-file", given)
    assert (ran.code, ran.files) == (1, {})


def test_what_code_decides_costs_no_call(project: Path, home: Path) -> None:
    fill(project, NOTES)
    step = {**OPEN, "success_criteria": "output contains count", "expected_output": "output lacks never"}
    ran = Ran([], project, home, "--plan-file", of_user(project, step))
    assert (ran.code, ran.requests, ran.result["notes"]) == (0, [], [])
    step = {**OPEN, "success_criteria": "", "expected_output": "output contains never"}
    ran = Ran([], project, home, "--plan-file", of_user(project, step))
    assert (ran.code, ran.result["reason"]) == (1, "not met: output contains never")


@pytest.mark.parametrize("words", ["hello.txt exists", "the greeting is warm"])
def test_a_last_word_is_held_to_what_is_said_of_it(words: str, project: Path, home: Path) -> None:
    last = {"id": "say", "action": "respond", "arguments": {"text": "Hi."}, "success_criteria": words}
    ran = Ran([judged((False, "It is cold."))], project, home, "--plan-file", of_user(project, last))
    assert (ran.code, ran.result["outcome"]) == (1, "not_achieved")
    assert words in ran.result["reason"]


def test_a_red_check_stays_red_whatever_is_said_of_the_criteria(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    fix = {"id": "fix", "action": "coding", "capability": "codur-coding", "success_criteria": "the code is short"}
    wrong = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))
    given = of_user(project, fix, task="fix main.py")
    ran = Ran([wrong, judged((True, ""))], project, home, "--plan-file", given, "--max-iterations", "1")
    assert (ran.code, len(ran.requests), ran.files) == (4, 1, NEEDS_MODEL)


def test_the_users_criteria_hold_for_the_plan_that_takes_the_place_of_theirs(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    look = {"id": "look", "action": "tool", "capability": "read_file", "arguments": {"path": "main.py"}}
    fix = {"id": "fix", "action": "coding", "capability": "codur-coding", "success_criteria": "the code is short"}
    wrong = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))
    right = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
    anew = plan({"action": "coding", "capability": "codur-coding"})
    given = of_user(project, look, fix, task="fix main.py")
    ran = Ran([wrong, anew, right, judged((False, "It is long."))], project, home, "--plan-file", given)
    assert (ran.code, ran.unexpected, ran.files) == (1, 0, NEEDS_MODEL)
    assert "'the code is short' is not met, judged by a model" in ran.result["reason"]


def test_what_a_model_says_of_its_own_plan_is_judged_too(project: Path, home: Path) -> None:
    fill(project, NOTES)
    steps = plan({**tool("grep_files", pattern="count"), "expected_output": WORDS}, ANSWER)
    ran = Ran([PLANNED, steps, judged((False, "There are 4."))], project, home, TASK)
    assert (ran.code, ran.unexpected) == (1, 0)
    ran = Ran([PLANNED, steps, error(401)], project, home, TASK)
    assert (ran.code, ran.result["outcome"]) == (0, "done")
    assert any(note.startswith(f"not checked: '{WORDS}' (step s0): ") for note in ran.result["notes"])


def test_of_an_edit_that_the_check_passes_the_models_own_words_are_left_to_the_check(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    right = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
    steps = plan({"action": "coding", "capability": "codur-coding", "success_criteria": "the code is short"})
    ran = Ran([steps, right], project, home, "read main.py, then fix it, then say what was wrong with it")
    assert (ran.code, ran.unexpected, len(ran.requests)) == (0, 0, 2), ran.result["route"]
    assert "left to the check: 'the code is short' (step s0)" in ran.result["notes"]


TASK = "which words occur how often in the notes, and is that a lot?"
PLANNED = json_reply(
    {"reasoning": "", "task_type": "explanation", "detected_files": [], "suggested_action": "plan", "confidence": 0.5}
)
ANSWER = {"action": "respond", "arguments": [{"name": "text", "value": "${s0}"}]}
