"""Operators on arithmetic: another sign, an operand or a step more or less, other brackets."""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import SYMBOLS, called_plainly, integer, is_called, is_not, is_number, is_read
from codur.repair.code.source_edits import Proposal

_OTHERS = {
    "+": ("-", "*"),
    "-": ("+", "*", "%"),
    "*": ("+", "/", "**", "//"),
    "/": ("//", "*", "%", "-"),
    "//": ("/", "%", "*"),
    "%": ("//", "/", "*"),
    "**": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("|", "&"),
}
_OTHERS_AUGMENTED = {
    **_OTHERS,
    "+": ("-", "*", ""),
    "-": ("+", "", "//", "*"),
    "*": ("+", "/", "**"),
    "/": ("//", "*", "-"),
    "//": ("/", "%", "-"),
    "%": ("//", "/"),
    "**": (),
}
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})
_SCALES = (ast.Mult, ast.Div, ast.FloorDiv)
_TRANSPARENT = frozenset(
    {"int", "float", "abs", "round", "list", "tuple", "set", "sorted", "reversed", "str", "max", "min"}
)
_SHIFTED: dict[type, float] = {
    ast.Compare: 1.0,
    ast.Return: 0.8,
    ast.BinOp: 0.7,
    ast.Assign: 0.5,
    ast.Call: 0.6,
    ast.Tuple: 0.5,
    ast.List: 0.4,
    ast.AugAssign: 0.5,
}
"""Where a value may be off by one, with how likely that is."""


def arithmetic_swap(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a + b` → `a - b`, `a / b` → `a // b` and the like."""
    symbol = SYMBOLS.get(type(node.op), "")
    if symbol and {context.kinds.of(node.left), context.kinds.of(node.right)} <= {None, "number"}:
        yield from context.other_symbols(node.left, node.right, symbol, _OTHERS.get(symbol, ()), 0.75)


def augmented_swap(context: Context, node: ast.AugAssign) -> Iterator[Proposal]:
    """`a += b` → `a -= b`, → `a = b` and the like."""
    symbol = SYMBOLS.get(type(node.op), "")
    others = [f"{other}=" for other in _OTHERS_AUGMENTED.get(symbol, ())]
    yield from context.other_symbols(node.target, node.value, f"{symbol}=", others, 0.7)


def assignment_accumulated(context: Context, node: ast.Assign) -> Iterator[Proposal]:
    """`a = b` → `a += b` where `a` may have had a value before: in a loop, or as a part of an object."""
    target, value = node.targets[0], node.value
    end = context.source.span(target)[1]
    at = context.source.text.find("=", end, context.source.span(value)[0])
    if len(node.targets) > 1 or at < 0 or not _had_a_value(context, node, target):
        return
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.UAdd | ast.USub):
        symbol = "+" if isinstance(value.op, ast.UAdd) else "-"
        says = f"needs `{symbol}=` in place of `={symbol}`"
        yield context.span(at, context.source.span(value.operand)[0], f"{symbol}= ", says, 2.0)
    symbols = ("|",) if context.kinds.of(value) in ("dict", "set") else ("+", "-", "*")
    for rank, symbol in enumerate(symbols):
        yield context.span(at, at + 1, f"{symbol}=", f"needs `{symbol}=` in place of `=`", 0.4**rank)


def _had_a_value(context: Context, node: ast.Assign, target: ast.expr) -> bool:
    if isinstance(target, ast.Name | ast.Subscript) and context.source.in_loop(node):
        return True
    function = context.source.function(node)
    return isinstance(target, ast.Attribute | ast.Subscript) and function is not None and function.name != "__init__"


def factor_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a / 100`, `a * 100`, `a // 100` → `a`."""
    if isinstance(node.op, _SCALES) and is_number(node.right):
        says = f"has a stray `{SYMBOLS[type(node.op)]} {context.code(node.right)}`"
        yield context.replace(node, context.code(node.left), says=says)
    elif isinstance(node.op, ast.Mult) and is_number(node.left):
        yield context.replace(node, context.code(node.right), says=f"has a stray `{context.code(node.left)} *`")


def operand_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a - b` → `a`, → `b`; constant factors and steps of one have operators of their own."""
    for kept, gone, likely in ((node.left, node.right, 1.0), (node.right, node.left, 0.7)):
        if not (is_number(gone) and isinstance(node.op, _SCALES)):
            yield context.replace(node, context.code(kept), weight=0.3 if isinstance(kept, ast.Constant) else likely)
    inner = node.left
    while isinstance(inner, ast.BinOp) and isinstance(inner.left, ast.BinOp):
        inner = inner.left
        yield context.replace(node, context.code(inner), weight=0.5)


def operands_swapped(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a - b` → `b - a`; `a + b` only where the order may count."""
    symbol = SYMBOLS.get(type(node.op), "")
    if symbol not in _COMMUTATIVE or (symbol == "+" and context.kinds.of(node) != "number"):
        yield from context.swap(node.left, node.right, 0.4 if symbol == "+" else 1.0)


def sign_removed(context: Context, node: ast.UnaryOp) -> Iterator[Proposal]:
    """`-a` → `a`."""
    if isinstance(node.op, ast.USub):
        yield context.replace(node, context.code(node.operand), says="has the wrong sign")


# --- off by one -------------------------------------------------------------------------------------------------------


def step_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a + 1` → `a`, `a - 1` → `a`, and the step the other way round."""
    if not _is_step(node):
        return
    yield context.replace(node, context.code(node.left), says="is off by one")
    symbol, other = ("-", "+") if isinstance(node.op, ast.Sub) else ("+", "-")
    place = context.between(node.left, node.right, symbol)
    if place:
        yield context.span(*place, other, "steps the wrong way", 0.5)


