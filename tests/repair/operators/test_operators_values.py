"""Operators that take values of the program and of its run to other places, on small sources: all that each makes."""

from __future__ import annotations

import pytest

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import apply_edits
from codur.repair.evidence.failing_lines import Failure, Raised
from codur.repair.evidence.observed_values import Observed
from tests.repair.support import made_by, offers, source_of


def raised(kind: str, message: str) -> Failure:
    return Failure(raised=(Raised(kind=kind, message=message),))


EXPECTED = "Ab\n"
VALUES: list[tuple[str, str, list[str]]] = [
    (
        "membership swapped",
        "x = a in b",
        ["x = b in a"],
    ),
    (
        "target replaced",
        "a = 1\nA = 2\nA = 3",
        ["a = 1\na = 2\nA = 3", "a = 1\nA = 2\na = 3"],
    ),
    (
        "function replaced",
        "def f(a):\n    return a\ndef g(a):\n    return a + 1\nx = f(2)",
        ["def f(a):\n    return a\ndef g(a):\n    return a + 1\nx = g(2)"],
    ),
    (
        "attribute replaced",
        "class C:\n    def f(self):\n        self.a = 1\n        self.b = self.a\n",
        [
            "class C:\n    def f(self):\n        self.b = 1\n        self.b = self.a\n",
            "class C:\n    def f(self):\n        self.a = 1\n        self.a = self.a\n",
            "class C:\n    def f(self):\n        self.a = 1\n        self.b = self.b\n",
        ],
    ),
    (
        "attribute replaced",
        "class C:\n    a: int\n    b: int\n\ndef f(x):\n    return (x or y).a + x.z\n",
        ["class C:\n    a: int\n    b: int\n\ndef f(x):\n    return (x or y).b + x.z\n"],
    ),
    ("attribute replaced", "class C:\n    a: int\n    b: int\nclass D:\n    a: int\n\nprint(x.a)\n", []),
    (
        "expression replaced",
        "def f(a, b):\n    return g(a[0], a[1])",
        [
            "def f(a, b):\n    return g(a[1], a[1])",
            "def f(a, b):\n    return g(a[1][0], a[1])",
            "def f(a, b):\n    return g(a[0], a[0])",
            "def f(a, b):\n    return g(a[0], a[0][1])",
        ],
    ),
    (
        "constant replaced",
        "x = f(0.5)",
        ["x = f(0)", "x = f(1)", "x = f(2)", "x = f(-1)", "x = f(10)", "x = f(2)"],
    ),
    (
        "constant replaced",
        "x = 20",
        ["x = 0", "x = 1", "x = 2", "x = -1", "x = 10", "x = 40", "x = 200", "x = 10", "x = 2"],
    ),
    (
        "constant named",
        "def f(a: int, b: list):\n    return 3",
        [
            "def f(a: int, b: list):\n    return a",
            "def f(a: int, b: list):\n    return len(b)",
            "def f(a: int, b: list):\n    return b[0]",
            "def f(a: int, b: list):\n    return b[-1]",
        ],
    ),
    (
        "text replaced",
        "x = f('') + 'ab'",
        [
            "x = f(' ') + 'ab'",
            "x = f(',') + 'ab'",
            "x = f(', ') + 'ab'",
            "x = f('\\n') + 'ab'",
            "x = f('ab') + 'ab'",
            "x = f('') + 'Ab'",
            "x = f('') + ''",
            "x = f('') + 'ab '",
            "x = f('') + 'ab\\n'",
            "x = f('') + ' ab'",
            "x = f('') + 'AB'",
        ],
    ),
    (
        "digits shown",
        "print('%.2f' % x)",
        ["print('%.3f' % x)", "print('%.1f' % x)"],
    ),
    (
        "digits shown",
        "print(f'{x:.1f}')",
        ["print(f'{x:.2f}')", "print(f'{x:.0f}')"],
    ),
    (
        "elements changed",
        "x = (a, b)",
        ["x = (b, a)"],
    ),
    (
        "elements changed",
        "x = [a, b, c]",
        ["x = [b, a, c]", "x = [a, c, b]", "x = [b, c]", "x = [a, c]", "x = [a, b]"],
    ),
    (
        "slice added",
        "def f(a: list, k: int):\n    return a",
        [
            "def f(a: list, k: int):\n    return a[1:]",
            "def f(a: list, k: int):\n    return a[:-1]",
            "def f(a: list, k: int):\n    return a[::-1]",
            "def f(a: list, k: int):\n    return a[0]",
            "def f(a: list, k: int):\n    return a[-1]",
            "def f(a: list, k: int):\n    return a[:k]",
            "def f(a: list, k: int):\n    return a[k:]",
        ],
    ),
    (
        "element taken",
        "def f(a: list, i: int):\n    return i",
        ["def f(a: list, i: int):\n    return a[i]"],
    ),
    (
        "method wrapped",
        "x = 'a'\ny = x",
        ["x = 'a'\ny = x.lower()", "x = 'a'\ny = x.upper()", "x = 'a'\ny = x.strip()", "x = 'a'\ny = x.split()"],
    ),
    (
        "argument wrapped",
        "f(a)",
        ["f(set(a))", "f(str(a))", "f(abs(a))", "f(int(a))"],
    ),
    (
        "method removed",
        "a = 1\nx = a.b(c)",
        ["a = 1\nx = a"],
    ),
    (
        "choice added",
        "for i in a:\n    x = i + 1",
        [
            "for i in a:\n    x = max(x, i + 1)",
            "for i in a:\n    x = min(x, i + 1)",
            "for i in a:\n    x = max(0, i + 1)",
            "for i in a:\n    x = min(0, i + 1)",
        ],
    ),
    (
        "brackets moved",
        "x = int(a / b)",
        ["x = int(a) / b"],
    ),
    (
        "brackets moved",
        "x = abs(a) - b",
        ["x = abs(a - b)"],
    ),
    (
        "brackets moved",
        "x = a + b * c",
        ["x = (a + b) * c"],
    ),
    (
        "brackets moved",
        "x = (a + b) * c",
        ["x = a + b * c"],
    ),
    (
        "print spread",
        "print(a)",
        ["print(*a)", 'print(*a, sep="")', 'print(*a, sep="\\n")'],
    ),
    (
        "print spread",
        "print(*a)",
        ["print(a)"],
    ),
    (
        "print separated",
        "print(a, b)",
        [
            'print(a, b, sep="")',
            'print(a, b, sep=", ")',
            'print(a, b, sep="\\n")',
            'print(a, b, end="")',
            'print(a, b, end=" ")',
        ],
    ),
    (
        "print separated",
        "print(*a, sep=' ')",
        [
            'print(*a, sep="")',
            'print(*a, sep=", ")',
            'print(*a, sep="\\n")',
            "print(*a, sep=' ', end=\"\")",
            "print(*a, sep=' ', end=\" \")",
        ],
    ),
    (
        "earlier argument removed",
        "print(a, b)",
        ["print(b)"],
    ),
    (
        "value kept",
        "a = 'x '\na.strip()",
        ["a = 'x '\na = a.strip()"],
    ),
    (
        "value kept",
        "a[0] == 1",
        ["a[0] = 1"],
    ),
    (
        "swapped with next",
        "a = 1\nb = 2",
        ["b = 2\na = 1"],
    ),
    (
        "else added",
        "for i in a:\n    if i:\n        n += 1",
        [
            "for i in a:\n    if i:\n        n += 1\n    else:\n        n -= 1",
            "for i in a:\n    if i:\n        n += 1\n    else:\n        break",
            "for i in a:\n    if i:\n        n += 1\n    else:\n        continue",
        ],
    ),
    (
        "step inserted",
        "n = 1\nwhile n < 3:\n    f(n)",
        ["n = 1\nwhile n < 3:\n    f(n)\n    n += 1", "n = 1\nwhile n < 3:\n    f(n)\n    n -= 1"],
    ),
    (
        "condition extended",
        "def f(a: int):\n    if a:\n        return 1\n",
        [
            "def f(a: int):\n    if a and a > 0:\n        return 1\n",
            "def f(a: int):\n    if a and a % 2 == 1:\n        return 1\n",
            "def f(a: int):\n    if a and a % 2 == 0:\n        return 1\n",
            "def f(a: int):\n    if a and a != 0:\n        return 1\n",
            "def f(a: int):\n    if a and a == 0:\n        return 1\n",
            "def f(a: int):\n    if a and a < 0:\n        return 1\n",
            "def f(a: int):\n    if a and a > 1:\n        return 1\n",
            "def f(a: int):\n    if a and a == 1:\n        return 1\n",
            "def f(a: int):\n    if a or a > 0:\n        return 1\n",
            "def f(a: int):\n    if a or a % 2 == 1:\n        return 1\n",
            "def f(a: int):\n    if a or a % 2 == 0:\n        return 1\n",
            "def f(a: int):\n    if a or a != 0:\n        return 1\n",
            "def f(a: int):\n    if a or a == 0:\n        return 1\n",
            "def f(a: int):\n    if a or a < 0:\n        return 1\n",
            "def f(a: int):\n    if a or a > 1:\n        return 1\n",
            "def f(a: int):\n    if a or a == 1:\n        return 1\n",
        ],
    ),
    (
        "filter added",
        "x = [a for a in 'ab']",
        [
            "x = [a for a in 'ab' if a]",
            "x = [a for a in 'ab' if not a]",
            "x = [a for a in 'ab' if len(a) > 1]",
            "x = [a for a in 'ab' if len(a) == 1]",
        ],
    ),
    (
        "statement guarded",
        "def f(a: bool):\n    print(a)\n",
        ["def f(a: bool):\n    if a:\n        print(a)\n", "def f(a: bool):\n    if not a:\n        print(a)\n"],
    ),
    (
        "input read",
        "s = 'a'\nprint(s)",
        ["s = input()\nprint(s)"],
    ),
    (
        "call added",
        "def f():\n    return 1\nx = f",
        ["def f():\n    return 1\nx = f()"],
    ),
    (
        "await added",
        "async def f():\n    return 1\nasync def g():\n    return f()",
        ["async def f():\n    return 1\nasync def g():\n    return await f()"],
    ),
]


