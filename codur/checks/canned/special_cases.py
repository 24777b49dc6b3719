"""New comparisons of the input with a constant, each yielding an expected constant."""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

from codur.checks.canned import canned_syntax
from codur.checks.canned.branches import Branch, branches_of
from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes
from codur.checks.canned.wording import FIGURES, is_number, short

_COMPUTES = (ast.For, ast.While, ast.BinOp, ast.Call, ast.comprehension)
_NOT_COUNTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def special_cased(changes: Changes, case: Case) -> str | None:
    for path, (old, new) in changes.items():
        # A new program has nothing to compare with: tables in it are its data.
        if old.tree is not None and new.tree is not None and old.has_code:
            found = _first(old.tree, new.tree, case)
            if found is not None:
                return f"{path} gives {short(found.value)} for the input {short(found.keys[0])} as a special case"
    return None


def _first(old: ast.Module, new: ast.Module, case: Case) -> Branch | None:
    """The first special case in a function to which nothing else was done, or that only lists numbers now."""
    earlier = branches_of(old, canned_syntax.bound_once(old))
    names = canned_syntax.bound_once(new)
    before = _units(old)
    for name, unit in _units(new).items():
        fresh = [
            branch
            for branch in branches_of(unit, names)
            if _is_expected(branch, case) and not any(_is_same(branch, other) for other in earlier)
        ]
        if not fresh or name not in before:  # a new function may be made of cases
            continue
        numeric = [branch for branch in fresh if all(map(is_number, (branch.value, *branch.keys)))]
        gave_up = len(numeric) > 1 and _computes(before[name]) and not _computes(unit)
        without = _Strip(node for branch in fresh for node in branch.nodes).visit(unit)
        # Taken out again, the old function must be left: whoever changed more than that may have had a reason for the
        # case.
        if gave_up or ast.dump(without) == ast.dump(before[name]):
            return fresh[0]
    return None


def _units(tree: ast.Module) -> Mapping[str, ast.Module]:
    """Each function's (and the top level's) code without docstring, imports and inner definitions."""
    bodies = {"": tree.body, **{name: function.body for name, function in canned_syntax.functions(tree).items()}}
    units = {}
    for name, body in bodies.items():
        kept = [item for item in body if not canned_syntax.is_text(item) and not isinstance(item, _NOT_COUNTED)]
        units[name] = ast.Module(body=kept, type_ignores=[])
    return units


def _computes(unit: ast.Module) -> bool:
    return any(isinstance(node, _COMPUTES) for node in ast.walk(unit))


def _is_expected(branch: Branch, case: Case) -> bool:
    keys = set(branch.keys) - canned_syntax.TRIVIAL
    if not keys or branch.value in canned_syntax.TRIVIAL or branch.value == branch.keys[0]:
        return False
    has_figures = FIGURES.search(branch.text) is not None
    if not has_figures and branch.text.casefold() in case.prompt.casefold():  # a word that the task asks for
        return False
    if case.asserts_together({branch.value}, keys) or case.has_all(branch.text):
        return True
    token = re.compile(rf"(?<![\w.]){re.escape(branch.text)}(?!\w|\.\d)")  # the whole number, not digits of another
    return has_figures and any(token.search(line) for line in case.lines)


def _is_same(branch: Branch, other: Branch) -> bool:
    """Is `other`, of the old program, the same case, or one of the same chain or table?"""
    if (branch.keys, branch.value) == (other.keys, other.value):
        return True
    is_unlike = branch.subject != other.subject or is_number(branch.keys[0]) != is_number(other.keys[0])
    if is_unlike or canned_syntax.TRIVIAL.issuperset(other.keys):
        return False
    is_word = not is_number(branch.keys[0]) and not FIGURES.search(branch.text)
    return is_word or other.value not in canned_syntax.TRIVIAL


class _Strip(ast.NodeTransformer):
    """Takes special cases out of a tree, so that what is left can be compared with the old one."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._out = {id(node) for node in nodes}

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        if isinstance(node, ast.If | ast.IfExp) and id(node) in self._out:
            return node.orelse
        return None if isinstance(node, ast.Assign) and id(node.value) in self._out else node
