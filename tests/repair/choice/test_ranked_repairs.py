"""Plausible is not correct: what a search says when several repairs pass, and what it is based on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from codur.patches import Distinction
from codur.repair.choice.input_generator import changed_arguments, changed_text
from codur.repair.evidence.observed_values import Observed
from codur.repair.evidence.tracing import run_traced
from codur.structs import replace
from tests.repair.support import OUTPUT, QUICK_PYTEST, TESTS, bench

UNHURRIED: Any = {"workers": 1, "clock": time.process_time}
"""A busy machine must not end the comparison of what passes."""

READING = replace(OUTPUT, stdin_file="input.txt", protected=("expected.txt", "input.txt"))


def test_repairs_that_differ_are_shown_with_an_input_that_tells_them_apart(tmp_path: Path) -> None:
    files = {"main.py": "n = int(input())\nprint(n - 2)\n", "input.txt": "2\n", "expected.txt": "4\n"}
    found = bench(tmp_path, files, READING).search(**UNHURRIED)
    assert found.tier == "guided"
    assert found.passing > 1
    assert found.files == {"main.py": "n = int(input())\nprint(n + 2)\n"}
    other = next(each for each in found.repairs[1:] if each.files["main.py"] == "n = int(input())\nprint(n * 2)\n")
    assert (
        other.patch.diff
        == "--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n n = int(input())\n-print(n - 2)\n+print(n * 2)"
    )
    assert other.patch.explanation == "`n - 2` (main.py:2) needs `*` in place of `-`."
    assert other.patch.operators == ("arithmetic swapped",)
    assert other.patch.distinction == Distinction(input="3\n", first="5\n", other="6\n")


def test_repairs_of_a_tested_function_are_told_apart_by_a_call(tmp_path: Path) -> None:
    files = {
        "main.py": "def area(a, b):\n    return a - b\n",
        "test_main.py": "from main import area\n\n\ndef test_area():\n    assert area(2, 2) == 4\n",
        "pytest.ini": QUICK_PYTEST,
    }
    found = bench(tmp_path, files, TESTS).search(budget_s=120.0)
    assert found.tier == "guided"
    assert found.files == {"main.py": "def area(a, b):\n    return a + b\n"}
    other = found.repairs[1]
    assert other.files == {"main.py": "def area(a, b):\n    return a * b\n"}
    assert other.patch.distinction == Distinction(input="area(3, 2)", first="5", other="6")


def test_the_only_repair_that_passes_is_clear(tmp_path: Path) -> None:
    text = "def total(n):\n    return sum(range(1, n))\n\n\nfor n in (3, 10, 100):\n    print(n, total(n))\n"
    found = bench(tmp_path, {"main.py": text, "expected.txt": "3 6\n10 55\n100 5050\n"}).search(**UNHURRIED)
    assert found.tier == "deterministic"
    assert found.files == {"main.py": text.replace("range(1, n)", "range(1, n + 1)")}


def test_the_workspace_holds_nothing_new_after_a_comparison(tmp_path: Path) -> None:
    files = {"main.py": "n = int(input())\nprint(n - 2)\n", "input.txt": "2\n", "expected.txt": "4\n"}
    prepared = bench(tmp_path, files, READING)
    before = prepared.contents()
    assert prepared.search().passing > 1
    assert {name: data for name, data in prepared.contents().items() if "__pycache__" not in name} == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("",)),
        ("3\n", ("3\n", "4\n", "2\n", "6\n")),
        (
            "2\nab 5\n",
            (
                "2\nab 5\n",
                "3\nab 5\n",
                "2\nba 5\n",
                "2\nab 6\n",
                "1\nab 5\n",
                "2\nab 4\n",
                "4\nab 5\n",
                "2\naa 5\n",
                "2\nab 10\n",
                "ab\n2 5\n",
                "2\n5 ab\n",
            ),
        ),
    ],
)
def test_texts_are_changed_word_by_word(text: str, expected: tuple[str, ...]) -> None:
    assert changed_text(text) == expected


def test_arguments_are_changed_one_by_one() -> None:
    assert changed_arguments([[1, [2]]]) == (
        "[1, [2]]",
        "[2, [2]]",
        "[1, []]",
        "[0, [2]]",
        "[1, [2, 2]]",
        "[8, [2]]",
        "[-1, [2]]",
        "[1, [3]]",
    )
    assert changed_arguments([]) == ()


def test_values_are_recorded_by_line(tmp_path: Path) -> None:
    text = "def f(a, b=None):\n    c = [a]\n    return c * 30\n\n\nf(1)\nf(2)\nprint(len(f('x' * 600)))\n"
    prepared = bench(tmp_path, {"main.py": text, "expected.txt": "1\n"})
    seen = Observed.of(run_traced(prepared.checker, OUTPUT, prepared.before), "main.py")
    assert seen.samples[3] == (
        {"a": "1", "b": "None", "c": "[1]"},
        {"a": "2", "b": "None", "c": "[2]"},
        {"a": "<str>", "b": "None", "c": "<list>"},
    )
    assert [sorted(seen.kinds(name, 1, 3)) for name in ("a", "b", "c")] == [["number", "text"], [], ["list"]]


DOCUMENTED = '''
def area(a, b):
    """How large a field is.

    >>> area(2, 3)
    6
    """
    return a - b


print(area(2, 2))
'''


def test_an_example_in_a_docstring_decides(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": DOCUMENTED, "expected.txt": "4\n"}).search(**UNHURRIED)
    assert found.files == {"main.py": DOCUMENTED.replace("a - b", "a * b")}


def test_a_repair_that_is_refused_gives_way_to_the_next(tmp_path: Path) -> None:
    text = 'names = ["input.txt", "expected.txt"]\nn = int(open(names[0]).read())\nprint(n)\n'
    found = bench(tmp_path, {"main.py": text, "input.txt": "5\n", "expected.txt": "6\n"}, READING).search(**UNHURRIED)
    assert found.verdict is not None
    assert found.verdict.status == "passed"
    assert "names[0]" in found.files["main.py"]


def test_of_all_repairs_only_those_that_hold_are_shown(tmp_path: Path) -> None:
    text = 'sources = [0, "expected.txt"]\nn = int(open(sources[0]).read())\nprint(n)\n'
    prepared = bench(tmp_path, {"main.py": text, "input.txt": "5\n", "expected.txt": "6\n"}, READING)
    found = prepared.search(max_order=1, every=True, **UNHURRIED)
    assert found.files == {"main.py": text.replace("print(n)", "print(n + 1)")}
    assert [each.files["main.py"] for each in found.repairs if "sources[0]" not in each.files["main.py"]] == []
    assert found.passing >= len(found.repairs)


def test_what_passes_only_by_reading_the_answer_is_no_repair(tmp_path: Path) -> None:
    text = 'names = ["input.txt", "expected.txt"]\nprint(open(names[0]).read())\n'
    found = bench(tmp_path, {"main.py": text, "input.txt": "5\n", "expected.txt": "eight\n"}, READING).search(
        **UNHURRIED
    )
    assert found.files == {}
    assert found.verdict is not None
    assert found.verdict.status == "tampered"
    assert found.explanation == "What passed does not hold: the program reads the file with the expected output."
