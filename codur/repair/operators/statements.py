"""Operators on whole statements: moved, swapped, copied, deleted, and values that are dropped."""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import (
    NOT_MOVED,
    called_plainly,
    has_multiline_text,
    is_pure,
    last_line,
)
from codur.repair.code.source_edits import Edit, Proposal

Block = ast.For | ast.AsyncFor | ast.While | ast.If | ast.With
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_ENDS = (ast.Return, ast.Break, ast.Continue)


def moved_out(context: Context, node: Block) -> Iterator[Proposal]:
    """The last statement of a block is dedented, so that it runs after it."""
    last = node.body[-1]
    if len(node.body) >= 2 and not getattr(node, "orelse", None):
        for edit in _reindented(context, last, context.source.indent(node)):
            says = f"should stand after {_named(node)}, not in it"
            yield Proposal(edits=(edit,), says=says, weight=1.0 if isinstance(last, _ENDS) else 0.5)


def moved_out_of_else(context: Context, node: ast.For | ast.While) -> Iterator[Proposal]:
    """`else: return x` at the end of a loop's body: the return moves behind the loop."""
    last, outer = node.body[-1], context.source.indent(node)
    if node.orelse or outer is None or not isinstance(last, ast.If) or len(last.orelse) != 1:
        return
    moved = last.orelse[0]
    if isinstance(moved, _ENDS) and moved.lineno != last.body[-1].lineno:
        start, end = context.source.span(last.body[-1])[1], context.source.span(moved)[1]
        yield context.span(start, end, f"\n{outer}{context.code(moved)}", "leaves the loop in its first round")


def moved_in(context: Context, node: Block) -> Iterator[Proposal]:
    """The statement behind a block is indented, so that it becomes the block's last."""
    following = context.source.following(node)
    if following is None or getattr(node, "orelse", None) or isinstance(following, NOT_MOVED):
        return
    for edit in _reindented(context, following, context.source.indent(node.body[-1])):
        says = f"should stand in {_named(node)}, not after it"
        yield Proposal(edits=(edit,), says=says, weight=1.0 if isinstance(node, ast.For | ast.While) else 0.5)


def _named(node: ast.stmt) -> str:
    return "the loop above" if isinstance(node, _LOOPS) else f"the `{type(node).__name__.lower()}` block above"


def _reindented(context: Context, node: ast.stmt, indent: str | None) -> Iterator[Edit]:
    """The statement's lines with another indentation; nothing where that would change a string or share a line."""
    source = context.source
    present = source.indent(node)
    if indent is None or present is None or indent == present or has_multiline_text(node):
        return
    lines = source.lines[node.lineno - 1 : last_line(node)]
    if all(line.startswith(present) for line in lines if line.strip()):
        moved = [indent + line[len(present) :] if line.strip() else line for line in lines]
        yield context.edit_span(source.line_start(node.lineno), source.line_end(last_line(node)), "\n".join(moved))


def deleted(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """A statement is removed, with its lines; `pass` takes its place where a block would be empty."""
    source, last = context.source, last_line(node)
    kept = (*NOT_MOVED, ast.Pass, ast.Global, ast.Nonlocal)
    if isinstance(node, kept) or source.indent(node) is None or source.is_elif(node):
        return
    rest = source.text[source.span(node)[1] : source.line_end(last)].strip()
    if rest and not rest.startswith("#"):
        return
    weight = {ast.If: 0.6, ast.For: 0.2, ast.While: 0.2, ast.Return: 0.5}.get(type(node), 1.0)
    if isinstance(node, ast.Expr) and called_plainly(node.value) == "print":
        weight = 1.5
    if len(source.block(node)) == 1:
        yield context.whole(node, "pass", "should go", weight * 0.6)
    else:
        end = min(source.line_end(last) + 1, len(source.text))
        yield context.span(source.line_start(node.lineno), end, "", "should go", weight)


def jump_swapped(context: Context, node: ast.Break | ast.Continue) -> Iterator[Proposal]:
    """`break` ↔ `continue`."""
    old, new = ("break", "continue") if isinstance(node, ast.Break) else ("continue", "break")
    yield context.whole(node, new, f"needs `{new}` in place of `{old}`")


def swapped_with_next(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """Two neighbouring statements change places."""
    source, following = context.source, context.source.following(node)
    if following is None or isinstance(node, NOT_MOVED) or isinstance(following, NOT_MOVED[:3]):
        return
    if None in (source.indent(node), source.indent(following)) or following.lineno <= last_line(node):
        return
    start, middle = source.line_start(node.lineno), source.line_end(last_line(node))
    second, end = source.line_start(following.lineno), source.line_end(last_line(following))
    text = source.text
    new = f"{text[second:end]}{text[middle:second]}{text[start:middle]}"
    simple = not hasattr(node, "body") and not hasattr(following, "body")
    yield context.span(start, end, new, "should stand after the next statement", 1.0 if simple else 0.6)


def value_kept(context: Context, node: ast.Expr) -> Iterator[Proposal]:
    """`a[:-1]`, `a.strip()` as statements → `a = a[:-1]`; `a == b` → `a = b`; `a + 1` → `a += 1`."""
    value = node.value
    if isinstance(value, ast.Compare):
        place = context.between(value.left, value.comparators[0], "==")
        if place and len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq):
            yield context.span(*place, "=", "compares where it should assign")
        return
    inner: ast.expr = value
    while isinstance(inner, ast.Subscript | ast.Call | ast.Attribute | ast.BinOp):
        inner = (
            inner.func if isinstance(inner, ast.Call) else inner.left if isinstance(inner, ast.BinOp) else inner.value
        )
    if isinstance(inner, ast.Name) and inner is not value and inner.id in context.scopes.variables(node):
        yield context.insert(context.source.span(value)[0], f"{inner.id} = ", "drops the value it computes")


def choice_added(context: Context, node: ast.Assign) -> Iterator[Proposal]:
    """`a = b` → `a = max(a, b)`, → `a = min(a, b)` in a loop; → `a = max(0, b)`; so for items of a tuple."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or not isinstance(target, ast.Name | ast.Subscript) or not is_pure(target):
        return
    code = context.code(target)
    if isinstance(value, ast.Tuple):
        for place, item in enumerate(value.elts):
            if not isinstance(item, ast.Starred) and context.code(item) != f"{code}[{place}]":
                yield from _chosen(context, item, f"{code}[{place}]", 0.8)
        return
    for rank, first in enumerate((code, "0") if context.source.in_loop(node) else ("0",)):
        yield from _chosen(context, value, first, 0.8**rank)


def _chosen(context: Context, value: ast.expr, other: str, weight: float) -> Iterator[Proposal]:
    """`max(other, value)`, `min(other, value)` for a number that is worked out."""
    if context.kinds.of(value) in (None, "number") and not isinstance(value, ast.Constant):
        for name in ("max", "min"):
            yield context.replace(value, f"{name}({other}, {context.code(value)})", weight=weight)
