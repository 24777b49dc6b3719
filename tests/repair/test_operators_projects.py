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
    ("class replaced", "isinstance(a, (int, str))", []),
]


@pytest.mark.parametrize(("operator", "text", "expected"), PROJECTS)
def test_operator(operator: str, text: str, expected: list[str]) -> None:
    assert made_by(operator, text) == expected