@pytest.mark.parametrize(("operator", "text", "expected"), VALUES)
def test_operator_on_values(operator: str, text: str, expected: list[str]) -> None:
    source = source_of(text)
    found = offers(Context.of(source, Failure(), expected=EXPECTED))
    assert [apply_edits(text, offer.proposal.edits) for offer in found if offer.operator == operator] == expected


VALUES_ANSWERS: list[tuple[str, Failure, str, list[str]]] = [
    (
        "argument added",
        raised("TypeError", "f() missing 1 required positional argument: 'b'"),
        "def f(a, b):\n    return a\ndef g(a, b):\n    return f(a)\n",
        ["def f(a, b):\n    return a\ndef g(a, b):\n    return f(a, b)\n"],
    ),
    (
        "variable initialised",
        raised("UnboundLocalError", "cannot access local variable 'n' where it is not associated with a value"),
        "def f(a):\n    n += a\n    return n\n",
        [
            "def f(a):\n    global n\n    n += a\n    return n\n",
            "def f(a):\n    n = 0\n    n += a\n    return n\n",
            "def f(a):\n    n = []\n    n += a\n    return n\n",
            'def f(a):\n    n = ""\n    n += a\n    return n\n',
            "def f(a):\n    n = {}\n    n += a\n    return n\n",
            "def f(a):\n    n = None\n    n += a\n    return n\n",
            "def f(a):\n    n = 1\n    n += a\n    return n\n",
        ],
    ),
    (
        "base case added",
        raised("RecursionError", "maximum recursion depth exceeded"),
        "def f(n):\n    return n * f(n - 1)\n",
        [
            "def f(n):\n    if not n:\n        return n\n    return n * f(n - 1)\n",
            "def f(n):\n    if not n:\n        return 0\n    return n * f(n - 1)\n",
            "def f(n):\n    if not n:\n        return None\n    return n * f(n - 1)\n",
            'def f(n):\n    if not n:\n        return ""\n    return n * f(n - 1)\n',
            "def f(n):\n    if not n:\n        return []\n    return n * f(n - 1)\n",
            "def f(n):\n    if not n:\n        return 1\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 0:\n        return n\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 0:\n        return 0\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 0:\n        return None\n    return n * f(n - 1)\n",
            'def f(n):\n    if n <= 0:\n        return ""\n    return n * f(n - 1)\n',
            "def f(n):\n    if n <= 0:\n        return []\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 0:\n        return 1\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 1:\n        return n\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 1:\n        return 0\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 1:\n        return None\n    return n * f(n - 1)\n",
            'def f(n):\n    if n <= 1:\n        return ""\n    return n * f(n - 1)\n',
            "def f(n):\n    if n <= 1:\n        return []\n    return n * f(n - 1)\n",
            "def f(n):\n    if n <= 1:\n        return 1\n    return n * f(n - 1)\n",
            "def f(n):\n    if len(n) <= 1:\n        return n\n    return n * f(n - 1)\n",
            "def f(n):\n    if len(n) <= 1:\n        return 0\n    return n * f(n - 1)\n",
            "def f(n):\n    if len(n) <= 1:\n        return None\n    return n * f(n - 1)\n",
            'def f(n):\n    if len(n) <= 1:\n        return ""\n    return n * f(n - 1)\n',
            "def f(n):\n    if len(n) <= 1:\n        return []\n    return n * f(n - 1)\n",
            "def f(n):\n    if len(n) <= 1:\n        return 1\n    return n * f(n - 1)\n",
        ],
    ),
]


