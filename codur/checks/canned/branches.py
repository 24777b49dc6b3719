"""The places where a program compares its input with constants, each yielding something."""

import ast
from collections.abc import Mapping, Sequence

from codur.checks.canned import canned_syntax
from codur.structs import Struct

_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.expr_context)
_CONVERTERS = frozenset({"int", "str", "float", "tuple", "list"})


class Branch(Struct, kw_only=False):
    """A comparison of `subject` with constants that yields a constant; empty `value`: it yields something else.

    Attributes:
        nodes: what would have to be taken out of the program to undo it.
        keys, value: as `repr` writes them.
    """

    nodes: tuple[ast.AST, ...]
    subject: str
    keys: Sequence[str]
    value: str

    @property
    def text(self) -> str:
        """The value as `print` writes it."""
        return str(ast.literal_eval(self.value)) if self.value else ""


def branches_of(tree: ast.AST, names: Mapping[str, ast.expr]) -> list[Branch]:
    """The cases of `if`, of conditional expressions and of look-ups in a dict, one a row; `names` are bound once."""
    found: list[Branch] = []
    for node in ast.walk(tree):
        match node:
            # `if x in TABLE:` and then a look-up
            case ast.If(test=ast.Compare(left=key, ops=[ast.In()], comparators=[ast.Name(id=name)])):
                found += _rows(node, key, names.get(name))
            case ast.If(test=test, body=body):
                found += _comparison(node, test, _yielded(body))
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
    computing = [call for call in calls if canned_syntax.called(call) not in _CONVERTERS]
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
