"""Operators for slips in everyday code, on small sources: all that each makes."""

from __future__ import annotations

import pytest

from tests.repair.support import made_by

OVERRIDES = """
class A:
    def pay(self, day):
        return 1

class B(A):
    def pay(self, day):
        return self.fee + self.month()
"""
SLIPS: list[tuple[str, str, list[str]]] = [
    ("default given", "a.get(k)", ["a.get(k, 0)", "a.get(k, '')", "a.get(k, [])", "a.get(k, {})"]),
    ("default given", "next(x for x in a)", ["next((x for x in a), None)"]),
    ("default given", "next(a)", ["next(a, None)"]),
    ("default given", "a.pop(k)", ["a.pop(k, None)"]),
    ("default given", "a.get(k, 1)", []),
    ("default given", "get(k)", []),
    ("other end taken", "a.pop()", ["a.pop(0)"]),
    ("other end taken", "a.pop(0)", ["a.pop()"]),
    ("other end taken", "a.pop(1)", []),
    ("duration whole", "a = (b - c).seconds / 60", ["a = (b - c).total_seconds() / 60"]),
    ("duration whole", "a.seconds = 1", []),
    ("format swapped", "a = f'{b:>10.1f} {c:.2%}'", ["a = f'{b:>10.1%} {c:.2%}'", "a = f'{b:>10.1f} {c:.2f}'"]),
    (
        "format swapped",
        "a.strftime('%Y-%M-%d')",
        ["a.strftime('%y-%M-%d')", "a.strftime('%Y-%m-%d')", "a.strftime('%Y-%M-%j')"],
    ),
    ("format swapped", "a = '100%d' % b", []),
    ("condition grouped", "x = a or b > 1 and not c", ["x = (a or b > 1) and not c"]),
    ("condition grouped", "x = a and b or c", ["x = a and (b or c)"]),
    ("condition grouped", "x = a and (b or c)", []),
    ("condition grouped", "x = a or (b and c)", []),
    (
        "inherited called",
        OVERRIDES,
        [
            OVERRIDES.replace("        return self.fee", "        super().pay(day)\n        return self.fee"),
        ],
    ),
    ("inherited called", OVERRIDES.replace("self.fee", "super().pay(day)"), []),
    ("inherited called", OVERRIDES.replace("def pay(self, day):\n        return 1", "x = 1"), []),
]


@pytest.mark.parametrize(("operator", "text", "expected"), SLIPS)
def test_operator(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
