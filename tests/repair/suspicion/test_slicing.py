"""What had a part in what a line does."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.repair.evidence.tracing import run_traced
from codur.repair.suspicion.localise import flow_of
from codur.repair.suspicion.slicing import Slices
from codur.types import Difference
from tests.repair.support import OUTPUT, bench, source_of

TOTALS = """\
rows = [1, 2, 3]
other = 7
total = 0
for row in rows:
    total += row
    other = other * 2
print(total)
print(other)
"""
CALLS = """\
def scale(value):
    factor = 2
    unused = value
    return value * factor


def quiet():
    return 5


limit = 4
print(scale(limit))
"""
METHODS = """\
names = []
lengths = {}
for name in ["a", "b"]:
    if name != "b":
        names.append(name)
    lengths[name] = len(name)
print(names)
"""


@pytest.mark.parametrize(
    ("text", "line", "lines"),
    [
        (TOTALS, 7, {7, 5, 3, 4, 1}),
        (TOTALS, 8, {8, 6, 2, 4, 1}),
        (TOTALS, 3, {3}),
        (CALLS, 12, {12, 11, 4, 2}),
        (METHODS, 7, {7, 1, 5, 4, 3}),
    ],
)
def test_the_lines_that_flow_into_a_line(text: str, line: int, lines: set[int]) -> None:
    found = Slices(source_of(text)).before([line])
    assert set(found) == lines
    assert found[line] == 1.0
    assert all(0 < weight <= 1 for weight in found.values())


def test_a_longer_way_weighs_less() -> None:
    found = Slices(source_of(TOTALS)).before([7])
    assert found[7] > found[5] > found[1]


def test_what_printed_the_first_wrong_line_is_found(tmp_path: Path) -> None:
    prepared = bench(tmp_path, {"main.py": TOTALS, "expected.txt": "6\n57\n"})
    coverage = run_traced(prepared.checker, prepared.check, prepared.before)
    assert coverage is not None
    assert coverage.printed == ((1, ("main.py", 7)), (2, ("main.py", 8)))
    flow = flow_of(coverage, {"main.py": TOTALS}, prepared.before.difference)
    assert {line for _, line in flow} == {8, 6, 2, 4, 1}


def test_an_output_that_is_too_short_is_laid_to_the_last_print(tmp_path: Path) -> None:
    prepared = bench(tmp_path, {"main.py": TOTALS, "expected.txt": "6\n56\n1\n"})
    coverage = run_traced(prepared.checker, OUTPUT, prepared.before)
    flow = flow_of(coverage, {"main.py": TOTALS}, Difference(line=3, expected="1", actual=None))
    assert ("main.py", 8) in flow


def test_without_a_difference_nothing_is_known() -> None:
    assert flow_of(None, {"main.py": TOTALS}, Difference(line=1, expected="a", actual="b")) == {}
