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
COUNTED = """\
class A:
    def add(self, x):
        self.items.append(x)
        self.known[x] = self.n + 1
        self.n += 1
    def drop(self, x):
        self.items.remove(x)
    def last(self):
        return self.items.pop()
"""
BRANCHED = """\
if a:
    x = 1
    n += 1
elif b:
    n += 1
elif c:
    x = 2
else:
    n += 1
    x = 3
"""
PASSING = """\
def f(a, strict=False): pass
def g(a, strict):
    f(a)
    h(b=strict, c=1)
    h(a)
    print(a, b=a, *c)
"""
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
BOX = '''\
class Box:
    def put(self, item):
        self.check()
        self.items.append(item)
    def take(self):
        self.check()
        return self.items.pop()
    def clear(self):
        """Empty it."""
        self.items = []
'''
GUARD = "        if not isinstance(other, A):\n            return NotImplemented\n"
ORDERED = f"""\
class A:
    def __eq__(self, other):
{GUARD}        return self.n == other.n
    def __lt__(self, other):
{GUARD}        return self.n < other.n
    def __gt__(self, other):
        return self.n > other.n
"""
SAVED = """\
def save(table):
    print(table)

def put_key(table, key):
    table[key] = 1
    save(table)

def move_key(table, key):
    table.move(key)
    save(table)

def drop_key(table, key):
    del table[key]

def size_key(table):
    n = len(table)
    return n
"""
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
            for name in ("IndexError", "AttributeError", "ValueError", "OSError")
        ]
        + [CATCHES.replace("OSError)", f"OSError, {name})") for name in ("TypeError", "KeyError")],
    ),
    ("class replaced", FAMILY, [FAMILY.replace("a, FunctionScope", f"a, {name}") for name in ("Base", "ClassScope")]),
    ("class replaced", "isinstance(a, (int, str))", ["isinstance(a, int)", "isinstance(a, str)"]),
    ("class replaced", "f(a, (int, str))", []),
    (
        "fallback given",
        PREFIXED,
        [PREFIXED.replace("[prefix]", f"[prefix or {text}]") for text in ("''", "0")]
        + [PREFIXED.replace("= uri", f"= uri or {text}") for text in ("''", "[]", "{}", "0", "'x'")]
        + [PREFIXED.replace("('x')", f"('x') or {text}") for text in ("''", "[]")],
    ),
    ("fallback given", "for x in a.b: f(1)", ["for x in a.b or []: f(1)", "for x in a.b or {}: f(1)"]),
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
        "import copy\na = []\nb = a\n",
        [f"import copy\na = []\nb = {text}\n" for text in ("list(a)", "a[:]", "copy.copy(a)", "copy.deepcopy(a)")],
    ),
    ("copy taken", "a = 1\nb = a\n", []),
    ("copy taken", "def f(a):\n    b = a\n    return b\n", []),
    ("call unwrapped", "x = copy.deepcopy(a)", ["x = a"]),
    (
        "counterpart inserted",
        COUNTED,
        [
            COUNTED.replace("        self.items.remove(x)\n", f"        self.items.remove(x)\n        {text}\n")
            for text in ("self.n -= 1", "self.known.pop(x, None)")
        ]
        + [COUNTED.replace("        return", "        self.n -= 1\n        return")],
    ),
    ("counterpart inserted", COUNTED.replace("self.items.", "self.others.", 1).replace("self.n", "n"), []),
    (
        "change undone",
        "def f(a, k):\n    a[k] = 1\n    g(a)\n",
        ["def f(a, k):\n    a[k] = 1\n    g(a)\n    a.pop(k, None)\n"],
    ),
    (
        "change undone",
        "def f(a):\n    old = a.b\n    a.b = 1\n    return g(a)\n",
        ["def f(a):\n    old = a.b\n    a.b = 1\n    a.b = old\n    return g(a)\n"],
    ),
    ("change undone", "def f(a):\n    old = a.b\n    a.b = 1\n    g(a)\n    a.b = old\n", []),
    ("change undone", "def f(k):\n    a = set()\n    a.add(k)\n    g(a)\n", []),
    ("change undone", "def f(a, k):\n    a.add(k)\n    g(a)\n    a.remove(k)\n", []),
    (
        "pattern changed",
        r"RUBY_PATTERN = r'\[\w+\(\w+\)\]'",
        [
            rf"RUBY_PATTERN = r'{text}'"
            for text in (
                r"\[\w*\(\w+\)\]",
                r"\[[\w ]+\(\w+\)\]",
                r"\[\w+\(\w*\)\]",
                r"\[\w+\([\w ]+\)\]",
                r"\[[\w-]+\(\w+\)\]",
                r"\[\w+\([\w-]+\)\]",
                r"\[[\w.]+\(\w+\)\]",
                r"\[\w+\([\w.]+\)\]",
                r"\[\w+?\(\w+\)\]",
                r"\[\w+\(\w+\)\]$",
                r"\[\w+\(\w+?\)\]",
                r"^\[\w+\(\w+\)\]",
            )
        ],
    ),
    (
        "pattern changed",
        "re.compile('^[a-z]*?(b)$')",
        [
            f"re.compile({text})"
            for text in (
                "'^[a-z]+?(b)$'",
                "'^[a-z ]*?(b)$'",
                "'^[a-z.]*?(b)$'",
                "'^[a-z]*?(b)?$'",
                "'^[a-z]*(b)$'",
                "'^[a-z]*?(b)'",
                "'[a-z]*?(b)$'",
                "'^[a-z]*?(b)$', re.I",
                "'^[a-z]*?(b)$', re.S",
                "'^[a-z]*?(b)$', re.M",
            )
        ],
    ),
    ("pattern changed", "re.compile('a' 'b+'); x = 'a+'; PATTERN = '['", []),
    (
        "keyword passed",
        PASSING,
        [
            PASSING.replace("f(a)", "f(a, strict=strict)"),
            PASSING.replace("h(a)", "h(a, c=1)"),
        ],
    ),
    ("keyword passed", "def f(a, b):\n    g(a=b)\n", ["def f(a, b):\n    g(a=a)\n"]),
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
    ("branch completed", BRANCHED, [BRANCHED.replace("    x = 2", "    x = 2\n    n += 1")]),
    ("branch completed", "if a:\n    n += 1\nelse:\n    b = 2\n", []),
    ("sibling step", BOX, [BOX.replace('"""Empty it."""\n', '"""Empty it."""\n        self.check()\n')]),
    ("sibling step", BOX.replace("        self.check()\n", "", 1), []),
    ("sibling step", ORDERED, [ORDERED.replace("__gt__(self, other):\n", f"__gt__(self, other):\n{GUARD}")]),
    (
        "sibling step",
        SAVED,
        [
            SAVED.replace("del table[key]\n", "del table[key]\n    save(table)\n"),
            SAVED.replace("n = len(table)\n", "n = len(table)\n    save(table)\n"),
        ],
    ),
    ("sibling step", "def a_b(x):\n    y = x\n    f(y)\n\ndef a_c(z):\n    g(z)\n", []),
]


@pytest.mark.parametrize(("operator", "text", "expected"), PROJECTS)
def test_operator(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
