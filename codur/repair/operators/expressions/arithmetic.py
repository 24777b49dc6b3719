"""Operators on arithmetic, calls and their arguments. Each is a pure function of a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from codur.repair.code.module_symbols import SIBLINGS, SYMBOLS
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal

_OTHER = {
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
_OTHER_AUGMENTED = {
    "+": ("-", "*", ""),
    "-": ("+", "", "//", "*"),
    "*": ("+", "/", "**"),
    "/": ("//", "*", "-"),
    "//": ("/", "%", "-"),
    "%": ("//", "/"),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("|", "&"),
    "<<": (">>",),
    ">>": ("<<",),
}
_ONLY_CONSTANT = 0.3
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})
_WRAPPERS = (
    *(
        "int",
        "float",
        "str",
        "bool",
        "round",
        "abs",
        "len",
        "sum",
        "list",
        "tuple",
        "set",
        "dict",
        "sorted",
        "reversed",
    ),
    *("copy", "deepcopy", "copy.copy", "copy.deepcopy"),
)
_WRAPS: dict[str | None, tuple[str, ...]] = {
    "number": ("int", "abs", "str", "round", "float"),
    "bool": ("int",),
    "text": ("int", "len", "list", "sorted", "set", "float"),
    "list": ("len", "sorted", "set", "sum", "list", "tuple"),
    "set": ("len", "sorted", "list"),
    "dict": ("len", "sorted", "list"),
}
_ANY_WRAPS = ("int", "abs", "str", "len", "sorted", "set", "list", "round", "float")


def arithmetic_swap(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a + b` → `a - b`, `a / b` → `a // b` and the like."""
    symbol = SYMBOLS.get(type(node.op), "")
    if not {context.kinds.of(node.left), context.kinds.of(node.right)} <= {None, "number"}:
        return
    place = context.between(node.left, node.right, symbol) if symbol else None
    for rank, other in enumerate(_OTHER.get(symbol, ()) if place else ()):
        if place:
            edit = context.edit_span(*place, other)
            yield Proposal(edits=(edit,), says=f"needs `{other}` in place of `{symbol}`", weight=0.75**rank)


def augmented_swap(context: Context, node: ast.AugAssign) -> Iterator[Proposal]:
    """`a += b` → `a -= b`, → `a = b` and the like."""
    symbol = SYMBOLS.get(type(node.op), "")
    start, end = context.source.span(node.target)[1], context.source.span(node.value)[0]
    at = context.source.text.find(f"{symbol}=", start, end)
    if at < 0:
        return
    for rank, other in enumerate(_OTHER_AUGMENTED.get(symbol, ())):
        edit = context.edit_span(at, at + len(symbol) + 1, f"{other}=")
        yield Proposal(edits=(edit,), says=f"needs `{other}=` in place of `{symbol}=`", weight=0.7**rank)


def assignment_accumulated(context: Context, node: ast.Assign) -> Iterator[Proposal]:
    """`a = b` → `a += b` where `a` may have had a value before: in a loop, or as a part of an object."""
    target = node.targets[0]
    if len(node.targets) > 1 or not _had_a_value(context, node, target):
        return
    end = context.source.span(target)[1]
    at = context.source.text.find("=", end, context.source.span(node.value)[0])
    if at < 0:
        return
    if isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.UAdd | ast.USub):
        symbol = "+" if isinstance(node.value.op, ast.UAdd) else "-"
        edit = context.edit_span(at, context.source.span(node.value.operand)[0], f"{symbol}= ")
        yield Proposal(edits=(edit,), says=f"needs `{symbol}=` in place of `={symbol}`", weight=2.0)
    symbols = ("|",) if context.kinds.of(node.value) in ("dict", "set") else ("+", "-", "*")
    for rank, symbol in enumerate(symbols):
        edit = context.edit_span(at, at + 1, f"{symbol}=")
        yield Proposal(edits=(edit,), says=f"needs `{symbol}=` in place of `=`", weight=0.4**rank)


def _had_a_value(context: Context, node: ast.Assign, target: ast.expr) -> bool:
    if isinstance(target, ast.Name | ast.Subscript) and context.source.in_loop(node):
        return True
    function = context.source.function(node)
    return isinstance(target, ast.Attribute | ast.Subscript) and function is not None and function.name != "__init__"


def factor_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a / 100`, `a * 100`, `a // 100` → `a`."""
    if not isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv):
        return
    symbol = SYMBOLS[type(node.op)]
    if _number(node.right):
        yield context.replace(node, context.code(node.left), says=f"has a stray `{symbol} {context.code(node.right)}`")
    elif _number(node.left) and isinstance(node.op, ast.Mult):
        yield context.replace(node, context.code(node.right), says=f"has a stray `{context.code(node.left)} *`")


