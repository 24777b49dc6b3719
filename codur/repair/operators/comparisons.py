"""Operators on comparisons, `and`, `or`, `not`, and the truths that are written out."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import SYMBOLS, is_not
from codur.repair.code.source_edits import Proposal

_BOUNDARY: dict[str, tuple[str, ...]] = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",)}
_OTHERS: dict[str, tuple[str, ...]] = {
    "<": (">", ">="),
    "<=": (">=", ">"),
    ">": ("<", "<="),
    ">=": ("<=", "<"),
    "==": ("!=", ">=", "<="),
    "!=": ("==", "<", ">"),
    "is": ("==", "is not"),
    "is not": ("!=", "is"),
    "in": ("not in",),
    "not in": ("in",),
}


def compare_boundary(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a < b` → `a <= b` and the like."""
    return _comparisons(context, node, _BOUNDARY)


def compare_swap(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a < b` → `a > b`, `a == b` → `a != b`, `a is b` → `a == b` and the like."""
    return _comparisons(context, node, _OTHERS)


def _comparisons(context: Context, node: ast.Compare, others: dict[str, tuple[str, ...]]) -> Iterator[Proposal]:
    for operator, (left, right) in zip(node.ops, pairwise((node.left, *node.comparators)), strict=True):
        symbol = SYMBOLS[type(operator)]
        yield from context.other_symbols(left, right, symbol, others.get(symbol, ()), 0.7)


def operands_compared_swapped(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a in b` → `b in a`."""
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        yield from context.swap(node.left, node.comparators[0])


def bool_swap(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a and b` ↔ `a or b`, at every joint of the chain."""
    symbol = SYMBOLS[type(node.op)]
    other = "or" if symbol == "and" else "and"
    places = [context.between(left, right, symbol) for left, right in pairwise(node.values)]
    edits = tuple(context.edit_span(*place, other) for place in places if place)
    if len(edits) == len(places):
        yield Proposal(edits=edits, says=f"needs `{other}` in place of `{symbol}`")


def bool_operand_removed(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a and b` → `a`, → `b`; `a and b and c` → `a and b`, → `b and c`."""
    values, span = node.values, context.source.span
    if len(values) == 2:
        for kept, gone in (values, values[::-1]):
            yield context.replace(node, context.code(kept), says=f"has `{context.code(gone)}` too many")
        return
    last, first = (span(values[-2])[1], span(values[-1])[1]), (span(values[0])[0], span(values[1])[0])
    for (start, end), gone in ((last, values[-1]), (first, values[0])):
        if not set("()#") & set(context.source.text[start:end].replace(context.code(gone), "")):
            yield context.span(start, end, "", f"has `{context.code(gone)}` too many")


def condition_grouped(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a or b and c` → `(a or b) and c`, `a and b or c` → `a and (b or c)`."""
    for first, second in pairwise(node.values) if isinstance(node.op, ast.Or) else ():
        (start, first_end), (second_start, end) = context.source.span(first), context.source.span(second)
        if set("()") & set(context.source.text[first_end:second_start]):
            continue
        if isinstance(second, ast.BoolOp):
            yield _grouped(context, start, context.source.span(second.values[0])[1])
        if isinstance(first, ast.BoolOp):
            yield _grouped(context, context.source.span(first.values[-1])[0], end)


def _grouped(context: Context, start: int, end: int) -> Proposal:
    edits = (context.edit_span(start, start, "("), context.edit_span(end, end, ")"))
    return Proposal(edits=edits, says="needs brackets: `and` goes before `or`")


def not_removed(context: Context, node: ast.UnaryOp) -> Iterator[Proposal]:
    """`not a` → `a`."""
    if is_not(node):
        yield context.replace(node, context.code(node.operand), says="is negated without need")


def not_added(context: Context, node: ast.If | ast.While | ast.IfExp | ast.Return) -> Iterator[Proposal]:
    """`if a` → `if not a`; a comparison is left to the comparison operators."""
    test = node.value if isinstance(node, ast.Return) else node.test
    if test is None or isinstance(test, ast.Compare | ast.Constant) or is_not(test):
        return
    if isinstance(node, ast.Return) and not isinstance(test, ast.Call | ast.BoolOp):
        return
    code = context.code(test)
    yield context.replace(test, f"not ({code})" if isinstance(test, ast.BoolOp | ast.IfExp) else f"not {code}")


def bool_flip(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`True` ↔ `False`."""
    if isinstance(node.value, bool):
        yield context.replace(node, str(not node.value))
