"""Operators on expressions: comparisons, bounds, constants, arithmetic, calls. Each is a pure function of a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.module_symbols import SYMBOLS
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OTHER_COMPARISON = {
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
# --- comparisons and truth --------------------------------------------------------------------------------------------


def compare_boundary(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a < b` → `a <= b` and the like."""
    return _comparisons(context, node, {symbol: (other,) for symbol, other in _BOUNDARY.items()})


def compare_swap(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a < b` → `a > b`, `a == b` → `a != b`, `a is b` → `a == b` and the like."""
    return _comparisons(context, node, _OTHER_COMPARISON)


def _comparisons(context: Context, node: ast.Compare, others: dict[str, tuple[str, ...]]) -> Iterator[Proposal]:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        symbol = SYMBOLS[type(operator)]
        place = context.between(left, right, symbol)
        for rank, other in enumerate(others.get(symbol, ()) if place else ()):
            assert place is not None
            edit = context.edit_span(*place, other)
            yield Proposal(edits=(edit,), says=f"needs `{other}` in place of `{symbol}`", weight=0.7**rank)
        left = right


def bool_swap(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a and b` ↔ `a or b`, at every joint of the chain."""
    symbol = SYMBOLS[type(node.op)]
    other = "or" if symbol == "and" else "and"
    places = [context.between(left, right, symbol) for left, right in zip(node.values, node.values[1:], strict=False)]
    edits = tuple(context.edit_span(*place, other) for place in places if place)
    if len(edits) == len(places):
        yield Proposal(edits=edits, says=f"needs `{other}` in place of `{symbol}`")


def bool_operand_removed(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a and b` → `a`, → `b`; `a and b and c` → `a and b`, → `b and c`."""
    if len(node.values) == 2:
        for kept, gone in (node.values, reversed(node.values)):
            yield context.replace(node, context.code(kept), says=f"has `{context.code(gone)}` too many")
        return
    values, span = node.values, context.source.span
    for first, last, gone in ((values[0], values[-2], values[-1]), (values[1], values[-1], values[0])):
        start, end = (span(last)[1], span(gone)[1]) if gone is values[-1] else (span(gone)[0], span(first)[0])
        if not set("()#") & set(context.source.text[start:end].replace(context.code(gone), "")):
            says = f"has `{context.code(gone)}` too many"
            yield Proposal(edits=(context.edit_span(start, end, ""),), says=says)


def not_removed(context: Context, node: ast.UnaryOp) -> Iterator[Proposal]:
    """`not a` → `a`."""
    if isinstance(node.op, ast.Not):
        yield context.replace(node, context.code(node.operand), says="is negated without need")


def not_added(context: Context, node: ast.If | ast.While | ast.IfExp | ast.Return) -> Iterator[Proposal]:
    """`if a` → `if not a`; a comparison is left to the comparison operators."""
    test = node.value if isinstance(node, ast.Return) else node.test
    if test is None or isinstance(test, ast.Compare | ast.Constant) or _is_not(test):
        return
    if isinstance(node, ast.Return) and not isinstance(test, ast.Call | ast.BoolOp):
        return
    code = context.code(test)
    yield context.replace(test, f"not ({code})" if isinstance(test, ast.BoolOp | ast.IfExp) else f"not {code}")


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def bool_flip(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`True` ↔ `False`."""
    if isinstance(node.value, bool):
        yield context.replace(node, str(not node.value))


# --- off by one -------------------------------------------------------------------------------------------------------


def range_bound(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`range(a, b)` → `range(a, b + 1)`, `range(a, b - 1)`, `range(a ± 1, b)`; `range(b)` → `range(1, b)`."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "range" and 1 <= len(node.args) <= 3):
        return
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    stop = node.args[0] if len(node.args) == 1 else node.args[1]
    bound = context.code(stop)
    for amount, says, weight in ((1, "stops one short of", 1.0), (-1, "goes one beyond", 0.8)):
        yield context.replace(stop, shifted(context, stop, amount), says=f"{says} `{bound}`", weight=weight)
    if len(node.args) == 1:
        yield context.replace(stop, f"1, {bound}", says="should start at 1", weight=0.5)
        yield context.replace(
            stop, f"1, {shifted(context, stop, 1)}", says=f"should go from 1 to `{bound}`", weight=0.3
        )
        return
    start = node.args[0]
    from_one = integer(start) == 1
    up = 1.2 if _runs_above(context, node, start) else 0.5 if from_one else 0.6
    for amount, weight in ((1, up), (-1, 0.7 if from_one else 0.5)):
        new = shifted(context, start, amount)
        yield context.replace(start, new, says=f"should start at `{new}`", weight=weight)


def _runs_above(context: Context, node: ast.Call, start: ast.expr) -> bool:
    """Whether a range starts at the variable of a loop around it: pairs of one item with itself are seldom meant."""
    return isinstance(start, ast.Name) and any(
        isinstance(above, ast.For) and any(getattr(each, "id", "") == start.id for each in ast.walk(above.target))
        for above in context.source.ancestors(node)
    )


def slice_bound(context: Context, node: ast.Slice) -> Iterator[Proposal]:
    """`a[i:j]` → `a[i ± 1:j]`, `a[i:j ± 1]`."""
    for bound, weight in ((node.upper, 1.0), (node.lower, 0.8)):
        if bound is not None and not (isinstance(bound, ast.Constant) and bound.value is None):
            for amount in (1, -1):
                new = shifted(context, bound, amount)
                if new == "0" and bound is node.upper:  # one step on from -1: up to the end
                    yield context.replace(bound, "", says="should go up to the end", weight=weight)
                else:
                    yield context.replace(bound, new, says=f"should be cut at `{new}`", weight=weight)
            side = "end" if bound is node.upper else "start"
            edit = context.edit(bound, "")
            yield Proposal(edits=(edit,), says=f"should reach the {side}", weight=0.6 * weight)


def index_shift(context: Context, node: ast.Subscript) -> Iterator[Proposal]:
    """`a[i]` → `a[i + 1]`, `a[i - 1]`."""
    index = node.slice
    if isinstance(index, ast.Slice | ast.Tuple) or context.kinds.of(index) not in (None, "number"):
        return
    likely = 0.5 if context.kinds.of(node.value) == "dict" else 1.0
    for amount, weight in ((-1, 1.0), (1, 0.9)):
        new = shifted(context, index, amount)
        yield context.replace(index, new, says=f"needs the index `{new}`", weight=weight * likely)


def value_shift(context: Context, node: ast.Name | ast.Call | ast.Subscript | ast.BinOp) -> Iterator[Proposal]:
    """`a` → `a + 1`, `a - 1` where a number is likely: compared, calculated with, returned, given to a call."""
    parent = context.source.parent(node)
    if isinstance(node, ast.Name | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.BinOp) and (_is_sum(parent) or _step_of(node) is not None):
        return
    weights: dict[type, float] = {
        ast.Compare: 1.0,
        ast.Return: 0.8,
        ast.BinOp: 0.7,
        ast.Assign: 0.5,
        ast.Call: 0.6,
        ast.Tuple: 0.5,
        ast.List: 0.4,
        ast.AugAssign: 0.5,
    }
    weight = weights.get(type(parent), 0.0)
    if weight == 0 or _is_callee(parent, node) or not _may_be_number(context, node, parent):
        return
    for amount in (1, -1):
        yield context.replace(node, shifted(context, node, amount), weight=weight)


def _is_callee(parent: ast.AST | None, node: ast.expr) -> bool:
    return isinstance(parent, ast.Call) and (
        parent.func is node
        or (isinstance(parent.func, ast.Name) and parent.func.id in ("range", "len", "input", "open"))
    )


def _may_be_number(context: Context, node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether the value can be a number, judged by itself and by what it is compared or calculated with."""
    together = [node]
    if isinstance(parent, ast.Compare):
        if not isinstance(parent.ops[0], ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return False
        together += [parent.left, *parent.comparators]
    elif isinstance(parent, ast.BinOp):
        together += [parent.left, parent.right]
    return all(context.kinds.of(each) in (None, "number") for each in together)


def constant_shift(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """An integer constant ± 1; indices and bounds have operators of their own."""
    if type(node.value) is not int:
        return
    parent = context.source.parent(node)
    if isinstance(parent, ast.UnaryOp | ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node):
        return
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "range":
        return
    near = 1.0 if abs(node.value) <= 10 else 0.6
    for amount in (1, -1):
        yield context.replace(node, str(node.value + amount), weight=near)


def step_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a + 1` → `a`, `a - 1` → `a`, and the step the other way round."""
    step = _step_of(node)
    if step is None:
        return
    yield context.replace(node, context.code(node.left), says="is off by one")
    symbol, other = ("-", "+") if isinstance(node.op, ast.Sub) else ("+", "-")
    place = context.between(node.left, node.right, symbol)
    if place:
        yield Proposal(edits=(context.edit_span(*place, other),), says="steps the wrong way", weight=0.5)


def _is_sum(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _step_of(node: ast.expr) -> int | None:
    """1 if the expression adds or takes away 1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = node.right
        if isinstance(right, ast.Constant) and type(right.value) is int and right.value == 1:
            return 1
    return None


def shifted(context: Context, node: ast.expr, amount: int) -> str:
    """The expression's text plus `amount`; constants and steps of one are folded."""
    value = integer(node)
    if value is not None:
        return str(value + amount)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        step = integer(node.right)
        if step is not None:
            total = amount + (step if isinstance(node.op, ast.Add) else -step)
            left = context.left_code(node)
            return left if total == 0 else f"{left} {'+' if total > 0 else '-'} {abs(total)}"
    code = context.code(node)
    loose = isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr) or _is_not(node)
    text = f"({code})" if loose else code
    return f"{text} {'+' if amount > 0 else '-'} {abs(amount)}"


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal, with or without a sign."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    return None