def operand_removed(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a - b` → `a`, → `b`; constant factors and steps of one have operators of their own."""
    for kept, gone in ((node.left, node.right), (node.right, node.left)):
        if not (_number(gone) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv)):
            weight = _ONLY_CONSTANT if isinstance(kept, ast.Constant) else 1.0 if kept is node.left else 0.7
            yield context.replace(node, context.code(kept), weight=weight)
    inner = node.left
    while isinstance(inner, ast.BinOp) and isinstance(inner.left, ast.BinOp):
        inner = inner.left
        yield context.replace(node, context.code(inner), weight=0.5)


def operands_swapped(context: Context, node: ast.BinOp) -> Iterator[Proposal]:
    """`a - b` → `b - a`; `a + b` only where the order may count."""
    symbol = SYMBOLS.get(type(node.op), "")
    if symbol in _COMMUTATIVE and (symbol != "+" or context.kinds.of(node) == "number"):
        return
    left, right = context.code(node.left), context.code(node.right)
    if left != right:
        edits = (
            context.edit(node.left, context.fit(node.left, right)),
            context.edit(node.right, context.fit(node.right, left)),
        )
        yield Proposal(
            edits=edits, says=f"has `{left}` and `{right}` the wrong way round", weight=0.4 if symbol == "+" else 1.0
        )


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def sign_removed(context: Context, node: ast.UnaryOp) -> Iterator[Proposal]:
    """`-a` → `a`."""
    if isinstance(node.op, ast.USub):
        yield context.replace(node, context.code(node.operand), says="has the wrong sign")


# --- calls ------------------------------------------------------------------------------------------------------------


def sibling_call(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`min(…)` ↔ `max(…)`, `any` ↔ `all`, `.lower()` ↔ `.upper()` and other functions easily confused."""
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
    end = context.source.span(node.func)[1]
    for other in SIBLINGS.get(name, ()):
        edit = context.edit_span(end - len(name), end, other)
        yield Proposal(edits=(edit,), says=f"needs `{other}` in place of `{name}`")


def call_unwrapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`int(a)` → `a` and the like, `round(a, 2)` → `a`, `copy.copy(a)` → `a`."""
    name = node.func.id if isinstance(node.func, ast.Name) else context.code(node.func)
    if name in _WRAPPERS and node.args and not node.keywords:
        argument = node.args[0]
        if not isinstance(argument, ast.Starred | ast.GeneratorExp):
            yield context.replace(node, context.code(argument))


def call_wrapped(
    context: Context, node: ast.Return | ast.Assign | ast.BinOp | ast.Compare | ast.Call
) -> Iterator[Proposal]:
    """A returned, assigned, compared or printed value in `int(…)`, `abs(…)`, `str(…)` and the like."""
    for value in _values(node):
        known = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        if isinstance(value, ast.Constant | ast.Starred | ast.JoinedStr | ast.Lambda):
            continue
        names = [name for name in _wraps_for(context, node, value) if name != known]
        for rank, name in enumerate(names):
            yield context.replace(value, f"{name}({context.code(value)})", weight=0.85**rank)


def _wraps_for(context: Context, node: ast.AST, value: ast.expr) -> tuple[str, ...]:
    kind = context.kinds.of(value)
    fitting = _WRAPS.get(kind, _ANY_WRAPS)
    if context.failure.at(context.source.path, value.lineno, value.end_lineno or value.lineno, "TypeError"):
        return fitting
    if isinstance(node, ast.BinOp | ast.Compare):
        return ("abs",) if isinstance(value, ast.BinOp) and kind in (None, "number") else ()
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "print"):
        return ()
    return fitting


def _values(node: ast.AST) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.Return | ast.Assign):
        return (node.value,) if node.value is not None else ()
    if isinstance(node, ast.BinOp):
        return (node.left, node.right)
    if isinstance(node, ast.Compare):
        return (node.left, *node.comparators)
    return tuple(node.args) if isinstance(node, ast.Call) else ()


def arguments_swapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a, b)` → `f(b, a)`, for neighbouring positional arguments."""
    if isinstance(node.func, ast.Name) and node.func.id in ("print", "min", "max", "zip"):
        return
    for first, second in pairwise(node.args):
        left, right = context.code(first), context.code(second)
        if left != right and not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            edits = (context.edit(first, right), context.edit(second, left))
            yield Proposal(edits=edits, says=f"has `{left}` and `{right}` the wrong way round")


def argument_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a, b)` → `f(a)`: the last positional argument goes."""
    if len(node.args) >= 2 and not node.keywords:
        start, end = context.source.span(node.args[-2])[1], context.source.span(node.args[-1])[1]
        if "#" not in context.source.text[start:end] and _flat(context, node):
            says = f"has `{context.code(node.args[-1])}` too many"
            yield Proposal(edits=(context.edit_span(start, end, ""),), says=says)


def _flat(context: Context, node: ast.Call) -> bool:
    """Whether neither of the last two arguments stands in brackets of its own."""
    start, end = context.source.span(node.args[-2])[1], context.source.span(node.args[-1])[0]
    return not set("()") & set(context.source.text[start:end])


def reverse_toggled(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`sorted(a)` ↔ `sorted(a, reverse=True)`, and for `.sort()`."""
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
    if name not in ("sorted", "sort"):
        return
    given = next((each for each in node.keywords if each.arg == "reverse"), None)
    if given is None:
        end = context.source.span(node)[1] - 1
        comma = ", " if node.args or node.keywords else ""
        edit = context.edit_span(end, end, f"{comma}reverse=True")
        yield Proposal(edits=(edit,), says="sorts the wrong way round")
    elif isinstance(given.value, ast.Constant):
        yield Proposal(edits=(context.edit(given.value, str(not given.value.value)),), says="sorts the wrong way round")
