"""Candidates whose values show nothing new in the recorded run come later."""

from __future__ import annotations

import pytest

from codur.repair.candidates.equivalence import Equivalence
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import apply_edits
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.observed_values import Observed
from tests.repair.support import offers, source_of

TEXT = "def f(a, b, n):\n    if a < n:\n        return a\n    return [b for b in n]\n"
SEEN = Observed(samples={2: ({"a": "1", "b": "1", "n": "5"}, {"a": "7", "b": "7", "n": "5"})})


def factors(seen: Observed, *operators: str) -> list[tuple[str, float]]:
    """The second line with each offer made, and what is left of its priority."""
    context = Context.of(source_of(TEXT), Failure(), seen)
    same = Equivalence(context=context)
    return [
        (apply_edits(TEXT, offer.proposal.edits).split("\n")[1].strip(), same.factor(offer))
        for offer in offers(context)
        if offer.operator in operators and offer.line == 2
    ]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("comparison boundary", [("if a <= n:", 0.35)]),
        ("comparison swapped", [("if a > n:", 1.0), ("if a >= n:", 0.6)]),
        (
            "variable replaced",
            [("if b < n:", 0.35), ("if n < n:", 1.0), ("if a < a:", 1.0), ("if a < b:", 0.6)],
        ),
    ],
)
def test_a_value_that_is_not_new_counts_less(operator: str, expected: list[tuple[str, float]]) -> None:
    assert factors(SEEN, operator) == expected


def test_without_samples_every_candidate_counts() -> None:
    found = factors(Observed(), "comparison boundary", "comparison swapped", "variable replaced", "value shifted")
    assert len(found) > 7
    assert {factor for _, factor in found} == {1.0}


def test_a_variable_of_a_comprehension_is_not_that_of_its_line() -> None:
    context = Context.of(source_of(TEXT), Failure(), Observed(samples={4: ({"b": "1", "n": "1"},)}))
    same = Equivalence(context=context)
    inside = [offer for offer in offers(context) if offer.line == 4 and offer.operator == "comprehension variable"]
    assert [same.factor(offer) for offer in inside] == [1.0, 1.0, 1.0]
