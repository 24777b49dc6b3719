"""`codur challenge`: make one, see whether it is sound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import codur, codur_here
from tests.runs.kit import contents, fill

RED = {"main.py": "print(2)\n", "expected.txt": "1\n", "prompt.txt": "fix main.py\n"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory to work in."""
    path = tmp_path / "place"
    path.mkdir()
    return path


def test_a_new_challenge_says_what_to_do_with_it(place: Path, home: Path) -> None:
    ran = codur_here("challenge", "new", "first one", cwd=place, home=home)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "made first one, an example to replace:",
        "  prompt.txt    the task, in the words of someone who wants it done",
        "  main.py       the program with its bug",
        "  expected.txt  what a right program prints",
        "see whether it is sound: codur challenge check 'first one'",
        "solve it: codur solve 'first one'",
    ]
    before = contents(place)
    again = codur_here("challenge", "new", "first one", cwd=place, home=home)
    assert (again.code, again.err.splitlines()[0]) == (2, "✘ first one: is there already")
    assert contents(place) == before


def test_what_was_made_is_sound_and_can_be_solved(place: Path, home: Path) -> None:
    assert codur_here("challenge", "new", "one", "--tests", "--output", "made", cwd=place, home=home).code == 0
    assert codur_here("challenge", "new", "two", "--output", "made", cwd=place, home=home).code == 0
    ran = codur("challenge", "check", "made", "--no-sandbox", cwd=place, home=home)
    lines = ran.out.splitlines()
    assert (ran.code, ran.err, lines[-1]) == (0, "", "2 of 2 challenges sound")
    assert lines[0].startswith("✔ one: red before (1 of 2 tests pass), the same in two runs, ")
    assert lines[1] == "    check: python -m pytest (the tests in test_main.py)"
    assert lines[2].startswith("✔ two: red before (at output line 2), the same in two runs, ")
    solved = codur("solve", "made/two", "--offline", "--no-sandbox", cwd=place, home=home)
    assert solved.code == 0, solved.err


def test_one_that_is_not_sound_ends_with_1(place: Path, home: Path) -> None:
    fill(place, {f"red/{name}": text for name, text in RED.items()})
    fill(place, {f"green/{name}": text for name, text in {**RED, "main.py": "print(1)\n"}.items()})
    ran = codur_here("challenge", "check", ".", "--no-sandbox", "--json", cwd=place, home=home)
    told = json.loads(ran.out)
    assert (ran.code, told["sound"]) == (1, 1)
    assert [(one["name"], one["sound"], one["before"], one["alike"]) for one in told["challenges"]] == [
        ("green", False, "passed", True),
        ("red", True, "failed", True),
    ]
    shown = codur_here("challenge", "check", "green", "--no-sandbox", cwd=place, home=home)
    assert shown.out.splitlines()[2:] == [
        "    problem: its check passes already, so it cannot show whether anything is solved",
        "0 of 1 challenge sound",
    ]


def test_no_challenge_at_all(place: Path, home: Path) -> None:
    ran = codur_here("challenge", "check", ".", cwd=place, home=home)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "✘ .: no challenge found")
    assert "prompt.txt" in ran.err.splitlines()[1]


def test_alone_it_shows_its_help(place: Path, home: Path) -> None:
    ran = codur_here("challenge", cwd=place, home=home)
    assert ran.code == 0
    assert "new" in ran.out
    assert "check" in ran.out
