"""Hints order the search by kinds of mistakes and by places, leave nothing out, and cost little if they are wrong."""

from __future__ import annotations

import pytest

from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.late_candidates import Sight, prospects
from codur.repair.evidence.failing_lines import Failure
from codur.repair.hints import KINDS, read_hints
from codur.repair.operators.table import OPERATORS
from tests.repair.support import QUICK_PYTEST, TESTS, Bench, bench, opened

PROGRAM = """
def mean(rows):
    total = 0
    for row in rows:
        total = total + row[1]
    return total / len(rows)


def names(rows):
    found = []
    for row in rows:
        if row[0] not in found:
            found.append(row[0])
    return found


def ranking(rows):
    average = mean(rows)
    best = [row for row in rows if row[1] >= average]
    return sorted(best, key=lambda row: row[0])


def report(rows):
    people = names(rows)
    lines = []
    for place, row in enumerate(ranking(rows), start=1):
        if row[0] in people:
            lines.append(str(place) + " " + row[0])
    return lines
"""
FILES = {
    "main.py": PROGRAM.lstrip(),
    "test_main.py": """
from main import report

def test_report():
    rows = [("eve", 8), ("ann", 3), ("cid", 7), ("bob", 9), ("dan", 1)]
    assert report(rows) == ["1 cid", "2 eve", "3 bob"]
""",
    "pytest.ini": QUICK_PYTEST,
}
"""`ranking` sorts by the name, and is to sort by the number."""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp("wrong"), FILES, TESTS)


@pytest.fixture(scope="module")
def unaided(wrong: Bench) -> int:
    """How many candidates are judged without a hint."""
    return tried(wrong)


def tried(wrong: Bench, *hints: str, task: str = "") -> int:
    found = wrong.search(task=task, hints=hints, workers=1, clock=lambda: 0.0)
    assert "row: row[0]" not in found.files["main.py"], found.reason
    return found.tried


@pytest.mark.parametrize("hint", ["probably the sort key", "`ranking` is wrong", "see main.py:19"])
def test_with_a_right_hint_fewer_candidates_are_judged(hint: str, wrong: Bench, unaided: int) -> None:
    assert tried(wrong, hint) < unaided * 0.8


def test_a_kind_and_a_place_are_better_still(wrong: Bench, unaided: int) -> None:
    assert tried(wrong, "the sort key in ranking") < unaided / 2


def test_what_the_task_suspects_is_a_hint(wrong: Bench, unaided: int) -> None:
    assert tried(wrong, task="Make the tests pass. Probably the sort key is wrong in ranking.") < unaided / 2


def test_what_the_task_says_otherwise_is_none(wrong: Bench, unaided: int) -> None:
    assert tried(wrong, task="Print the people sorted by the number. Return a list.") == unaided


@pytest.mark.parametrize("hint", ["a regular expression in names", "infinite loop in `mean`", "no idea"])
def test_a_wrong_hint_costs_little(hint: str, wrong: Bench, unaided: int) -> None:
    assert tried(wrong, hint) < unaided * 1.5


def test_nothing_is_left_out() -> None:
    texts = {"main.py": FILES["main.py"]}
    hints = read_hints(texts, "", ["looks like an off-by-one in ranking"])
    plain, hinted = (sorted(map(told, opened(prospects(sight)))) for sight in (sight_of(), sight_of(hints)))
    assert plain == hinted


def test_what_is_hinted_comes_first() -> None:
    hints = read_hints({"main.py": FILES["main.py"]}, "", ["off by one"])
    first = max(opened(prospects(sight_of(hints))), key=lambda each: each.priority * each.hinted)
    assert first.offer is not None
    assert first.offer.operator in hints.operators


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("looks like an off-by-one", "off by one"),
        ("probably the sort key", "sorting"),
        ("the arguments are swapped", "order of things; arguments"),
        ("da fehlt eine Bedingung", "comparison"),
        ("in `average`", "main.py:17 and 1 line more"),
        ("main.py:3", "main.py:3"),
        ("sort.py", ""),
        ("who knows", ""),
    ],
)
def test_what_is_understood(words: str, told: str) -> None:
    assert read_hints({"main.py": FILES["main.py"]}, "", [words]).told == told


def test_every_operator_is_of_a_kind_and_every_kind_of_operators() -> None:
    named = {operator for kind in KINDS for operator in kind.operators}
    assert named == {row.name for row in OPERATORS}


def sight_of(hints: object = None) -> Sight:
    program = Program(texts={"main.py": FILES["main.py"]})
    return Sight(program=program, failure=Failure(), **({"hints": hints} if hints else {}))  # type: ignore[arg-type]


def told(candidate: Candidate) -> tuple[str, float]:
    return candidate.new_text(), candidate.priority
