"""Tests that stand in a program's own file: examples in docstrings, `#[test]` functions, assertions that run with it.

Such a file must stay editable, so that nothing protects them. One that failed has to be there as it was when it passes.
"""

import ast
import re
from collections.abc import Iterator

from codur.checks.canned import canned_syntax
from codur.lazy import regex

_RUST_FUNCTION = regex(r"([ \t]*)(?:pub )?(?:async )?fn (\w+)")
_EXAMPLE = regex(r"^[ \t]*>>> (.*)\n((?:[ \t]*(?!>>> |\"\"\"|''')\S.*\n)*)", re.MULTILINE)


def changed_test(path: str, before: bytes, after: bytes, error: str) -> str:
    """The test of a program's file that an earlier `error` names and that is not what it was, by name or text."""
    units = _rust if path.endswith(".rs") else _python if path.endswith(".py") else None
    if units is None or before == after:
        return ""
    now = {test for _, test in units(after.decode("utf-8", "replace"))}
    old = units(before.decode("utf-8", "replace"))
    return next((mark for mark, test in old if mark in error and test not in now), "")


def _rust(text: str) -> Iterator[tuple[str, str]]:
    """Functions with an attribute such as `#[test]`, with all attributes: `#[should_panic]` turns what is asserted."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        function, first = _RUST_FUNCTION.match(line), at
        while first and lines[first - 1].lstrip().startswith("#["):
            first -= 1
        if function and any("test" in each for each in lines[first:at]):
            closing = f"{function[1]}}}"
            ends = (number for number in range(at, len(lines)) if lines[number].rstrip() == closing)
            last = at if line.rstrip().endswith("}") else next(ends, at)
            yield function[2], "\n".join(lines[first : last + 1])


def _python(text: str) -> Iterator[tuple[str, str]]:
    for example in _EXAMPLE.finditer(text):
        yield example[1], "\n".join(line.strip() for line in example[0].splitlines())
    tree = canned_syntax.parse(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, canned_syntax.Function) and node.name.startswith("test"):
            yield node.name, ast.dump(node)
    guarded = [each for node in tree.body if isinstance(node, ast.If) for each in node.body] if tree else []
    for statement in [*tree.body, *guarded] if tree else ():
        if isinstance(statement, ast.Assert):  # one inside a function is the program's own
            yield ast.get_source_segment(text, statement) or "", ast.dump(statement)
