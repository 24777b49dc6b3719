"""A loop that did not end: which changes come first."""

from __future__ import annotations

import pytest

from codur.repair.candidates.hanging_loops import Endless
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import apply_edits
from codur.repair.evidence.failing_lines import Failure
from tests.repair.support import offers, source_of

STUCK = "def f(n, k):\n    while n > 1:\n        k = k - 1\n    return k\n"
GOES_ON = "def f(a, seen):\n    while a:\n        x = a.pop()\n        if x not in seen:\n            a.append(x)\n"


def by_factor(text: str, lines: set[int], line: int) -> dict[float, list[str]]:
    """What is offered for a line, by how much its priority changes."""
    source = source_of(text)
    endless = Endless(source, lines)
    found: dict[float, list[str]] = {}
    for offer in offers(Context.of(source, Failure())):
        if offer.line == line:
            found.setdefault(endless.factor(offer), []).append(apply_edits(text, offer.proposal.edits))
    return found


def test_only_what_the_test_reads_can_end_a_loop_whose_test_never_changes() -> None:
    found = by_factor(STUCK, {2, 3}, 3)
    assert found.keys() == {0.1, 1.0}
    assert "def f(n, k):\n    while n > 1:\n        n = k - 1\n    return k\n" in found[1.0]
    assert "def f(n, k):\n    while n > 1:\n        k = k + 1\n    return k\n" in found[0.1]
    assert (
        "def f(n, k):\n    while n > 1:\n        k = k - 1\n    return k\n".replace("n > 1", "n >= 1")
        in (by_factor(STUCK, {2, 3}, 2)[1.5])
    )


def test_a_missing_mark_comes_first_where_the_test_may_change() -> None:
    found = by_factor(GOES_ON, {3, 4, 5}, 4)
    assert GOES_ON + "            seen.add(x)\n" in [
        each + "\n" if not each.endswith("\n") else each for each in found[4.0]
    ]
    assert 0.1 not in found


@pytest.mark.parametrize("lines", [set(), {4}])
def test_nothing_changes_where_no_loop_was_running(lines: set[int]) -> None:
    assert by_factor(STUCK, lines, 3).keys() == {1.0}
