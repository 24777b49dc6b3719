"""After a model's attempt the tests that failed are run first, and the whole check before anything is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.events import CheckRan, Note
from codur.patches import RepairRequest
from tests.runs.kit import Played, play
from tests.support.groq_server import ServerReply, calls

TASK = "fix double in shop.py, which test_double shows"
SHOP = "def double(n):\n    return n + 3\n\n\ndef half(n):\n    return n // 2\n"
SLOW = """import time

from shop import double, half


def test_slow():
    time.sleep(1.1)
    assert half(4) == 2


def test_half():
    assert half(5) == 2


def test_double():
    assert double(5) == 10
"""
ONE_EDIT = {"repair": {"max_order": 1}}
NOTE = "what failed before still fails; the other tests were not run"


def double(value: str) -> ServerReply:
    code = f"def double(n):\n    return {value}\n"
    return calls(("replace_function", {"path": "shop.py", "name": "double", "code": code}))


def checks(run: Played) -> list[tuple[str, int | None, int | None, str]]:
    """When each check ran that counts, how many tests passed, of how many, and what else it said."""
    told = [(event.when, event.verdict) for event in run.events if isinstance(event, CheckRan)]
    return [(when, verdict.tests_passed, verdict.tests_total, verdict.note) for when, verdict in told]


def test_an_attempt_that_changes_nothing_does_not_take_the_whole_suite(tmp_path: Path) -> None:
    replies = [double("n + 3 + 0"), double("n * 2")]
    run = play(tmp_path, {"shop.py": SHOP, "test_shop.py": SLOW}, TASK, replies)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert checks(run) == [("before", 2, 3, ""), ("attempt", 0, 1, NOTE), ("attempt", 3, 3, "")]
    assert "assert 8 == 10" in run.message(1)


def test_once_the_tests_fail_alone_as_among_all_they_are_enough(tmp_path: Path) -> None:
    replies = [double("n + 4"), double("n + 6"), double("n * 2")]
    run = play(tmp_path, {"shop.py": SHOP, "test_shop.py": SLOW}, TASK, replies)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert checks(run) == [
        ("before", 2, 3, ""),
        ("attempt", 2, 3, ""),
        ("attempt", 0, 1, NOTE),
        ("attempt", 3, 3, ""),
    ]
    assert "assert 11 == 10" in run.message(2)


def test_a_test_that_needs_the_others_is_run_among_them(tmp_path: Path) -> None:
    needs = SLOW.replace("def test_slow():\n", "seen = []\n\n\ndef test_slow():\n    seen.append(1)\n")
    needs = needs.replace(
        "    assert double(5) == 10", "    assert seen, 'nobody was here'\n    assert double(5) == 10"
    )
    replies = [double("n + 4"), double("n * 2")]
    run = play(tmp_path, {"shop.py": SHOP, "test_shop.py": needs}, TASK, replies)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert checks(run) == [("before", 2, 3, ""), ("attempt", 2, 3, ""), ("attempt", 3, 3, "")]


def test_what_mends_the_failing_test_and_breaks_another_is_not_done(tmp_path: Path) -> None:
    spoilt = calls(
        ("replace_function", {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}),
        ("replace_function", {"path": "shop.py", "name": "half", "code": "def half(n):\n    return n\n"}),
    )
    run = play(tmp_path, {"shop.py": SHOP, "test_shop.py": SLOW}, TASK, [spoilt, double("n * 2")])
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert checks(run) == [("before", 2, 3, ""), ("attempt", 1, 3, ""), ("attempt", 3, 3, "")]
    assert "def half(n):\n    return n // 2\n" in run.files["shop.py"]


SIDES = {
    "shop.py": "def cents(x):\n    return int(x)\n\n\ndef double(n):\n    return n + 3\n",
    "test_double.py": "from shop import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
    "test_other.py": "from shop import double\n\n\ndef test_zero():\n    assert double(3) == 6\n\n\n"
    "def test_red():\n    assert double(0) == 1\n",
}


def test_a_pass_of_the_one_file_that_was_named_must_break_no_test_of_another(tmp_path: Path) -> None:
    answers = [double("n + 5"), double("n * 2")]
    run = play(tmp_path, SIDES, "fix the failing test in test_double.py", answers)
    assert (run.result.outcome, run.unexpected, len(run.requests)) == ("done", 0, 2)
    assert "n * 2" in run.files["shop.py"]
    told = run.message(1)
    assert "test_other" in told
    assert "test_red" not in told.partition("# Earlier attempts")[2]


def test_a_search_takes_no_repair_that_breaks_a_test_of_another_file(tmp_path: Path) -> None:
    sides = {**SIDES, "shop.py": "def double(n):\n    return n + 2 if n > 4 else n * 2\n"}
    sides["test_double.py"] = "from shop import double\n\n\ndef test_double():\n    assert double(5) == 3\n"
    sides["test_other.py"] = "from shop import double\n\n\ndef test_six():\n    assert double(6) == 8\n"
    prompt = "fix the failing test in test_double.py"
    run = play(tmp_path, sides, prompt, [], key=None, search=True, offline=True, sections=ONE_EDIT)
    assert (run.result.outcome, run.files) == ("no_model", sides)
    assert "breaks test_other.py::test_six" in run.result.reason


def next_repairs(directory: Path, *others: str, asked: RepairRequest | None = None) -> Played:
    """An offline search whose check is one file, where `n * 2` and `n + 2` pass and `n * 2` comes first."""
    told = "".join(f"\n\ndef test_{number}():\n    assert {line}\n" for number, line in enumerate(others))
    files = {
        "shop.py": "def double(n):\n    return n - 2\n",
        "test_double.py": "from shop import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
        "test_other.py": f"from shop import double\n{told}",
    }
    prompt = "fix the failing test in test_double.py"
    return play(directory, files, prompt, [], key=None, search=True, offline=True, sections=ONE_EDIT, repair=asked)


@pytest.mark.parametrize("asked", [None, RepairRequest()], ids=["fix", "repair"])
def test_the_next_repair_is_tried_where_the_first_breaks_a_test_of_another_file(
    asked: RepairRequest | None, tmp_path: Path
) -> None:
    run = next_repairs(tmp_path, "double(5) % 4 == 3", asked=asked)
    assert (run.result.outcome, run.result.solved_by) == ("done", "repair")
    assert "n + 2" in run.files["shop.py"]
    assert "`+` in place of `-`" in run.result.explanation
    (note,) = run.result.notes
    assert note == "repair 1 of 2 breaks test_other.py::test_0; the next one is tried"
    assert run.result.repair is not None
    assert [patch.distinction for patch in run.result.repair.patches] == [None]


def test_where_each_repair_breaks_another_test_nothing_is_changed(tmp_path: Path) -> None:
    run = next_repairs(tmp_path, "double(5) % 4 == 3", "double(-2) == -4")
    assert (run.result.outcome, len(run.result.attempts)) == ("no_model", 2)
    assert "n - 2" in run.files["shop.py"]
    assert "breaks test_other.py::test_1" in run.result.reason


def test_a_repair_that_the_user_picked_is_followed_by_no_other(tmp_path: Path) -> None:
    run = next_repairs(tmp_path, "double(-2) == -4", asked=RepairRequest(files=("shop.py",), pick=2))
    assert (run.result.outcome, len(run.result.attempts)) == ("not_achieved", 1)
    assert "n - 2" in run.files["shop.py"]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (
            "test_doubel",
            ["there is no test test_doubel among those of test_double.py that run; nearest: test_double, test_each"],
        ),
        ("Nothing::like_it", ["there is no test Nothing::like_it among those of test_double.py that run"]),
        ("test_double", []),
        ("test_each", []),
    ],
)
def test_a_test_that_is_named_and_not_there_is_told(named: str, told: list[str], tmp_path: Path) -> None:
    each = "\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_each(n):\n    assert n\n"
    files = {**SIDES, "test_double.py": f"import pytest\n{SIDES['test_double.py']}{each}"}
    run = play(tmp_path, files, f"fix test_double.py::{named}.", [double("n * 2")])
    assert run.result.outcome == "done"
    assert [event.text for event in run.events if isinstance(event, Note)] == told
