"""Random small functions with one random slip: the search finds a repair again."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codur.repair.code.source_edits import apply_edits
from tests.repair.support import all_offers, bench

SLIPS = frozenset(
    {
        "comparison boundary",
        "comparison swapped",
        "and/or swapped",
        "arithmetic swapped",
        "augmented assignment",
        "constant shifted",
        "index shifted",
        "range bound",
        "operands swapped",
        "sibling call",
        "True/False flipped",
        "swapped with next",
        "variable replaced",
        "arguments swapped",
        "jump swapped",
    }
)
"""Operators whose slips one operator of the table takes back."""
CALLS = "for a in ([], [3], [1, 2], [5, 1, 4], [2, 2, 9, 0], [-1, 7, 3, 3, 8]):\n    for k in (0, 1, 3):\n"


def function(random: Random) -> str:
    """A function over a list and a number, of the kind that libraries hold: a loop that keeps, counts or sums."""
    start = random.choice(["0", "1", "k"])
    head = random.choice(["for i in range(len(a)):", "for i in range(1, len(a)):", "for i in range(len(a) - 1):"])
    item = random.choice(["a[i]", "a[i] - k", "a[i] * 2", "a[i - 1] + a[i]", "max(a[i], k)"])
    test = random.choice(["a[i] > k", "a[i] % 2 == 0", "i < k or a[i] > 2", "a[i] >= 1 and i != k", "a[i] != a[0]"])
    keep = random.choice(["total += item", "total = max(total, item)", "count += 1", "found.append(item)"])
    other = random.choice(["count -= 1", "continue", "total -= 1", "found.append(k)"])
    result = random.choice(["total, count, found", "total - count, found", "(total + k) * 2, count, sorted(found)"])
    return (
        f"def f(a, k):\n    total = {start}\n    count = 0\n    found = []\n    {head}\n        item = {item}\n"
        f"        if {test}:\n            {keep}\n        else:\n            {other}\n    return {result}\n"
    )


def printed(text: str) -> str | None:
    """What the calls print; None if one of them fails."""
    lines: list[str] = []
    names: dict[str, object] = {"lines": lines}
    try:
        exec(f"{text}\n\n{CALLS}        lines.append(f'{{a}} {{k}} {{f(a, k)}}')\n", names)
    except (LookupError, TypeError, ValueError, ArithmeticError, NameError):
        return None
    return "\n".join(lines) + "\n"


def slipped(text: str, random: Random) -> str:
    offers = [offer for offer in all_offers(text) if offer.operator in SLIPS]
    return apply_edits(text, random.choice(offers).proposal.edits)


@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(st.integers(min_value=0, max_value=10**6))
def test_a_random_slip_is_taken_back(seed: int) -> None:
    random = Random(seed)
    text = function(random)
    expected, wrong = printed(text), slipped(text, random)
    actual = printed(wrong)
    assume(expected is not None and actual is not None and expected != actual)
    show = f"\n\n{CALLS}        print(a, k, f(a, k))\n"
    with TemporaryDirectory() as temporary:
        prepared = bench(Path(temporary), {"main.py": wrong + show, "expected.txt": expected or ""})
        found = prepared.search(budget_s=60.0)
    if not found.files:
        pytest.fail(f"no repair was found for\n{wrong}\nmade from\n{text}")
    assert printed(found.files["main.py"].removesuffix(show)) == expected
