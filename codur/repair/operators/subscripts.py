"""Operators on subscripts and slices: another index or bound, one more, one less."""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import is_called, is_read
from codur.repair.code.source_edits import Proposal
from codur.repair.operators.arithmetic import shifted

_SLICES = ("[1:]", "[:-1]", "[::-1]", "[0]", "[-1]")
_MOST_NAMES = 4
Value = ast.Name | ast.Call | ast.Attribute | ast.Subscript


def index_shift(context: Context, node: ast.Subscript) -> Iterator[Proposal]:
    """`a[i]` → `a[i + 1]`, `a[i - 1]`."""
    index = node.slice
    if isinstance(index, ast.Slice | ast.Tuple) or context.kinds.of(index) not in (None, "number"):
        return
    likely = 0.5 if context.kinds.of(node.value) == "dict" else 1.0
    for amount, weight in ((-1, 1.0), (1, 0.9)):
        new = shifted(context, index, amount)
        yield context.replace(index, new, says=f"needs the index `{new}`", weight=weight * likely)


def slice_bound(context: Context, node: ast.Slice) -> Iterator[Proposal]:
    """`a[i:j]` → `a[i ± 1:j]`, `a[i:j ± 1]`."""
    for bound, side, weight in ((node.upper, "end", 1.0), (node.lower, "start", 0.8)):
        if bound is None or (isinstance(bound, ast.Constant) and bound.value is None):
            continue
        for amount in (1, -1):
            new = shifted(context, bound, amount)
            if new == "0":  # one step from -1 or 1: up to the end, or from the start
                yield _uncut(context, node, bound, weight) or context.replace(
                    bound, "", says=f"should reach the {side}", weight=weight
                )
            else:
                yield context.replace(bound, new, says=f"should be cut at `{new}`", weight=weight)
        yield context.whole(bound, "", f"should reach the {side}", 0.6 * weight)


def _uncut(context: Context, node: ast.Slice, bound: ast.expr, weight: float) -> Proposal | None:
    """`for x in a[1:]` → `for x in a`, where nothing but this bound is cut; a person would not write `a[0:]`."""
    cut = context.source.parent(node)
    loop = context.source.parent(cut) if isinstance(cut, ast.Subscript) else None
    alone = all(part in (None, bound) for part in (node.lower, node.upper, node.step))
    if not (alone and isinstance(cut, ast.Subscript) and isinstance(loop, ast.For | ast.comprehension)):
        return None
    if loop.iter is not cut:
        return None
    return context.replace(cut, context.code(cut.value), says="should not be cut", weight=weight)


def slice_added(context: Context, node: Value) -> Iterator[Proposal]:
    """`a` → `a[1:]`, `a[:-1]`, `a[::-1]`, `a[0]`, `a[-1]`, `a[:k]`, `a[k:]` where a sequence is likely."""
    kind, parent, code = context.kinds.of(node), context.source.parent(node), context.code(node)
    iterated = isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
    given = isinstance(parent, ast.Call | ast.Return | ast.Starred | ast.Assign) and not isinstance(node, ast.Name)
    likely = kind in ("list", "text") or (kind is None and (iterated or given))
    if not likely or not is_value(parent, node):
        return
    for rank, cut in enumerate(_SLICES):
        if not iterated or ":" in cut:
            yield context.replace(node, code + cut, weight=0.9**rank)
    for rank, name in enumerate(context.variables(node, "number")[:_MOST_NAMES]):
        for cut in (f"[:{name}]", f"[{name}:]"):
            yield context.replace(node, code + cut, weight=0.7 * 0.9**rank)


def is_value(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether the node is read, and not itself called, cut or asked for an attribute."""
    owns = isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is node
    return is_read(node) and not is_called(parent, node) and not owns


def element_taken(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """`i` → `a[i]` for the lists of the function, where a number is used as a value."""
    parent = context.source.parent(node)
    if not is_value(parent, node) or isinstance(parent, ast.Subscript | ast.Slice):
        return
    if context.kinds.of(node) == "number":
        near = context.source.names(context.source.statement(node))
        owners = context.variables(node, "list", "dict")
        for name in sorted(owners, key=lambda each: each not in near)[:_MOST_NAMES]:
            yield context.replace(node, f"{name}[{node.id}]", weight=1.0 if name in near else 0.6)