@pytest.mark.parametrize(("operator", "failure", "text", "expected"), VALUES_ANSWERS)
def test_operator_that_answers_an_exception(operator: str, failure: Failure, text: str, expected: list[str]) -> None:
    assert made_by(operator, text, failure) == expected


def test_the_kind_of_a_variable_is_seen_in_the_recorded_run() -> None:
    text = "def f(a, b, c):\n    return a\n"
    seen = Observed(samples={2: ({"a": "1", "b": "<deque>", "c": "4"},)})
    found = offers(Context.of(source_of(text), Failure(), seen))
    made = [
        apply_edits(text, offer.proposal.edits).split("\n")[1].strip()
        for offer in found
        if offer.operator in ("variable replaced", "element taken")
    ]
    assert made == ["return c", "return b[a]"]


@pytest.mark.parametrize(
    ("text", "likeliest"),
    [
        ("for i in a:\n    for j in range(i, 9):\n        pass\n", "range(i + 1, 9)"),
        ("for i, b in a:\n    for j in range(i, 9):\n        pass\n", "range(i + 1, 9)"),
        ("for j in range(i, 9):\n    pass\n", "range(i, 10)"),
        ("for j in range(1, 9):\n    pass\n", "range(1, 10)"),
    ],
)
def test_an_inner_range_seldom_starts_at_the_item_of_the_outer_one(text: str, likeliest: str) -> None:
    found = [each for each in offers(Context.of(source_of(text), Failure())) if each.operator == "range bound"]
    best = max(found, key=lambda each: each.proposal.weight)
    assert likeliest in apply_edits(text, best.proposal.edits)
