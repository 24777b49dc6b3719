"""The comparison rule, as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codur.checks.compare import around, first_difference, progress
from codur.types import Difference

TEXT = st.text(alphabet="ab \t\n\r", max_size=30)


@pytest.mark.parametrize(
    ("expected", "actual", "same", "share"),
    [
        ("", "", True, 1.0),
        ("a\n", "a", True, 1.0),
        ("a\nb\n", "a  \nb\t\n", True, 1.0),
        ("a\nb\n", "a\r\nb\r\n", True, 1.0),
        ("a\n", "a\n\n", False, 0.5),
        ("a\n", " a\n", False, 0.0),
        ("a b\n", "a  b\n", False, 0.0),
        ("a\n\nb\n", "a\nb\n", False, 1 / 3),
        ("a\nb\nc\nd\n", "a\nb\nx\nd\n", False, 0.5),
        ("a\nb\n", "a\nb\nc\nd\n", False, 0.5),
        ("a\nb\n", "", False, 0.0),
        ("", "a\n", False, 0.0),
        ("A\n", "a\n", False, 0.0),
    ],
)
def test_equal_and_progress(expected: str, actual: str, same: bool, share: float) -> None:
    assert (first_difference(expected, actual) is None) is same
    assert progress(expected, actual) == pytest.approx(share)
    assert (first_difference(expected, actual) is None) is same


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ("a\nb\n", "a\nc\n", Difference(line=2, expected="b", actual="c")),
        ("a\nb\n", "a\n", Difference(line=2, expected="b", actual=None)),
        ("a\n", "a\nb\n", Difference(line=2, expected=None, actual="b")),
    ],
)
def test_first_difference(expected: str, actual: str, difference: Difference) -> None:
    assert first_difference(expected, actual) == difference


@given(TEXT, TEXT)
def test_progress_is_one_only_for_equal_outputs(expected: str, actual: str) -> None:
    share = progress(expected, actual)
    assert 0.0 <= share <= 1.0
    assert (share == 1.0) == (first_difference(expected, actual) is None)


def test_around_shows_the_line_in_question() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 1001))
    shown = around(text, 500, limit=200)
    assert "line 500\n" in shown
    assert shown.startswith("… 489 lines before\n")
    assert shown.endswith("lines after")
    assert len(shown) < 260
    assert around("short", 1, limit=200) == "short"
