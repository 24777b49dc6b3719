"""Operators on loops, links, results and guards, on small sources: all that each makes."""

from __future__ import annotations

import pytest

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import apply_edits
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.observed_values import Observed
from tests.repair.support import made_by, offers, source_of

MISSING: list[tuple[str, str, list[str]]] = [
    (
        "update inserted",
        "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n",
        [
            "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n    s.add(x)\n",
            "s = set()\nfor x in a:\n    s.add(x)\n    if x not in s:\n        print(x)\n",
            "s = set()\nfor x in a:\n    if x not in s:\n        print(x)\n        s.add(x)\n",
            "s = set()\nfor x in a:\n    if x not in s:\n        s.add(x)\n        print(x)\n",
        ],
    ),
    (
        "update inserted",
        "def f(a):\n    while a:\n        print(a.item)\n    return a.next\n",
        [
            "def f(a):\n    while a:\n        print(a.item)\n        a = a.next\n    return a.next\n",
            "def f(a):\n    while a:\n        a = a.next\n        print(a.item)\n    return a.next\n",
            "def f(a):\n    while a:\n        print(a.item)\n        a = a.item\n    return a.next\n",
            "def f(a):\n    while a:\n        a = a.item\n        print(a.item)\n    return a.next\n",
        ],
    ),
    (
        "update inserted",
        "def f(n):\n    steps = 0\n    while n != 1:\n        n = n // 2\n    return steps\n",
        [
            "def f(n):\n    steps = 0\n    while n != 1:\n        n = n // 2\n        steps += 1\n    return steps\n",
            "def f(n):\n    steps = 0\n    while n != 1:\n        steps += 1\n        n = n // 2\n    return steps\n",
        ],
    ),
    ("update inserted", "def f(a, n):\n    print(n)\n", []),
    (
        "update inserted",
        "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n",
        [
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n    state[n] = 2\n",
            "def f(state, n):\n    state[n] = 2\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n        state[n] = 1\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        state[n] = 1\n        f(state, m)\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n        state[n] = 2\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        state[n] = 2\n        f(state, m)\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n        state[n] = m\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        state[n] = m\n        f(state, m)\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        f(state, m)\n        state = m\n",
            "def f(state, n):\n    state[n] = 1\n    for m in g(n):\n        state = m\n        f(state, m)\n",
        ],
    ),
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
    ("list wrapped", "def f(a):\n    return a\n", ["def f(a):\n    return [a]\n"]),
    ("list wrapped", "x = [a] + b", ["x = a + b", "x = [a] + [b]"]),
    ("list wrapped", "x = [1, 2] + b[0]", ["x = [1, 2] + [b[0]]"]),
    ("list wrapped", "x = f(a)", []),
    (
        "sequence joined",
        "def f(a: list, b: int):\n    return a\n",
        ["def f(a: list, b: int):\n    return [b] + a\n", "def f(a: list, b: int):\n    return a + [b]\n"],
    ),
    ("sequence joined", "x = f(a) + 1", []),
    (
        "stride added",
        "def f(n: int):\n    return range(0, 9)\n",
        [
            "def f(n: int):\n    return range(0, 9, -1)\n",
            "def f(n: int):\n    return range(0, 9, 2)\n",
            "def f(n: int):\n    return range(0, 9, n)\n",
        ],
    ),
    ("stride added", "range(9)", []),
    ("sign added", "x = (0, 1)", ["x = (0, -1)"]),
    ("sign added", "x = a + 1", []),
    (
        "index computed",
        "def f(a: list, i: int, n: int):\n    return a[i]\n",
        [
            "def f(a: list, i: int, n: int):\n    return a[n - i]\n",
            "def f(a: list, i: int, n: int):\n    return a[i - n]\n",
            "def f(a: list, i: int, n: int):\n    return a[i + n]\n",
            "def f(a: list, i: int, n: int):\n    return a[len(a) - 1 - i]\n",
        ],
    ),
    ("index computed", "def f(i: int):\n    return g(i)\n", []),
    (
        "link replaced",
        "a.left = 1\nb.right = a.left\n",
        ["a.right = 1\nb.right = a.left\n", "a.left = 1\nb.left = a.left\n", "a.left = 1\nb.right = a.right\n"],
    ),
    ("link replaced", "a.left()\nb.right = 1\n", []),
    ("link removed", "x = a.next", ["x = a"]),
    ("link removed", "x = self.next", []),
    (
        "link added",
        "def f(a):\n    b = a.next\n    return a\n",
        [
            "def f(a):\n    b = a.next.next\n    return a\n",
            "def f(a):\n    b = a.next.next\n    return a\n",
            "def f(a):\n    b = a.next\n    return a.next\n",
        ],
    ),
    ("link added", "def f(a):\n    return a\n", []),
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
        "condition reused",
        "def f(a, b, seen):\n    if a:\n        seen.add(a)\n    return a < b\n",
        [
            "def f(a, b, seen):\n    if a and a not in seen:\n        seen.add(a)\n    return a < b\n",
            "def f(a, b, seen):\n    if a or a not in seen:\n        seen.add(a)\n    return a < b\n",
            "def f(a, b, seen):\n    if a and a in seen:\n        seen.add(a)\n    return a < b\n",
            "def f(a, b, seen):\n    if a or a in seen:\n        seen.add(a)\n    return a < b\n",
            "def f(a, b, seen):\n    if a and a < b:\n        seen.add(a)\n    return a < b\n",
            "def f(a, b, seen):\n    if a or a < b:\n        seen.add(a)\n    return a < b\n",
        ],
    ),
    ("condition reused", "def f(a):\n    if a:\n        return 1\n", []),
    (
        "truth computed",
        "def f(a: list, b: int, c: int):\n    return True\n",
        [
            "def f(a: list, b: int, c: int):\n    return not a\n",
            "def f(a: list, b: int, c: int):\n    return bool(a)\n",
            "def f(a: list, b: int, c: int):\n    return b == 0\n",
            "def f(a: list, b: int, c: int):\n    return c == 0\n",
            "def f(a: list, b: int, c: int):\n    return b == c\n",
        ],
    ),
    ("truth computed", "x = True", []),
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
    ("sides swapped", "a.next = b.next\n", ["b.next = a.next\n"]),
    ("sides swapped", "a = 1\n", []),
    (
        "condition reused",
        "def f(g, r, a):\n    for n in a:\n        if n < 5:\n            return g[r] == 1\n",
        [
            "def f(g, r, a):\n    for n in a:\n        if n < 5 and g[r] == 1:\n            return g[r] == 1\n",
            "def f(g, r, a):\n    for n in a:\n        if n < 5 or g[r] == 1:\n            return g[r] == 1\n",
            "def f(g, r, a):\n    for n in a:\n        if n < 5 and g[n] == 1:\n            return g[r] == 1\n",
            "def f(g, r, a):\n    for n in a:\n        if n < 5 or g[n] == 1:\n            return g[r] == 1\n",
        ],
    ),
]


@pytest.mark.parametrize(("operator", "text", "expected"), MISSING)
def test_operator_on_what_is_missing(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected


def test_an_object_of_the_same_class_is_known_from_the_recorded_run() -> None:
    text = "def f(a, b, n):\n    b.next = n\n    return a\n"
    seen = Observed(samples={3: ({"a": "<Cell>", "b": "<Cell>", "n": "1"},)})
    found = offers(Context.of(source_of(text), Failure(), seen))
    made = [
        apply_edits(text, offer.proposal.edits).split("\n")[2].strip()
        for offer in found
        if offer.operator == "link added" and offer.line == 3
    ]
    assert made == ["return a.next", "return b.next"]
