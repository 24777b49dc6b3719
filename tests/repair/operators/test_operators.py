"""Each operator on a small source: the whole list of what it makes."""

from __future__ import annotations

import ast
import re
from textwrap import dedent

import pytest

from codur.repair.code.source_edits import apply_edits
from codur.repair.evidence.failing_lines import Failure, Raised
from codur.repair.operators.table import OPERATORS
from tests.repair.operators.test_operators_everyday import EVERYDAY
from tests.repair.operators.test_operators_values import VALUES, VALUES_ANSWERS
from tests.repair.support import all_offers, made_by

ONE_LINE: list[tuple[str, str, list[str]]] = [
    ("comparison boundary", "a < b", ["a <= b"]),
    ("comparison boundary", "0 >= a > b", ["0 > a > b", "0 >= a >= b"]),
    ("comparison boundary", "a == b", []),
    ("comparison swapped", "a < b", ["a > b", "a >= b"]),
    ("comparison swapped", "a is b", ["a == b", "a is not b"]),
    ("comparison swapped", "a == b", ["a != b", "a >= b", "a <= b"]),
    ("comparison swapped", "a  not   in b", ["a  in b"]),
    ("comparison swapped", "(a) != (b)", ["(a) == (b)", "(a) < (b)", "(a) > (b)"]),
    ("and/or swapped", "a and b and c", ["a or b or c"]),
    ("and/or swapped", "a or (b)", ["a and (b)"]),
    ("condition narrowed", "a and (b or c)", ["a", "b or c", "a and (b)", "a and (c)"]),
    ("not removed", "not a", ["a"]),
    ("not removed", "-a", []),
    ("not added", "x = a if b else c", ["x = a if not b else c"]),
    ("not added", "x = a if not b else c", []),
    ("not added", "x = a if b < 1 else c", []),
    ("True/False flipped", "x = True", ["x = False"]),
    ("True/False flipped", "x = 1", []),
    (
        "range bound",
        "range(n)",
        ["range(n + 1)", "range(n - 1)", "range(1, n)", "range(1, n + 1)"],
    ),
    (
        "range bound",
        "range(1, len(a) - 1)",
        ["range(1, len(a))", "range(1, len(a) - 2)", "range(2, len(a) - 1)", "range(0, len(a) - 1)"],
    ),
    (
        "range bound",
        "range(a, 9, -1)",
        ["range(a, 10, -1)", "range(a, 8, -1)", "range(a + 1, 9, -1)", "range(a - 1, 9, -1)"],
    ),
    ("range bound", "range(*a)", []),
    ("slice bound", "a[i:j]", ["a[i:j + 1]", "a[i:j - 1]", "a[i:]", "a[i + 1:j]", "a[i - 1:j]", "a[:j]"]),
    ("slice bound", "a[:-1]", ["a[:]", "a[:-2]", "a[:]"]),
    ("slice bound", "a[1:]", ["a[2:]", "a[:]", "a[:]"]),
    ("slice bound", "[x for x in a[1:]]", ["[x for x in a[2:]]", "[x for x in a]", "[x for x in a[:]]"]),
    ("slice bound", "[x for x in a[:-1]]", ["[x for x in a]", "[x for x in a[:-2]]", "[x for x in a[:]]"]),
    (
        "slice bound",
        "for x in a[1:k]: y",
        [f"for x in {cut}: y" for cut in ("a[1:k + 1]", "a[1:k - 1]", "a[1:]", "a[2:k]", "a[:k]", "a[:k]")],
    ),
    ("slice bound", "a[::2]", []),
    ("index shifted", "a[i]", ["a[i - 1]", "a[i + 1]"]),
    ("index shifted", "a[i + 1] = 2", ["a[i] = 2", "a[i + 2] = 2"]),
    ("index shifted", "a[-1]", ["a[-2]", "a[0]"]),
    ("index shifted", "a['key']", []),
    ("step removed", "x = n + 1", ["x = n", "x = n - 1"]),
    ("step removed", "x = (a * b) - 1", ["x = a * b", "x = (a * b) + 1"]),
    ("step removed", "x = n + 2", []),
    ("constant shifted", "x = 10", ["x = 11", "x = 9"]),
    ("constant shifted", "x = 1.5", []),
    ("constant shifted", "x = True", []),
    ("value shifted", "a < b", ["a + 1 < b", "a - 1 < b", "a < b + 1", "a < b - 1"]),
    (
        "value shifted",
        "x = s / (m - n)",
        [
            "x = s / (m - n) + 1",
            "x = s / (m - n) - 1",
            "x = (s + 1) / (m - n)",
            "x = (s - 1) / (m - n)",
            "x = s / (m - n + 1)",
            "x = s / (m - n - 1)",
            "x = s / (m + 1 - n)",
            "x = s / (m - 1 - n)",
            "x = s / (m - (n + 1))",
            "x = s / (m - (n - 1))",
        ],
    ),
    ("value shifted", "a == 'x'", []),
    ("factor removed", "x = a * b / 100", ["x = a * b"]),
    ("factor removed", "x = 100 * a", ["x = a"]),
    ("factor removed", "x = (a + b) // 2 * c", ["x = (a + b) * c"]),
    ("factor removed", "x = a / b", []),
    ("operand removed", "x = a - b", ["x = a", "x = b"]),
    ("operand removed", "x = a / 100", ["x = 100"]),
    ("operand removed", "x = (a + b) * c", ["x = a + b", "x = c", "x = (a) * c", "x = (b) * c"]),
    ("arithmetic swapped", "x = a + b", ["x = a - b", "x = a * b"]),
    ("arithmetic swapped", "x = a / b", ["x = a // b", "x = a * b", "x = a % b", "x = a - b"]),
    ("arithmetic swapped", "x = '%d' % b", []),
    ("augmented assignment", "a += b", ["a -= b", "a *= b", "a = b"]),
    ("augmented assignment", "a[i] -= b", ["a[i] += b", "a[i] = b", "a[i] //= b", "a[i] *= b"]),
    ("sign removed", "x = -a", ["x = a"]),
    ("sibling call", "min(a, b)", ["max(a, b)"]),
    ("sibling call", "a.b.lower()", ["a.b.upper()"]),
    ("call unwrapped", "x = round(a, 2)", ["x = a"]),
    ("call unwrapped", "x = 2 * int(a + b)", ["x = 2 * (a + b)"]),
    (
        "call wrapped",
        "x = 'a' + b",
        [
            "x = int('a' + b)",
            "x = len('a' + b)",
            "x = list('a' + b)",
            "x = sorted('a' + b)",
            "x = set('a' + b)",
            "x = float('a' + b)",
        ],
    ),
    ("call wrapped", "a - b < c", ["abs(a - b) < c"]),
    ("arguments swapped", "f(a, b, c)", ["f(b, a, c)", "f(a, c, b)"]),
    ("arguments swapped", "max(a, b)", []),
    ("argument removed", "f(a, b)", ["f(a)"]),
    ("operands swapped", "x = a - b", ["x = b - a"]),
    ("operands swapped", "x = (a + b) / c", ["x = (c) / (a + b)", "x = (b + a) / c"]),
    ("reverse toggled", "sorted(a)", ["sorted(a, reverse=True)"]),
    ("reverse toggled", "a.sort()", ["a.sort(reverse=True)"]),
    ("reverse toggled", "sorted(a, reverse=True)", ["sorted(a, reverse=False)"]),
]