def value_shift(context: Context, node: ast.Name | ast.Call | ast.Subscript | ast.BinOp) -> Iterator[Proposal]:
    """`a` → `a + 1`, `a - 1` where a number is likely: compared, calculated with, returned, given to a call."""
    parent = context.source.parent(node)
    weight = _SHIFTED.get(type(parent), 0.0)
    if is_called(parent, node) or called_plainly(parent) in ("range", "len", "input", "open"):
        return
    if not weight or not is_read(node) or not _may_be_number(context, node, parent):
        return
    if not (isinstance(node, ast.BinOp) and (_is_sum(parent) or _is_step(node))):
        for amount in (1, -1):
            yield context.replace(node, shifted(context, node, amount), weight=weight)


def _may_be_number(context: Context, node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether the value can be a number, judged by itself and by what it is compared or calculated with."""
    together = [node]
    if isinstance(parent, ast.Compare):
        if isinstance(parent.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return False
        together += [parent.left, *parent.comparators]
    elif isinstance(parent, ast.BinOp):
        together += [parent.left, parent.right]
    return all(context.kinds.of(each) in (None, "number") for each in together)


def _is_sum(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _is_step(node: ast.expr) -> bool:
    """Whether the expression adds or takes away 1."""
    return isinstance(node, ast.BinOp) and _is_sum(node) and is_number(node.right) and integer(node.right) == 1


def shifted(context: Context, node: ast.expr, amount: int) -> str:
    """The expression's text plus `amount`; constants and steps of one are folded."""
    value = integer(node)
    if value is not None:
        return str(value + amount)
    step = integer(node.right) if isinstance(node, ast.BinOp) and _is_sum(node) else None
    if isinstance(node, ast.BinOp) and step is not None:
        total = amount + (step if isinstance(node.op, ast.Add) else -step)
        left = context.left_code(node)
        return left if total == 0 else f"{left} {'+' if total > 0 else '-'} {abs(total)}"
    code = context.code(node)
    loose = isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr) or is_not(node)
    return f"{f'({code})' if loose else code} {'+' if amount > 0 else '-'} {abs(amount)}"


# --- brackets ---------------------------------------------------------------------------------------------------------


def brackets_moved(context: Context, node: ast.Call | ast.BinOp) -> Iterator[Proposal]:
    """`f(a + b)` ↔ `f(a) + b` for `int`, `abs` and the like; `a + b * c` → `(a + b) * c` and back."""
    if isinstance(node, ast.Call):
        yield from _moved_out_of_call(context, node)
        return
    left, right, text = node.left, node.right, context.source.text
    start, end = context.source.span(node)
    if isinstance(left, ast.Call) and _transparent(left) and len(left.args) == 1:
        inner = f"{context.code(left.args[0])}{text[context.source.span(left)[1] : end]}"
        yield context.replace(node, f"{context.code(left.func)}({inner})", says="closes its brackets too early")
    if isinstance(right, ast.BinOp) and not _bracketed(context, right):
        middle = context.source.span(right.left)[1]
        yield context.replace(node, f"({text[start:middle]}){text[middle:end]}", says="needs brackets")
    if isinstance(left, ast.BinOp) and not _bracketed(context, left):
        middle = context.source.span(left.right)[0]
        yield context.replace(node, f"{text[start:middle]}({text[middle:end]})", says="needs brackets")
    elif isinstance(left, ast.BinOp) and "\n" not in text[start:end]:
        rest = text[context.source.span(left)[1] + 1 : end]
        yield context.replace(node, f"{context.code(left)}{rest}", says="has brackets too many")


def _moved_out_of_call(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a op b)` → `f(a) op b`."""
    inner = node.args[0] if _transparent(node) else None
    if not isinstance(inner, ast.BinOp):
        return
    left_end, end = context.source.span(inner.left)[1], context.source.span(inner)[1]
    rest = context.source.text[left_end:end]
    tail = context.source.text[end : context.source.span(node)[1] - 1]
    if "(" not in rest[: rest.find(context.code(inner.right))] and not rest.startswith(")"):
        text = f"{context.code(node.func)}({context.code(inner.left)}{tail}){rest}"
        yield context.replace(node, text, says="closes its brackets too late")


def _transparent(node: ast.Call) -> bool:
    return called_plainly(node) in _TRANSPARENT and bool(node.args) and not node.keywords


def _bracketed(context: Context, node: ast.expr) -> bool:
    start, end = context.source.span(node)
    return context.source.text[start - 1 : start] == "(" and context.source.text[end : end + 1] == ")"
