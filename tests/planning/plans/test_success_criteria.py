"""Success criteria that code can check."""

from __future__ import annotations

import pytest

from codur.planning.plans.success_criteria import Outcome, checkable, out_of_reach, unmet

FILES = {"src/a.py": "def f():\n    return 1\n", "empty.txt": ""}


def outcome(output: str = "two lines\nof output", exit_status: int | None = 0) -> Outcome:
    return Outcome(output=output, exit_status=exit_status, changed=("src/a.py",), text=FILES.get)


@pytest.mark.parametrize(
    "criterion",
    [
        "output is not empty",
        "the output contains two lines",
        "Output contains `of output`",
        "output lacks three",
        "exit status 0",
        "exit code is 0",
        "src/a.py exists",
        "`src/a.py` contains 'return 1'",
        "src/a.py lacks return 2",
        "empty.txt exists",
        "nowhere.py is gone",
        "src/a.py changed",
        "output is not empty; src/a.py exists; exit status 0.",
        'output contains "two lines"; output lacks "x; y"',
    ],
)
def test_what_holds(criterion: str) -> None:
    assert checkable(criterion)
    assert unmet(criterion, outcome()) == ""


@pytest.mark.parametrize(
    "criterion",
    [
        "output is empty",
        "output contains three",
        "output lacks two",
        "exit status 1",
        "nowhere.py exists",
        "src/a.py is gone",
        "src/a.py contains return 2",
        "nowhere.py contains x",
        "nowhere.py lacks x",
        "empty.txt changed",
    ],
)
def test_what_does_not_hold(criterion: str) -> None:
    assert unmet(criterion, outcome()) == criterion
    assert unmet(f"output is not empty; {criterion}", outcome()) == criterion


def test_where_no_program_is_to_run_its_exit_status_is_not_looked_at() -> None:
    edited = Outcome(output="", exit_status=None, changed=("src/a.py",), text=FILES.get, runs=False)
    assert unmet("exit status 0", edited) == ""
    assert unmet("exit status 0; src/a.py contains return 2", edited) == "src/a.py contains return 2"


def test_a_program_that_was_not_run_has_no_exit_status() -> None:
    assert unmet("exit status 0", outcome(exit_status=None)) == "exit status 0"


@pytest.mark.parametrize(
    "words", ["", "the code is clean", "all callers were found", "output contains", "a.py contains"]
)
def test_what_code_cannot_check_is_left_to_people(words: str) -> None:
    assert checkable(words) == ()
    assert unmet(words, outcome(output="")) == ""


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        ("src/a.py contains return 2", "src/a.py contains return 2"),
        ("output is not empty; src/a.py changed", "src/a.py changed"),
        ("src/a.py is gone", "src/a.py is gone"),
        ("src/a.py contains return 1; src/a.py exists", ""),
        ("b.py contains x; exit status 0; it is beautiful", ""),
        ("", ""),
    ],
)
def test_what_a_file_that_cannot_change_will_never_hold(criteria: str, found: str) -> None:
    assert out_of_reach(criteria, ["src/a.py"], FILES.get) == found