@pytest.mark.parametrize(("operator", "text", "expected"), ONE_LINE)
def test_operator_on_one_line(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected


BLOCKS: list[tuple[str, str, list[str]]] = [
    (
        "f-prefix added",
        """
        def greet(name):
            return "Hello {name}!"  # a greeting
        """,
        [
            """
        def greet(name):
            return f"Hello {name}!"  # a greeting
        """
        ],
    ),
    (
        "f-prefix added",
        """
        def greet(name):
            "Greets {name}."
            print("{name}".format(name=name), "{other}", "{}", "%s {name}" % name, f"{name}")
        """,
        [],
    ),
    (
        "variable replaced",
        """
        def f(low, high):
            size = high - low
            return low
        """,
        [
            """
        def f(low, high):
            size = low - low
            return low
        """,
            """
        def f(low, high):
            size = high - high
            return low
        """,
            """
        def f(low, high):
            size = high - low
            return high
        """,
            """
        def f(low, high):
            size = high - low
            return size
        """,
        ],
    ),
    (
        "variable replaced",
        """
        def f(name: str, count: int):
            return name
        """,
        [],
    ),
    (
        "assignment accumulated",
        """
        for x in a:
            total = x
        """,
        [f"\nfor x in a:\n    total {symbol}= x\n" for symbol in "+-*"],
    ),
    (
        "assignment accumulated",
        """
        class A:
            def __init__(self, x):
                self.x = x
            def add(self, x):
                self.x = x
                y = x
        """,
        [
            f"""
        class A:
            def __init__(self, x):
                self.x = x
            def add(self, x):
                self.x {symbol}= x
                y = x
        """
            for symbol in "+-*"
        ],
    ),
    (
        "moved out of block",
        """
        def f(a):
            for x in a:
                total = x  # last
                return total
        """,
        [
            """
        def f(a):
            for x in a:
                total = x  # last
            return total
        """
        ],
    ),
    (
        "moved out of else",
        """
        def f(a):
            for x in a:
                if x:
                    return True
                else:
                    return False
        """,
        [
            """
        def f(a):
            for x in a:
                if x:
                    return True
            return False
        """
        ],
    ),
    (
        "moved into block",
        """
        for x in a:
            y = x
        print(x,
              y)
        """,
        [
            """
        for x in a:
            y = x
            print(x,
                  y)
        """
        ],
    ),
    (
        "statement deleted",
        """
        def f(a):
            print(a)  # seen
            return a
        """,
        ["\ndef f(a):\n    return a\n", "\ndef f(a):\n    print(a)  # seen\n"],
    ),
    ("statement deleted", "x = 1; y = 2\n", []),
    ("statement deleted", "if a:\n    x()\n", ["pass\n", "if a:\n    pass\n"]),
    ("jump swapped", "while a:\n    break\n", ["while a:\n    continue\n"]),
    (
        "mutable default",
        '''
        def f(a, b=[], *, c={}):
            """Doc."""
            return b
        ''',
        [
            '''
        def f(a, b=None, *, c={}):
            """Doc."""
            if b is None:
                b = []
            return b
        ''',
            '''
        def f(a, b=[], *, c=None):
            """Doc."""
            if c is None:
                c = {}
            return b
        ''',
        ],
    ),
    ("return added", "def f(a):\n  a + 1\n", ["def f(a):\n  return a + 1\n"]),
    (
        "return added",
        "def f(a):\n    total = 0\n    for x in a:\n        total += x\n",
        ["def f(a):\n    total = 0\n    for x in a:\n        total += x\n    return total\n"],
    ),
    ("return added", "def f(a):\n    yield a\n", []),
    ("return added", "class A:\n    def __init__(self):\n        x = 1\n", []),
]


@pytest.mark.parametrize(("operator", "text", "expected"), BLOCKS)
def test_operator_on_a_block(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == [dedent(each) for each in expected]


def raised(kind: str, message: str = "", line: int = 0) -> Failure:
    return Failure(raised=(Raised(kind=kind, message=message, frames=(("main.py", line),) if line else ()),))


ANSWERS: list[tuple[str, Failure, str, list[str]]] = [
    (
        "division guarded",
        raised("ZeroDivisionError", "division by zero", 2),
        "def mean(a):\n    return sum(a) / len(a)\n",
        [
            *(
                f"def mean(a):\n    if not a:\n        return {value}\n    return sum(a) / len(a)\n"
                for value in ("0", "None", '""', "[]")
            ),
            "def mean(a):\n    return sum(a) / len(a) if len(a) else 0\n",
        ],
    ),
    ("division guarded", raised("ZeroDivisionError", "division by zero", 1), "def f(a):\n    return 1 / a\n", []),
    ("division guarded", Failure(), "x = 1 / a\n", []),
    (
        "division guarded",
        raised("ZeroDivisionError", "", 2),
        "for a in b:\n    x = y + 1 / a\n",
        [
            "for a in b:\n    if not a:\n        continue\n    x = y + 1 / a\n",
            "for a in b:\n    x = y + (1 / a if a else 0)\n",
        ],
    ),
    (
        "index guarded",
        raised("IndexError", "list index out of range"),
        "def first(a):\n    if a is None:\n        return False\n    return a[0]\n",
        [
            "def first(a):\n    if a is None:\n        return False\n"
            f"    if not a:\n        return {value}\n    return a[0]\n"
            for value in ("False", "0", "None", '""', "[]")
        ],
    ),
    (
        "index guarded",
        raised("KeyError", "'a'"),
        "x = counts[key]\n",
        [f"x = counts.get(key, {value})\n" for value in ("0", "None", '""', "[]", "1")],
    ),
    (
        "index guarded",
        raised("KeyError", "'a'"),
        "counts[key] += 1\n",
        [f"counts[key] = counts.get(key, {value}) + 1\n" for value in ("0", '""', "[]", "1")],
    ),
    (
        "empty guarded",
        raised("ValueError", "max() arg is an empty sequence"),
        "x = max(a)\n",
        [f"x = max(a, default={value})\n" for value in ("0", "None", '""', "[]")],
    ),
    (
        "None guarded",
        raised("AttributeError", "'NoneType' object has no attribute 'x'", 2),
        "def f(a):\n    return a.x\n",
        [
            f"def f(a):\n    if a is None:\n        return {value}\n    return a.x\n"
            for value in ("0", "None", '""', "[]")
        ],
    ),
    (
        "name corrected",
        raised("NameError", "name 'totl' is not defined. Did you mean: 'total'?"),
        "def f(total):\n    return totl\n",
        ["def f(total):\n    return total\n"],
    ),
    (
        "attribute corrected",
        raised("AttributeError", "'list' object has no attribute 'push'"),
        "a = []\na.push(1)\n",
        ["a = []\na.append(1)\n"],
    ),
    (
        "attribute corrected",
        raised("AttributeError", "'Box' object has no attribute 'itms'"),
        "class Box:\n    def __init__(self):\n        self.items = []\n"
        "    def size(self):\n        return len(self.itms)\n",
        [
            "class Box:\n    def __init__(self):\n        self.items = []\n"
            "    def size(self):\n        return len(self.items)\n"
        ],
    ),
    (
        "import added",
        raised("NameError", "name 'math' is not defined"),
        '"""Doc."""\nfrom __future__ import annotations\n\nx = math.sqrt(2)\n',
        ['"""Doc."""\nfrom __future__ import annotations\n\nimport math\nx = math.sqrt(2)\n'],
    ),
    ("import added", raised("NameError", "name 'numpie' is not defined"), "x = numpie.array(2)\n", []),
    (
        "import added",
        raised("NameError", "name 'chain' is not defined"),
        "x = list(chain([1], [2]))\n",
        ["from itertools import chain\nx = list(chain([1], [2]))\n"],
    ),
    (
        "import added",
        raised("NameError", "name 'datetime' is not defined"),
        "x = datetime.now()\n",
        ["import datetime\nx = datetime.now()\n", "from datetime import datetime\nx = datetime.now()\n"],
    ),
    (
        "self added",
        raised("NameError", "name 'size' is not defined"),
        "class A:\n    def size(self):\n        return 1\n    def twice(self):\n        return 2 * size()\n",
        ["class A:\n    def size(self):\n        return 1\n    def twice(self):\n        return 2 * self.size()\n"],
    ),
]


@pytest.mark.parametrize(("operator", "failure", "text", "expected"), ANSWERS)
def test_operator_that_answers_an_exception(operator: str, failure: Failure, text: str, expected: list[str]) -> None:
    assert made_by(operator, text, failure) == expected


def test_every_operator_has_a_case() -> None:
    cases = [operator for operator, *_ in (*ONE_LINE, *BLOCKS, *ANSWERS, *VALUES, *VALUES_ANSWERS, *EVERYDAY)]
    assert {row.name for row in OPERATORS} == set(cases)


SAMPLE = '''
"""Sums {x}."""
import math


def total(numbers: list[int], é="ü", *, scale=1):
    result = 0
    for i in range(len(numbers) - 1):
        if numbers[i] >= 0 and not é == "ß":
            result += numbers[i] * scale / 100
        else:
            return None
    return f"{é}: {result + 1}" if result else max(numbers)[1:-1]


if __name__ == "__main__":
    print(total([1, 2, 3]))
'''


def test_changes_leave_the_rest_of_the_text_alone_and_make_up_no_text() -> None:
    before = {node.value for node in ast.walk(ast.parse(SAMPLE)) if isinstance(node, ast.Constant)}
    found = all_offers(SAMPLE)
    assert len(found) > 100
    for offer in found:
        text = SAMPLE
        for edit in sorted(offer.proposal.edits, key=lambda each: each.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        texts = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        assert {_plain(each) for each in texts - before if isinstance(each, str)} <= {"", *map(_plain, before)}
        assert text.startswith('\n"""Sums {x}."""\nimport math\n')
        assert 'if __name__ == "__main__":' in text or offer.operator == "statement deleted"


def _plain(value: object) -> str:
    """A text or number without its case, and without the blanks and commas around it."""
    return str(value).casefold().strip(" ,\n")


def test_offers_come_in_the_same_order_twice() -> None:
    assert [offer.proposal for offer in all_offers(SAMPLE)] == [offer.proposal for offer in all_offers(SAMPLE)]


@pytest.mark.parametrize(
    "text", ["print(2)\n", "print(1 + 2)\n", 'print("average", 9 / 4)\n', "import sys\nsys.stdout.write(-3)\n"]
)
def test_a_printed_number_is_not_rewritten_into_the_answer(text: str) -> None:
    made = [apply_edits(text, offer.proposal.edits) for offer in all_offers(text)]
    assert [new for new in made if set(re.findall(r"\d+", new)) - set(re.findall(r"\d+", text))] == []
