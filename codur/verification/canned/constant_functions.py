"""A function that computed and now returns one constant of the tests."""

from __future__ import annotations

import ast

from codur.verification.canned import syntax
from codur.verification.canned.case import Case
from codur.verification.canned.program import Changes
from codur.verification.canned.wording import is_number, short


def always_the_same(changes: Changes, case: Case) -> str | None:
    for path, (old, new) in changes.items():
        if new.tree is None or old.broken:
            continue
        earlier = syntax.functions(old.tree) if old.tree else {}
        for name, function in syntax.functions(new.tree).items():
            value = syntax.literal(syntax.constant_return(function)) or ""
            if value in syntax.TRIVIAL or not _ignores_input(function, earlier.get(name), value, case):
                continue
            if case.asserts_together({value}, {function.name} if case.is_new else {value}):
                return f"{path} always returns {short(value)} from {name}() instead of computing it"
    return None


def _ignores_input(function: syntax.Function, earlier: syntax.Function | None, value: str, case: Case) -> bool:
    """Had the function something to compute? New ones are suspected only of a number that the prompt does not name."""
    arguments = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
    has_input = bool(arguments - {"self", "cls"})
    if earlier is not None and syntax.has_code(earlier):
        return syntax.constant_return(earlier) is None and (has_input or is_number(value))
    return has_input and is_number(value) and value not in case.prompt
