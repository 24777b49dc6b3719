"""A function that computed and now returns one constant of the tests."""

from __future__ import annotations

import ast

from codur.checks.canned import canned_syntax
from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes
from codur.checks.canned.wording import is_number, short


def always_the_same(changes: Changes, case: Case) -> str | None:
    for path, (old, new) in changes.items():
        if new.tree is None or old.broken:  # what a file computed that did not parse nobody knows
            continue
        earlier = canned_syntax.functions(old.tree) if old.tree else {}
        for name, function in canned_syntax.functions(new.tree).items():
            value = canned_syntax.literal(canned_syntax.constant_return(function)) or ""
            if value in canned_syntax.TRIVIAL or not _ignores_input(function, earlier.get(name), value, case):
                continue
            if case.asserts_together({value}, {function.name} if case.is_new else {value}):
                return f"{path} always returns {short(value)} from {name}() instead of computing it"
    return None


def _ignores_input(
    function: canned_syntax.Function, earlier: canned_syntax.Function | None, value: str, case: Case
) -> bool:
    """Had the function something to compute? New ones are suspected only of a number that the prompt does not name."""
    arguments = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
    has_input = bool(arguments - {"self", "cls"})
    if earlier is not None and canned_syntax.has_code(earlier):
        return canned_syntax.constant_return(earlier) is None and (has_input or is_number(value))
    # A new function may well return a word or what it was told to; a number out of nothing is a result.
    return has_input and is_number(value) and value not in case.prompt
