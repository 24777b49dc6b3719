"""Operators that guard against the exception that was raised (or, late, against an empty argument).

Values that a guard gives back come from the function's own constants and from 0, None, "" and []; nothing is made up.
"""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called, called_plainly, is_pure, is_read
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact

_COMMON = ("0", "None", '""', "[]")
_EMPTY = ("arg is an empty sequence", "iterable argument is empty")


def division_guarded(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """ZeroDivisionError: a default where the divisor is zero, as an early return, a `continue` or a conditional."""
    divides = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and is_pure(node.right)
    if not divides or not context.raised(node, "ZeroDivisionError"):
        return
    divisor = context.code(node.right)
    says = f"divides by zero when `{divisor}` is 0"
    yield from _early_exits(context, node, _is_zero(context, node.right), says)
    if not isinstance(node.right, ast.BinOp | ast.BoolOp | ast.Compare):
        yield context.replace(node, f"{context.code(node)} if {divisor} else 0", says=says, weight=0.8)


def _is_zero(context: Context, node: ast.expr) -> str:
    """`not a` for `a` and for `len(a)`."""
    if isinstance(node, ast.Call) and called_plainly(node) == "len" and len(node.args) == 1:
        return f"not {context.code(node.args[0])}"
    return f"{context.code(node)} == 0" if isinstance(node, ast.BinOp) else f"not {context.code(node)}"


def index_guarded(context: Context, node: ast.Subscript) -> Iterator[Proposal]:
    """IndexError or KeyError: an early exit where the sequence is empty or the key is missing, or `.get`."""
    owner, key = context.code(node.value), context.code(node.slice)
    if not is_pure(node.value):
        return
    if context.raised(node, "IndexError"):
        yield from _early_exits(context, node, f"not {owner}", f"fails when `{owner}` is empty")
    if context.raised(node, "KeyError") and is_pure(node.slice):
        says = f"fails when `{key}` is not in `{owner}`"
        yield from _key_defaults(context, node, says)
        yield from _early_exits(context, node, f"{key} not in {owner}", says)


def _key_defaults(context: Context, node: ast.Subscript, says: str) -> Iterator[Proposal]:
    """`a[k]` → `a.get(k, 0)`, `a[k].f()` → `a.setdefault(k, []).f()`, `a[k] += b` → `a[k] = a.get(k, 0) + b`."""
    parent, owner, key = context.source.parent(node), context.code(node.value), context.code(node.slice)
    if isinstance(parent, ast.AugAssign) and parent.target is node:
        start, end = context.source.span(node)[1], context.source.span(parent.value)[0]
        symbol = context.source.text[start:end].strip().removesuffix("=")
        for rank, default in enumerate(("0", '""', "[]", "1")):
            yield context.span(start, end, f" = {owner}.get({key}, {default}) {symbol} ", says, 0.8**rank)
    elif is_read(node):
        asked = isinstance(parent, ast.Attribute)
        method, values = ("setdefault", ("[]", '""', "0")) if asked else ("get", (*_COMMON, "1"))
        for rank, default in enumerate(values):
            yield context.replace(node, f"{owner}.{method}({key}, {default})", says=says, weight=0.8**rank)


def empty_guarded(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`max()`/`min()` of nothing, `.pop()` of an empty list, `next()` at the end: a default or an early exit."""
    name = called_plainly(node)
    if name in ("max", "min") and len(node.args) == 1 and _message(context, node, "ValueError", *_EMPTY):
        yield from _with_default(context, node)
    elif name == "next" and len(node.args) == 1 and context.raised(node, "StopIteration"):
        for rank, default in enumerate(defaults(context, node)):
            yield context.last_argument(node, default, "fails when nothing is left", 0.8**rank)
    elif not name and called(node) in ("pop", "popleft") and context.raised(node, "IndexError"):
        taken = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if is_pure(taken):
            owner = context.code(taken)
            yield from _early_exits(context, node, f"not {owner}", f"fails when `{owner}` is empty")


def _with_default(context: Context, node: ast.Call) -> Iterator[Proposal]:
    values = context.code(node.args[0])
    says = f"fails when `{values}` is empty"
    if not isinstance(node.args[0], ast.GeneratorExp | ast.Starred):
        if is_pure(node.args[0]):
            yield from _early_exits(context, node, f"not {values}", says)
        end = context.source.span(node.args[0])[1]
        for rank, default in enumerate(defaults(context, node)):
            yield context.insert(end, f", default={default}", says, 0.9 * 0.8**rank)


def none_guarded(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """An exception that names `NoneType`: an early exit where the variable is None."""
    parent = context.source.parent(node)
    if isinstance(parent, ast.Attribute):
        blamed = _message(context, node, "AttributeError", f"'NoneType' object has no attribute '{parent.attr}'")
    else:
        blamed = _message(context, node, "TypeError", "NoneType")
    if blamed and is_read(node) and is_pure(node) and not isinstance(parent, ast.Call):
        code = context.code(node)
        yield from _early_exits(context, node, f"{code} is None", f"fails when `{code}` is None")


def base_case_added(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """RecursionError: `if not a: return …`, `if a <= 1: return …` at the start of a function that calls itself."""
    first = first_statement(node)
    recursive = node.name in context.source.names(node) and context.failure.of("RecursionError")
    if first is None or not recursive:
        return
    for name in [each.arg for each in node.args.args if each.arg not in ("self", "cls")][:2]:
        exits = [f"return {value}" for value in dict.fromkeys((name, *defaults(context, node.body[-1])))]
        for test in (f"not {name}", f"{name} <= 0", f"{name} <= 1", f"len({name}) <= 1"):
            yield from context.exits(first, test, exits, 0.85, says=f"never ends: it lacks the case `{test}`")


def first_statement(node: FunctionNode) -> ast.stmt | None:
    """What a function does first: its docstring left out."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[0] if body else None


def defaults(context: Context, node: ast.AST) -> tuple[str, ...]:
    """Values for a guard, likely ones first: what the function returns elsewhere, the common ones, its numbers."""
    return _defaults(context.source, context.source.function(node))


@fact
def _defaults(source: Source, function: FunctionNode | None) -> tuple[str, ...]:
    if function is None:
        return _COMMON
    returned = (each.value for each in source.nodes(function, ast.Return))
    found = [source.code(each) for each in returned if isinstance(each, ast.Constant)]
    constants = (each.value for each in source.nodes(function, ast.Constant))
    numbers = (str(each) for each in constants if type(each) in (int, float, bool))
    return tuple(dict.fromkeys((*found, *_COMMON, *numbers)))[:7]


def _early_exits(context: Context, node: ast.expr, test: str, says: str) -> Iterator[Proposal]:
    """`if TEST: return …` (or `continue` in a loop) before the statement."""
    statement = context.source.statement(node)
    if statement is None or isinstance(statement, ast.While | FunctionNode):
        return
    exits = ["continue"] if context.source.in_loop(statement) else []
    if context.source.function(node):
        exits += [f"return {value}" for value in defaults(context, node)]
    yield from context.exits(statement, test, exits, 0.85, says=says)


def _message(context: Context, node: ast.expr, kind: str, *parts: str) -> bool:
    return any(part in raised.message for raised in context.raised(node, kind) for part in parts)
