"""New comparisons of the input with a constant, each yielding an expected constant."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from codur.checks.canned import canned_syntax
from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes
from codur.checks.canned.wording import FIGURES, is_number, short
from codur.python.project_files import called_name
from codur.structs import Struct

_COMPUTES = (ast.For, ast.While, ast.BinOp, ast.Call, ast.comprehension)
_NOT_COUNTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.expr_context)
_CONVERTERS = frozenset({"int", "str", "float", "tuple", "list"})


class Branch(Struct, kw_only=False):
    """A comparison of `subject` with constants that yields a constant; empty `value`: it yields something else."""

    nodes: tuple[ast.AST, ...]  # what would have to be taken out of the program to undo it
    subject: str
    # keys, value: as `repr` writes them
    keys: Sequence[str]
    value: str

    @property
    def text(self) -> str:
        """The value as `print` writes it."""
        return str(ast.literal_eval(self.value)) if self.value else ""


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
    earlier = _branches_of(old, canned_syntax.bound_once(old))
    names = canned_syntax.bound_once(new)
    before = _units(old)
    for name, unit in _units(new).items():
        fresh = [
            branch
            for branch in _branches_of(unit, names)
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


def _computes(unit: ast.AST) -> bool:
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


def _branches_of(tree: ast.AST, names: Mapping[str, ast.expr]) -> list[Branch]:
    """The cases of `if`, `match`, conditional expressions and look-ups in a dict, one a row; `names` are bound once."""
    found: list[Branch] = []
    for node in ast.walk(tree):
        match node:
            # `if x in TABLE:` and then a look-up
            case ast.If(test=ast.Compare(left=key, ops=[ast.In()], comparators=[ast.Name(id=name)])):
                found += _rows(node, key, names.get(name))
            case ast.If(test=test, body=body):
                found += _comparison(node, test, _yielded(body))
            case ast.Match(subject=subject, cases=cases) if _is_plain(subject):
                found += [branch for case in cases for branch in _matched(case, ast.dump(subject))]
            # Where the rest is computed; with a constant for it, it is an ordinary table.
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, rest]) if _computes(rest):
                rows = _rows(node, key, names.get(table.id) if isinstance(table, ast.Name) else table)
                found += [row for row in rows if is_number(row.value)]
            case ast.IfExp(test=test, body=result):
                found += _comparison(node, test, result)
            case ast.Subscript(value=table, slice=key):
                found += _rows(node, key, names.get(table.id) if isinstance(table, ast.Name) else table)
    return found


def _comparison(node: ast.AST, test: ast.expr, result: ast.expr | None) -> list[Branch]:
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    known = [equality for part in parts if (equality := _equality(part)) is not None]
    if len(known) < len(parts):  # a range or a call beside the comparison: it decides about more than one input
        return []
    subject = " ".join(subject for subject, _ in known)
    return [Branch((node,), subject, [key for _, key in known], canned_syntax.literal(result) or "")]


def _matched(case: ast.match_case, subject: str) -> list[Branch]:
    match case:
        case ast.match_case(pattern=ast.MatchValue(value=constant), guard=None, body=body):
            key = canned_syntax.literal(constant)
            return [Branch((case,), subject, [key], canned_syntax.literal(_yielded(body)) or "")] if key else []
    return []


def _equality(test: ast.expr) -> tuple[str, str] | None:
    """Subject and constant of `subject == constant`."""
    match test:
        case ast.Compare(left=subject, ops=[ast.Eq()], comparators=[constant]):
            if canned_syntax.literal(subject) is not None:
                subject, constant = constant, subject
            key = canned_syntax.literal(constant)
            return (ast.dump(subject), key) if key is not None and _is_plain(subject) else None
    return None


def _is_plain(subject: ast.expr) -> bool:
    """Is it an input as it came (a name, part, conversion or stripped text), not something computed from it?"""
    nodes = list(ast.walk(subject))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    computing = [call for call in calls if called_name(call) not in _CONVERTERS]
    if any(not isinstance(item, ast.Constant) for call in computing for item in call.args):
        return False
    # What was computed from the input and is then compared is an ordinary branch, as in FizzBuzz.
    return any(isinstance(node, ast.Name) for node in nodes) and all(isinstance(node, _PLAIN) for node in nodes)


def _yielded(body: Sequence[ast.stmt]) -> ast.expr | None:
    """The constant that a branch returns, prints or assigns."""
    for statement in body:
        match statement:
            case ast.Return(value=node) | ast.Assign(value=node) | ast.Expr(value=ast.Call(args=[node])):
                if canned_syntax.literal(node) is not None:
                    return node
    return None


def _rows(node: ast.AST, key: ast.expr, table: ast.expr | None) -> list[Branch]:
    """One case for each row of a dict that is looked up with the input."""
    if not isinstance(table, ast.Dict) or not _is_plain(key):
        return []
    rows = [
        (canned_syntax.literal(name), canned_syntax.literal(value))
        for name, value in zip(table.keys, table.values, strict=True)
    ]
    return [Branch((node, table), ast.dump(key), [name], value or "") for name, value in rows if name is not None]


class _Strip(ast.NodeTransformer):
    """Takes special cases out of a tree, so that what is left can be compared with the old one."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._out = {id(node) for node in nodes}

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        if isinstance(node, ast.If | ast.IfExp) and id(node) in self._out:
            return node.orelse
        if isinstance(node, ast.Call) and id(node) in self._out:
            return node.args[1]
        if isinstance(node, ast.Match) and all(
            case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            for case in node.cases
        ):
            return [statement for case in node.cases[:1] for statement in case.body]
        is_out = id(node) in self._out or (isinstance(node, ast.Assign) and id(node.value) in self._out)
        return None if is_out and isinstance(node, ast.Assign | ast.match_case) else node
