"""Evaluates small expressions on recorded values: comparisons, arithmetic, subscripts and `len`, nothing that runs."""

import ast
import operator
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from codur.repair.evidence.observed_values import Environment

UNKNOWN = "?"
"""Stands for a value that cannot be told, or for an exception."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, owner: item in owner,
    ast.NotIn: lambda item, owner: item not in owner,
}
_LARGEST = 10**18
_RAISED = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError)


class _Unsupported(Exception):
    """The expression holds something that is not evaluated here."""


def outcomes(text: str, environments: Iterable[Environment]) -> tuple[str, ...]:
    """The truth of an expression in each environment: `T`, `F`, or `?` where it cannot be told."""
    tree = _parsed(text)
    return tuple(_truth(tree, environment) for environment in environments) if tree else ()


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _truth(node: ast.expr, environment: Environment) -> str:
    try:
        return "T" if _value(node, environment) else "F"
    except (_Unsupported, *_RAISED):
        return UNKNOWN


def _value(node: ast.expr, environment: Environment) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in environment:
        return environment[node.id]
    for kind, evaluate in _BY_NODE.items():
        if isinstance(node, kind):
            return evaluate(node, environment)
    raise _Unsupported


def _binary(node: ast.BinOp, environment: Environment) -> Any:
    left, right = _value(node.left, environment), _value(node.right, environment)
    both_numbers = all(isinstance(each, int | float) and abs(each) < _LARGEST for each in (left, right))
    if type(node.op) not in _BINARY or not (both_numbers or isinstance(node.op, ast.Add)):
        raise _Unsupported
    return _BINARY[type(node.op)](left, right)


def _unary(node: ast.UnaryOp, environment: Environment) -> Any:
    value = _value(node.operand, environment)
    if isinstance(node.op, ast.Not):
        return not value
    if isinstance(node.op, ast.USub):
        return -value
    raise _Unsupported


def _compare(node: ast.Compare, environment: Environment) -> bool:
    left = _value(node.left, environment)
    for compared, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, environment)
        if not _COMPARE[type(compared)](left, right):
            return False
        left = right
    return True


def _both(node: ast.BoolOp, environment: Environment) -> Any:
    value: Any = None
    for each in node.values:
        value = _value(each, environment)
        if bool(value) == isinstance(node.op, ast.Or):
            break
    return value


def _subscript(node: ast.Subscript, environment: Environment) -> Any:
    if isinstance(node.slice, ast.Slice):
        raise _Unsupported
    return _value(node.value, environment)[_value(node.slice, environment)]


def _length(node: ast.Call, environment: Environment) -> int:
    if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1 and not node.keywords:
        return len(_value(node.args[0], environment))
    raise _Unsupported


_BY_NODE: dict[type[ast.expr], Callable[[Any, Environment], Any]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _both,
    ast.Subscript: _subscript,
    ast.Call: _length,
}
