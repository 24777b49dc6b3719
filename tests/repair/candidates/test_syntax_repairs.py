"""Files that do not compile: the first text that is offered."""

from __future__ import annotations

from textwrap import dedent

import pytest

from codur.repair.candidates.syntax_repairs import mend
from codur.repair.code.source_file import compiles

CASES: list[tuple[str, str, str]] = [
    ("if a  # why\n    b()\n", "if a:  # why\n    b()\n", "lacks a colon"),
    ("def f(a\n    return a\n", "def f(a):\n    return a\n", "lacks a `)`"),
    ("x = [1, (2, 3]\n", "x = [1, (2, 3)]\n", "lacks a `)`"),
    ("x = (1 + 2))\n", "x = (1 + 2)\n", "has a `)` too many"),
    ("print(max(1, 2)\nx = 3\n", "print(max(1, 2))\nx = 3\n", "lacks a `)`"),
    ("x = [1 2]\n", "x = [1, 2]\n", "lacks a comma"),
    ("print('a)\n", "print('a')\n", "has a string without an end"),
    ("if a = 1:\n    b()\n", "if a == 1:\n    b()\n", "compares with `=`"),
    ("print 'a'\n", "print('a')\n", "lacks the brackets of `print`"),
    ("def f():\nreturn 1\n", "def f():\n    return 1\n", "is not indented"),
    ("x = 1\n  y = 2\n", "x = 1\ny = 2\n", "is indented wrongly"),
]


@pytest.mark.parametrize(("text", "expected", "says"), CASES)
def test_a_fault_is_mended(text: str, expected: str, says: str) -> None:
    found = {mended.text: mended.says for mended in mend(text, "main.py")}
    assert found[expected] == says


def test_two_faults_are_mended_one_after_the_other() -> None:
    broken = """
    def f(a)
        return (a + 1
    """
    mended = """
    def f(a):
        return (a + 1)
    """
    found = mend(dedent(broken), "main.py")
    assert dedent(mended) in [each.text for each in found]
    assert all(compiles(each.text, "main.py") for each in found)


def test_what_compiles_or_is_no_program_is_left_alone() -> None:
    assert mend("x = 1\n", "main.py") == ()
    assert mend("this is no program at all, it is prose\n" * 3, "main.py") == ()
