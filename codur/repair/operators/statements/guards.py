"""Operators that insert a guard against the exception that was raised (or, late, against an empty argument).

Values that a guard gives back come from the function's own constants and from 0, None, "" and []; nothing is made up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.operators.statements.statements import body_start

_COMMON = ("0", "None", '""', "[]")
_PURE = frozenset({"len", "sum", "abs", "int", "float", "max", "min"})
_EMPTY = "arg is an empty sequence"
_EMPTY_NEW = "iterable argument is empty"


def division_guarded(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """ZeroDivisionError: a default where the divisor is zero, as an early return, a `continue` or a conditional."""
    if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) or not _raised(context, node, "ZeroDivisionError"):
        return
    if not is_pure(node.right):
        return
    divisor = context.code(node.right)
    test = _emptiness(context, node.right)
    says = f"divides by zero when `{divisor}` is 0"
    yield from _early_exits(context, node, test, says)
    value = f"{context.code(node)} if {divisor} else 0"
    if not isinstance(node.right, ast.BinOp | ast.BoolOp | ast.Compare):
        yield context.replace(node, value, says=says, weight=0.8)


def index_guarded(context: Context, node: ast.Subscript) -> Iterator[Proposal]:
    """IndexError or KeyError: an early exit where the sequence is empty or the key is missing, or `.get`."""
    owner = context.code(node.value)
    if not is_pure(node.value):
        return
    if _raised(context, node, "IndexError"):
        yield from _early_exits(context, node, f"not {owner}", f"fails when `{owner}` is empty")
    if _raised(context, node, "KeyError") and is_pure(node.slice):
        key = context.code(node.slice)
        says = f"fails when `{key}` is not in `{owner}`"
        yield from _key_defaults(context, node, owner, key, says)
        yield from _early_exits(context, node, f"{key} not in {owner}", says)


def _key_defaults(context: Context, node: ast.Subscript, owner: str, key: str, says: str) -> Iterator[Proposal]:
    parent = context.source.parent(node)
    if isinstance(parent, ast.AugAssign) and parent.target is node:
        start = context.source.span(node)[1]
        symbol = context.source.text[start : context.source.span(parent.value)[0]].strip()
        for rank, default in enumerate(("0", '""', "[]", "1")):
            text = f"= {owner}.get({key}, {default}) {symbol.removesuffix('=')} "
            edit = context.edit_span(start, context.source.span(parent.value)[0], f" {text}")
            yield Proposal(edits=(edit,), says=says, weight=0.8**rank)
    elif isinstance(node.ctx, ast.Load):
        receiver = isinstance(parent, ast.Attribute)
        for rank, default in enumerate(("[]", '""', "0") if receiver else ("0", "None", '""', "[]", "1")):
            method = "setdefault" if receiver else "get"
            yield context.replace(node, f"{owner}.{method}({key}, {default})", says=says, weight=0.8**rank)


def empty_guarded(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`max()`/`min()` of nothing, `.pop()` of an empty list, `next()` at the end: a default or an early exit."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("max", "min") and len(node.args) == 1 and _message(context, node, "ValueError", _EMPTY, _EMPTY_NEW):
        yield from _with_default(context, node)
    elif name == "next" and len(node.args) == 1 and _raised(context, node, "StopIteration"):
        end = context.source.span(node)[1] - 1
        for rank, default in enumerate(defaults(context, node)):
            edit = context.edit_span(end, end, f", {default}")
            yield Proposal(edits=(edit,), says="fails when nothing is left", weight=0.8**rank)
    elif (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("pop", "popleft")
        and _raised(context, node, "IndexError")
    ):
        owner = context.code(node.func.value)
        if is_pure(node.func.value):
            yield from _early_exits(context, node, f"not {owner}", f"fails when `{owner}` is empty")


def _with_default(context: Context, node: ast.Call) -> Iterator[Proposal]:
    values = context.code(node.args[0])
    says = f"fails when `{values}` is empty"
    end = context.source.span(node.args[0])[1]
    if not isinstance(node.args[0], ast.GeneratorExp | ast.Starred):
        if is_pure(node.args[0]):
            yield from _early_exits(context, node, f"not {values}", says)
        for rank, default in enumerate(defaults(context, node)):
            edit = context.edit_span(end, end, f", default={default}")
            yield Proposal(edits=(edit,), says=says, weight=0.9 * 0.8**rank)


def none_guarded(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """An exception that names `NoneType`: an early exit where the variable is None."""
    parent = context.source.parent(node)
    if isinstance(parent, ast.Attribute):
        blamed = _message(context, node, "AttributeError", f"'NoneType' object has no attribute '{parent.attr}'")
    else:
        blamed = _message(context, node, "TypeError", "NoneType")
    if blamed and isinstance(node.ctx, ast.Load) and is_pure(node) and not isinstance(parent, ast.Call):
        code = context.code(node)
        yield from _early_exits(context, node, f"{code} is None", f"fails when `{code}` is None")


def argument_guarded(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """`if not a: return …` at the start of a function, for an argument whose length or first items it uses."""
    at = body_start(context.source, node)
    if at is None or node.name == "__init__":
        return
    used = context.source.names(node)
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg in used - {"self", "cls"}]
    for name in names[:3]:
        for rank, value in enumerate(defaults(context, node.body[-1])):
            text = f"{at[1]}if not {name}:\n{at[1]}{context.source.indent_unit}return {value}\n"
            says = f"does not handle an empty `{name}`"
            yield Proposal(edits=(context.edit_span(at[0], at[0], text),), says=says, weight=0.8**rank)


def defaults(context: Context, node: ast.AST) -> tuple[str, ...]:
    """Values for a guard, likely ones first: what the function returns elsewhere, the common ones, its numbers."""
    return _defaults(context.source, context.source.function(node))


@fact
def _defaults(source: Source, function: FunctionNode | None) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for each in source.nodes(function, ast.Return) if function else ():
        if isinstance(each.value, ast.Constant):
            found[source.code(each.value)] = None
    found |= dict.fromkeys(_COMMON)
    for constant in source.nodes(function, ast.Constant) if function else ():
        if type(constant.value) in (int, float, bool):
            found[str(constant.value)] = None
    return tuple(found)[:7]


def _early_exits(context: Context, node: ast.expr, test: str, says: str) -> Iterator[Proposal]:
    """`if TEST: return …` (or `continue` in a loop) before the statement."""
    statement = context.source.statement(node)
    indent = context.source.indent(statement) if statement else None
    if statement is None or indent is None or isinstance(statement, ast.While | FunctionNode):
        return
    if context.source.lines[statement.lineno - 1].lstrip().startswith("elif"):
        return
    start = context.source.line_start(statement.lineno)
    exits = [f"return {value}" for value in defaults(context, node)] if context.source.function(node) else []
    if context.source.in_loop(statement):
        exits.insert(0, "continue")
    for rank, leave in enumerate(exits):
        text = f"{indent}if {test}:\n{indent}{context.source.indent_unit}{leave}\n"
        yield Proposal(edits=(context.edit_span(start, start, text),), says=says, weight=0.85**rank)


def _emptiness(context: Context, node: ast.expr) -> str:
    """A test for zero: `not a` for `a` and for `len(a)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return f"not {context.code(node.args[0])}"
    code = context.code(node)
    return f"{code} == 0" if isinstance(node, ast.BinOp) else f"not {code}"


def is_pure(node: ast.expr) -> bool:
    """Whether the expression can be evaluated once more without an effect."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            if not (isinstance(each.func, ast.Name) and each.func.id in _PURE):
                return False
        elif isinstance(each, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda):
            return False
    return True


def _raised(context: Context, node: ast.expr, *kinds: str) -> bool:
    return bool(context.failure.at(context.source.path, node.lineno, node.end_lineno or node.lineno, *kinds))


def _message(context: Context, node: ast.expr, kind: str, *parts: str) -> bool:
    last = node.end_lineno or node.lineno
    return any(
        part in raised.message
        for raised in context.failure.at(context.source.path, node.lineno, last, kind)
        for part in parts
    )
