"""Operators for slips of larger programs, with source before and after: classes, defaults, conversions, counters."""

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
SHARING = """\
def f(a):
    b = a
    b.append(1)
    return b
"""
INDEXED = "def f(a):\n    b[int(a)] = 1\n    return b[a - 1] + c[a]\n"
FIELDS = """\
class A:
    def f(self, a, b):
        self.a = a
        self.c = a + self.b + b
"""
STRIPPED = """\
def f(a, b):
    c = b.strip("/")
    d.update()
    return [a.items()]
"""
GUARD = "        if not isinstance(other, A):\n            return NotImplemented\n"
PROJECTS: list[tuple[str, str, list[str]]] = [
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
    ("class replaced", FAMILY, [FAMILY.replace("a, FunctionScope", f"a, {name}") for name in ("Base", "ClassScope")]),
    ("class replaced", "isinstance(a, (int, str))", ["isinstance(a, int)", "isinstance(a, str)"]),
    ("class replaced", "f(a, (int, str))", []),
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
    (
        "copy taken",
        SHARING,
        [SHARING.replace("b = a", f"b = {text}") for text in ("a.copy()", "list(a)", "dict(a)")]
        + [SHARING.replace("return b", f"return {text}") for text in ("b.copy()", "list(b)", "dict(b)")],
    ),
    (
        "copy taken",
        "import copy\na = []\nb = a\nb[0] = 1\n",
        [
            f"import copy\na = []\nb = {text}\nb[0] = 1\n"
            for text in ("list(a)", "a[:]", "copy.copy(a)", "copy.deepcopy(a)")
        ],
    ),
    ("copy taken", "a = 1\nb = a\n", []),
    ("copy taken", "def f(a):\n    b = a\n    return b\n", []),
    ("call unwrapped", "x = copy.deepcopy(a)", ["x = a"]),
    (
        "self toggled",
        FIELDS,
        [FIELDS.replace("= a + self.b", f"= {text}") for text in ("self.a + self.b", "a + b")],
    ),
    ("self toggled", "def f(self, a):\n    return self.a + a\n", []),
    (
        "method wrapped",
        STRIPPED,
        [STRIPPED.replace('("/")', f'("/"){text}') for text in (".lower()", ".upper()", ".split()")],
    ),
]


@pytest.mark.parametrize(("operator", "text", "expected"), PROJECTS)
def test_operator(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
