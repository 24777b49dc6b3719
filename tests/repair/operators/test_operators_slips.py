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
COUNTS = """
class A:
    def __init__(self):
        self.run = 0
        self.all = 0
        self.most = None

    def see(self, x):
        if not x:
            return
        self.run += x
"""
TRIES = """
try:
    f()
except Exception:  # any
    x = 1
except (KeyError, ValueError) as error:
    x = error
else:
    x = 2
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
    (
        "key negated",
        "sorted(a, key=lambda x: (x.b, x.c), reverse=True)",
        [
            "sorted(a, key=lambda x: (-x.b, x.c), reverse=True)",
            "sorted(a, key=lambda x: (-x.b, x.c))",
            "sorted(a, key=lambda x: (x.b, -x.c), reverse=True)",
            "sorted(a, key=lambda x: (x.b, -x.c))",
        ],
    ),
    (
        "key negated",
        "a.sort(key=lambda x: (-x[1], x[0]))",
        [
            "a.sort(key=lambda x: (x[1], x[0]))",
            "a.sort(key=lambda x: (-x[1], -x[0]))",
        ],
    ),
    ("key negated", "a.sort(key=len)", []),
    ("condition grouped", "x = a or b > 1 and not c", ["x = (a or b > 1) and not c"]),
    ("condition grouped", "x = a and b or c", ["x = a and (b or c)"]),
    ("condition grouped", "x = a and (b or c)", []),
    ("condition grouped", "x = a or (b and c)", []),
    (
        "handlers swapped",
        TRIES,
        [
            TRIES.replace("except Exception:  # any\n    x = 1", "@")
            .replace("except (KeyError, ValueError) as error:\n    x = error", "except Exception:  # any\n    x = 1")
            .replace("@", "except (KeyError, ValueError) as error:\n    x = error")
        ],
    ),
    ("handlers swapped", "try:\n    f()\nexcept KeyError:\n    pass\n", []),
    (
        "inherited called",
        OVERRIDES,
        [
            OVERRIDES.replace("        return self.fee", "        super().pay(day)\n        return self.fee"),
            OVERRIDES.replace("self.fee", "super().pay(day)"),
            OVERRIDES.replace("self.month()", "super().pay(day)"),
        ],
    ),
    ("inherited called", OVERRIDES.replace("self.fee", "super().pay(day)"), []),
    ("inherited called", OVERRIDES.replace("def pay(self, day):\n        return 1", "x = 1"), []),
    (
        "reset inserted",
        COUNTS,
        [COUNTS.replace("            return\n", "            self.run = 0\n            return\n")],
    ),
    (
        "reset inserted",
        "def f(a):\n    n = 1\n    for x in a:\n        n += x\n    return n\n",
        [
            "def f(a):\n    n = 1\n    for x in a:\n        n = 1\n        n += x\n    return n\n",
        ],
    ),
    ("reset inserted", "n = 0\nfor x in a:\n    n += x\n", []),
]


@pytest.mark.parametrize(("operator", "text", "expected"), SLIPS)
def test_operator(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
