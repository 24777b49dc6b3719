"""What a model says at the end, or asks, where the check says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs.kit import play
from tests.support.groq_server import ServerReply, calls, json_reply

PARTS = "def low(n):\n    return n - 2\n\n\ndef high(n):\n    return n + 2\n"
TESTS = (
    "from parts import high, low\n\n\ndef test_low():\n    assert low(3) == 2\n\n\n"
    "def test_high():\n    assert high(3) == 4\n"
)
FILES = {"parts.py": PARTS, "test_parts.py": TESTS}
HALF = PARTS.replace("n - 2", "n - 1")
RIGHT = HALF.replace("n + 2", "n + 1")
CLAIM = calls(("cannot", {"reason": "All faults of parts.py are mended; the tests pass."}))


def whole(text: str) -> ServerReply:
    return calls(("replace_file_content", {"path": "parts.py", "content": text}))


def classified(**said: object) -> ServerReply:
    known = {"task_type": "code_fix", "confidence": 0.95, "detected_files": ["parts.py"], "suggested_action": "edit"}
    return json_reply({**known, "reasoning": "It is wrong.", **said})


def test_a_claim_that_all_is_well_is_no_end_while_the_check_fails(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "the tests fail, fix parts.py", [whole(HALF), CLAIM, whole(RIGHT)])
    assert (played.result.outcome, played.files["parts.py"]) == ("done", RIGHT)
    assert "The check still fails" in played.message(2)


@pytest.mark.parametrize(
    "prompt",
    ["pytest is red, please fix. dont touch the tests", "pytest ist rot, bitte reparieren. die tests nicht anfassen"],
)
def test_who_forbids_to_touch_the_tests_wants_them_to_pass(prompt: str, tmp_path: Path) -> None:
    finish = calls(("finish", {"reason": "The other one has nothing to do with it."}))
    played = play(tmp_path, FILES, prompt, [whole(HALF), finish, finish, finish, finish, finish])
    assert played.result.outcome == "not_achieved"


def test_a_question_what_is_broken_is_not_asked_where_the_check_says_it(tmp_path: Path) -> None:
    asks = classified(task_type="unknown", detected_files=[], suggested_action="end", answer="What exactly is broken?")
    played = play(tmp_path, FILES, "its broken", [asks, whole(RIGHT)])
    assert (played.result.outcome, played.files["parts.py"]) == ("done", RIGHT)


def test_what_a_new_test_wanted_first_is_told_where_the_program_fails_it(tmp_path: Path) -> None:
    def written(number: int) -> ServerReply:
        test = f"from slug import slug\n\n\ndef test_limit():\n    assert slug('aaaaaa') == 'a' * {number}\n"
        return calls(("replace_file_content", {"path": "test_slug.py", "content": test}))

    files = {"slug.py": "def slug(s, limit=4):\n    return s[: limit - 1] if len(s) > limit else s\n"}
    kind = classified(task_type="code_generation", detected_files=["slug.py"])
    played = play(tmp_path, files, "write tests for slug.py", [kind, written(4), written(3)])
    assert played.result.outcome == "done"
    assert any("first written otherwise" in note and "test_limit" in note for note in played.result.notes)


LACKS = {
    "app.py": "import nosuchlib\n\n\ndef shown(value):\n    return nosuchlib.dumps(value)\n",
    "test_app.py": "from app import shown\n\n\ndef test_shown():\n    assert shown([1]) == '[1]'\n",
}


@pytest.mark.parametrize(("call", "outcome"), [("dumps(value)", "done"), ("dumps([value])", "not_achieved")])
def test_a_check_that_can_be_run_only_after_the_change_judges_it(call: str, outcome: str, tmp_path: Path) -> None:
    text = f"import json\n\n\ndef shown(value):\n    return json.{call}\n"
    edit = calls(("replace_file_content", {"path": "app.py", "content": text}))
    kind = classified(task_type="refactor", detected_files=["app.py"])
    played = play(
        tmp_path, LACKS, "use json in app.py, not nosuchlib", lambda body: edit if body.get("tools") else kind
    )
    assert played.result.outcome == outcome
    assert played.result.verdict is not None
    assert "pytest" in played.result.verdict.check


@pytest.mark.parametrize(
    ("prompt", "files", "check"),
    [
        ("the links in docs/ are broken, repair them", {"docs/a.md": "[b](c.md)\n"}, False),
        ("settings.json is broken, fix it", {"settings.json": "{,}\n"}, False),
        ("main.py is broken, fix it", {"main.py": "print(1)\n"}, True),
    ],
)
def test_of_documents_no_check_is_asked_for(prompt: str, files: dict[str, str], check: bool, tmp_path: Path) -> None:
    run = play(tmp_path, files, prompt, [], key=None, search=True)
    assert run.result.outcome == "no_model"
    assert ("--check" in run.result.reason) is check
