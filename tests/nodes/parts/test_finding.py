"""What a check found, held against what was found before."""

import pytest

from codur.nodes.parts.finding import as_named_before
from codur.types import Verdict


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [
        (("t.py::t[a.md:3-9]",), ("t.py::t[a.md:5-11]",), ("t.py::t[a.md:3-9]",)),
        (("a.md:3", "a.md:9"), ("a.md:4", "a.md:10"), ("a.md:3", "a.md:9")),
        # One more fails, and nobody knows which.
        (("a.md:3",), ("a.md:4", "a.md:10"), ("a.md:4", "a.md:10")),
        (("a.md:3",), ("a.md:3", "a.md:10"), ("a.md:3", "a.md:10")),
        (("b.md:3",), ("a.md:4",), ("a.md:4",)),
        (("t.py::t[3]",), ("t.py::t[4]",), ("t.py::t[4]",)),
    ],
)
def test_a_test_that_is_called_after_lines_keeps_its_name(
    before: tuple[str, ...], now: tuple[str, ...], named: tuple[str, ...]
) -> None:
    red = Verdict(status="failed", failing=now)
    assert as_named_before(red, Verdict(status="failed", failing=before), ["a.md", "t.py"]).failing == named
    assert as_named_before(red, None, ["a.md"]) == red
    # What stands where it stood is another test.
    assert as_named_before(red, Verdict(status="failed", failing=before), ["app.py"]) == red
