"""Operators for what goes wrong in everyday code and in larger programs, on small sources: all that each makes."""

from __future__ import annotations

import pytest

from tests.repair.support import made_by

FAMILY = """\
class Base: pass
class ClassScope(Base): pass
class FunctionScope(Base): pass
class Token: pass
if isinstance(a, FunctionScope): pass
"""
CATCHES = """\
try:
    f()
except KeyError:
    pass
except (ValueError, OSError):
    pass
"""
PREFIXED = """\
class A:
    def f(self, prefix, uri=None):
        self.a[prefix] = uri
        return self.g('x')
"""
INDEXED = "def f(a):\n    b[int(a)] = 1\n    return b[a - 1] + c[a]\n"
STRIPPED = """\
def f(a, b):
    c = b.strip("/")
    d.update()
    return [a.items()]
"""
EVERYDAY: list[tuple[str, str, list[str]]] = [
    ("default given", "a.get(k)", ["a.get(k, 0)", "a.get(k, '')", "a.get(k, [])", "a.get(k, {})"]),
    ("default given", "next(x for x in a)", ["next((x for x in a), None)"]),
    ("default given", "next(a)", ["next(a, None)"]),
    ("default given", "a.pop(k)", ["a.pop(k, None)"]),
    ("default given", "a.get(k, 1)", []),
    ("default given", "get(k)", []),
    ("other end taken", "a.pop()", ["a.pop(0)"]),
    ("other end taken", "a.pop(0)", ["a.pop()"]),
    ("other end taken", "a.pop(1)", []),
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
    (
        "update inserted",
        "def f(a):\n    while a > 0:\n        print(a % 7)\n",
        ["def f(a):\n    while a > 0:\n        print(a % 7)\n        a //= 7\n"],
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
    (
        "class added",
        FAMILY,
        [FAMILY.replace("a, FunctionScope", "a, (FunctionScope, ClassScope)")],
    ),
    ("class added", "isinstance(a, str)", ["isinstance(a, (str, bytes))"]),
    ("class added", "isinstance(a, (int, Decimal))", ["isinstance(a, (int, Decimal, float))"]),
    ("class added", "isinstance(a, b.C)", []),
    ("class added", "f(a, str)", []),
    (
        "class added",
        CATCHES,
        [
            CATCHES.replace("except KeyError", f"except (KeyError, {name})")
            for name in ("IndexError", "AttributeError", "ValueError")
        ]
        + [CATCHES.replace("OSError)", f"OSError, {name})") for name in ("KeyError", "TypeError")],
    ),
    (
        "fallback given",
        PREFIXED,
        [PREFIXED.replace("= uri", f"= uri or {text}") for text in ("''", "[]", "{}", "0")],
    ),
    (
        "fallback given",
        "a.b = None\nfor x in a.b: f(1)",
        ["a.b = None\nfor x in a.b or []: f(1)", "a.b = None\nfor x in a.b or {}: f(1)"],
    ),
    ("fallback given", "a.b = len + d + 1", []),
    ("fallback given", "if a: print(a)", []),
    (
        "conversion added",
        INDEXED,
        [INDEXED.replace("int(a)", f"{name}(int(a))") for name in ("str", "len")]
        + [INDEXED.replace("c[a]", f"c[{name}(a)]") for name in ("int", "str", "len")],
    ),
    ("conversion added", "def is_a(x):\n    return x.y\n", ["def is_a(x):\n    return bool(x.y)\n"]),
    ("conversion added", "def f(a) -> str:\n    return a.b\n", ["def f(a) -> str:\n    return str(a.b)\n"]),
    (
        "conversion added",
        "def f(a, b):\n    return to_text(a), b\n",
        ["def f(a, b):\n    return to_text(a), to_text(b)\n"],
    ),
    ("conversion added", "[a for a in b]", [f"[{name}(a) for a in b]" for name in ("str", "int", "tuple", "list")]),
    ("conversion added", "if a: b = c", []),
    ("call unwrapped", "x = copy.deepcopy(a)", ["x = a"]),
    (
        "method wrapped",
        STRIPPED,
        [STRIPPED.replace('("/")', f'("/"){text}') for text in (".lower()", ".upper()", ".split()")],
    ),
]


@pytest.mark.parametrize(("operator", "text", "expected"), EVERYDAY)
def test_operator_for_everyday_code(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
