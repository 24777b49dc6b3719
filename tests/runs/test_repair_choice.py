"""Repairs that pass and differ: with a model at hand it chooses, without one the first is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.planning.repair_choice import read_choice
from tests.runs.kit import EDIT, Played, play
from tests.support.groq_server import ServerReply, calls, error, text

DOUBLED = {
    "main.py": '"""Doubles a number."""\n\nn = int(input())\nprint(n - 2)\n',
    "input.txt": "2\n",
    "expected.txt": "4\n",
}
SUM, PRODUCT = "print(n + 2)", "print(n * 2)"


def fixed(directory: Path, replies: list[ServerReply], **fields: Any) -> Played:
    return play(directory, DOUBLED, "fix main.py", replies, search=True, **fields)


def test_a_model_chooses_by_number(tmp_path: Path) -> None:
    first = fixed(tmp_path, [text("1")])
    assert first.result.repair is not None
    patches = first.result.repair.patches
    wanted = next(place for place, patch in enumerate(patches, start=1) if f"+{PRODUCT}" in patch.diff)
    again = tmp_path / "again"
    again.mkdir()
    run = fixed(again, [text(f"{wanted}")])
    assert (run.result.outcome, run.result.solved_by, run.result.model_calls) == ("done", "repair", 1)
    assert run.nodes == ["pattern_plan", "policy", "repair", "choose", "repair", "review"]
    assert PRODUCT in run.files["main.py"]
    assert run.result.repair is not None
    assert (run.result.repair.chosen, run.result.repair.chosen_by) == (wanted - 1, "model")
    assert run.result.explanation == patches[wanted - 1].explanation


def test_what_the_model_is_shown(tmp_path: Path) -> None:
    run = fixed(tmp_path, [text("1")])
    (request,) = run.requests
    shown = run.message(0)
    assert request.body["model"] == "openai/gpt-oss-20b"
    for words in ("fix main.py", '"""Doubles a number."""', "Repair 1: ", "Repair 2: ", f"+{SUM}", f"+{PRODUCT}"):
        assert words in shown
    assert "For the input " in shown
    assert len(shown) < 6000


@pytest.mark.parametrize(
    "reply", [text("I cannot tell."), text("99"), text("1 or 2"), error(400, "no")], ids=["words", "99", "two", "error"]
)
def test_without_a_usable_answer_the_first_is_taken(reply: ServerReply, tmp_path: Path) -> None:
    run = fixed(tmp_path, [reply])
    assert (run.result.outcome, run.result.solved_by) == ("done", "repair")
    assert run.result.repair is not None
    assert (run.result.repair.chosen, run.result.repair.chosen_by) == (0, "rank")


def test_where_the_model_wants_none_the_task_is_left_to_it(tmp_path: Path) -> None:
    mended = DOUBLED["main.py"].replace("print(n - 2)", PRODUCT)
    edit = calls(("replace_file_content", {"path": "main.py", "content": mended}))
    run = fixed(tmp_path, [text("0 (none: both hide it)"), EDIT, edit])
    assert run.nodes[:6] == ["pattern_plan", "policy", "repair", "choose", "repair", "review"]
    assert "coding" in run.nodes
    assert (run.result.outcome, run.result.solved_by) == ("done", "codur-coding")
    assert PRODUCT in run.files["main.py"]


def test_without_a_model_the_first_is_taken_and_the_others_are_told(tmp_path: Path) -> None:
    run = fixed(tmp_path, [], key=None)
    assert (run.result.outcome, run.result.model_calls) == ("done", 0)
    assert run.nodes == ["pattern_plan", "policy", "repair", "review"]
    assert run.result.repair is not None
    assert (run.result.repair.chosen, run.result.repair.chosen_by, run.result.repair.tier) == (0, "rank", "guided")
    assert run.result.repair.passing > 1
    assert len(run.result.repair.patches) > 1


def test_no_repair_is_taken_where_tests_that_may_tell_them_apart_cannot_run(tmp_path: Path) -> None:
    """It was taken and told as solved, and the tests that lacked a plugin failed with it."""
    files = {
        "main.py": "def double(n):\n    return n - 2\n",
        "test_main.py": "from main import double\n\n\ndef test_two():\n    assert double(2) == 4\n",
        "test_more.py": "from main import double\n\n\ndef test_three(mocker):\n    assert double(3) == 6\n",
    }
    run = play(tmp_path, files, "the tests fail, fix the bug", [], search=True, offline=True)
    assert (run.result.outcome, run.files["main.py"]) == ("no_model", files["main.py"])
    assert "behave differently" in run.result.reason
    assert "1 test cannot run here" in run.result.reason
    assert "--pick" in run.result.remedy
    assert run.result.repair is not None
    assert len(run.result.repair.patches) > 1
    (tmp_path / "again").mkdir()
    chosen = play(tmp_path / "again", files, "the tests fail, fix the bug", [text("1")], search=True)
    assert (chosen.result.outcome, chosen.result.model_calls) == ("done", 1)


def test_a_module_that_cannot_be_searched_for_doctests_keeps_no_repair_back(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
        "main.py": "def double(n):\n    return n - 2\n",
        "fast.py": "import absent_accelerator\n",
        "test_main.py": "from main import double\n\n\ndef test_two():\n    assert double(2) == 4\n",
    }
    run = play(tmp_path, files, "the tests fail, fix the bug", [], search=True, offline=True)
    assert (run.result.outcome, run.result.solved_by) == ("done", "repair")
    assert run.result.repair is not None
    assert len(run.result.repair.patches) > 1


@pytest.mark.parametrize(
    ("answer", "number"),
    [("2", 2), (" 2.\n", 2), ("Repair 2", 2), ("2, because 2 is right", 2), ("", None), ("none", 0), ("0", 0),
     ("0 (none: 2 and 3 hide it)", 0), ("**None**", 0),
     ("None of the others is right; 2", 2), ("None except 1.", 1),
     ("None. Both only hide the fault of line 2", 0), ("Neither: 1 and 3 hide the bug of test 2", 0),
     ("0 is wrong, 1", 1), ("2, as none else", 2),
     ("Neither", 0), ("No repair.", 0), ("The answer is 0", 0), ("Answer: none", 0), ("1 or 0", None),
     ("4", None), ("1 or 2", None), ("-", None)],
)  # fmt: skip
def test_the_number_in_an_answer(answer: str, number: int | None) -> None:
    assert read_choice(answer, 3) == number


def test_a_search_never_changes_a_test(tmp_path: Path) -> None:
    """It would find that the test is wrong: 3 in place of 4 lets it pass."""
    files = {
        "shop.py": "def total(prices):\n    return sum(prices)\n",
        "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n"
        "    assert total([2]) == 2\n    assert total([1, 2]) == 4\n",
    }
    run = play(tmp_path, files, "fix test_shop.py", [], search=True, key=None, offline=True)
    assert run.files["test_shop.py"] == files["test_shop.py"]
