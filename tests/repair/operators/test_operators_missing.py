"""Operators on loops, links, results and guards, on small sources: all that each makes."""

from __future__ import annotations

import pytest

from tests.repair.support import made_by

MISSING: list[tuple[str, str, list[str]]] = [
    (
        "update inserted",
        "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n",
        [
            "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n    s.add(x)\n",
            "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n        s.add(x)\n",
        ],
    ),
    (
        "update inserted",
        "def f(a):\n    while a:\n        print(a.item)\n    return a.next\n",
        [
            "def f(a):\n    while a:\n        print(a.item)\n        a = a.next\n    return a.next\n",
            "def f(a):\n    while a:\n        print(a.item)\n        a = a.item\n    return a.next\n",
        ],
    ),
    ("update inserted", "def f(a, n):\n    print(n)\n", []),
    (
        "seen guarded",
        "def f(seen, a):\n    for x in a:\n        seen.add(x)\n",
        [
            "def f(seen, a):\n    for x in a:\n        if x in seen:\n            continue\n        seen.add(x)\n",
            "def f(seen, a):\n    for x in a:\n        if x in seen:\n            return 0\n        seen.add(x)\n",
            "def f(seen, a):\n    for x in a:\n        if x in seen:\n            return None\n        seen.add(x)\n",
            'def f(seen, a):\n    for x in a:\n        if x in seen:\n            return ""\n        seen.add(x)\n',
        ],
    ),
    (
        "seen guarded",
        "def f(n, memo):\n    memo[n] = 1\n",
        [
            "def f(n, memo):\n    if n in memo:\n        return 0\n    memo[n] = 1\n",
            "def f(n, memo):\n    if n in memo:\n        return None\n    memo[n] = 1\n",
            'def f(n, memo):\n    if n in memo:\n        return ""\n    memo[n] = 1\n',
            "def f(n, memo):\n    if n in memo:\n        return\n    memo[n] = 1\n",
        ],
    ),
    ("seen guarded", "a.append(b)", []),
    (
        "result used",
        "def f(a):\n    f(a.b)\n    yield a\n",
        ["def f(a):\n    yield from f(a.b)\n    yield a\n", "def f(a):\n    return f(a.b)\n    yield a\n"],
    ),
    ("result used", "def f(a, b):\n    return a\nf(x, 1)\n", ["def f(a, b):\n    return a\nx = f(x, 1)\n"]),
    ("result used", "def f(a):\n    f(a[1:])\n", ["def f(a):\n    return f(a[1:])\n"]),
    ("result used", "print(a)", []),
    (
        "yield swapped",
        "def f(a):\n    yield 1\n    return a\n",
        ["def f(a):\n    return 1\n    return a\n", "def f(a):\n    yield 1\n    yield a\n"],
    ),
    (
        "yield swapped",
        "def f(a):\n    yield\n",
        [
            "def f(a):\n    yield []\n",
            "def f(a):\n    yield 0\n",
            'def f(a):\n    yield ""\n',
            "def f(a):\n    yield ()\n",
        ],
    ),
    ("yield swapped", "def f(a):\n    yield from a\n", ["def f(a):\n    yield a\n"]),
    ("yield swapped", "def f(a):\n    return a\n", []),
    ("sign added", "x = (0, 1)", ["x = (0, -1)"]),
    ("sign added", "x = a + 1", []),
    (
        "condition guarded",
        "def f(a: list, i: int):\n    while a[i] > 0:\n        i += 1\n",
        [
            "def f(a: list, i: int):\n    while i < len(a) and a[i] > 0:\n        i += 1\n",
            "def f(a: list, i: int):\n    while i >= len(a) or a[i] > 0:\n        i += 1\n",
            "def f(a: list, i: int):\n    while i >= 0 and a[i] > 0:\n        i += 1\n",
            "def f(a: list, i: int):\n    while i < 0 or a[i] > 0:\n        i += 1\n",
        ],
    ),
    (
        "condition guarded",
        "if a.b or c:\n    pass\n",
        ["if a is not None and (a.b or c):\n    pass\n", "if a is None or a.b or c:\n    pass\n"],
    ),
    (
        "condition guarded",
        "if a.pop() is b:\n    pass\n",
        ["if a and a.pop() is b:\n    pass\n", "if not a or a.pop() is b:\n    pass\n"],
    ),
    ("condition guarded", "if a:\n    pass\n", []),
    (
        "condition guarded",
        "def f(a: dict, i: int):\n    return a[i] < i\n",
        [
            "def f(a: dict, i: int):\n    return i in a and a[i] < i\n",
            "def f(a: dict, i: int):\n    return i not in a or a[i] < i\n",
        ],
    ),
    (
        "choice added",
        "a = 1\na = (b, c)\n",
        [
            "a = 1\na = (max(a[0], b), c)\n",
            "a = 1\na = (min(a[0], b), c)\n",
            "a = 1\na = (b, max(a[1], c))\n",
            "a = 1\na = (b, min(a[1], c))\n",
        ],
    ),
]


@pytest.mark.parametrize(("operator", "text", "expected"), MISSING)
def test_operator_on_what_is_missing(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
