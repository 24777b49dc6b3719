"""Operators on constants: others of the program, of the expected output, of another type, or a variable instead."""

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called_plainly, is_number, is_read
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact

_USUAL = (0, 1, 2, -1, 10)
_MAX_OTHERS, _MAX_WORDS = 8, 6
_SMALL_TEXTS = ("", " ", ",", ", ", "\n")


def constant_shift(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """An integer constant ± 1; indices and bounds have operators of their own."""
    parent = context.source.parent(node)
    own = isinstance(parent, ast.UnaryOp | ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node)
    if type(node.value) is int and not own and called_plainly(parent) != "range":
        for amount in (1, -1):
            yield context.replace(node, str(node.value + amount), weight=1.0 if abs(node.value) <= 10 else 0.6)


def constant_replaced(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A number gives way to another number of the program, or to 0, 1, 2, -1 or 10."""
    value: Any = node.value
    parent = context.source.parent(node)
    if not is_number(node) or isinstance(parent, ast.UnaryOp | ast.JoinedStr | ast.FormattedValue):
        return
    near = [each for each in constants(context.source, context.source.scope(node)) if type(each) in (int, float)]
    beside = (value + 1, value - 1) if isinstance(value, int) else ()
    others = [each for each in dict.fromkeys([*near, *_USUAL]) if repr(each) != repr(value) and each not in beside]
    yield from context.ranked(node, map(repr, others[:_MAX_OTHERS]), 0.9)
    if isinstance(value, float) and value not in (0.0, 1.0):
        yield context.replace(node, f"{1 / value:g}", weight=0.7)
    if isinstance(value, int) and abs(value) > 10:
        yield from context.ranked(node, map(str, (value * 2, value * 10, value // 2, value // 10)), 0.8, 0.4)


def constant_named(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A number or a text gives way to a variable of its kind, or to `len` of a sequence."""
    kind = context.kinds.of(node)
    if isinstance(context.source.parent(node), ast.Expr | ast.JoinedStr | ast.keyword | ast.UnaryOp):
        return
    if kind in ("number", "text"):
        yield from context.ranked(node, context.variables(node, kind)[:_MAX_OTHERS], 0.9)
    if kind == "number":
        for rank, name in enumerate(context.variables(node, "list", "text")[:3]):
            for text, weight in ((f"len({name})", 0.5), (f"{name}[0]", 0.4), (f"{name}[-1]", 0.3)):
                yield context.replace(node, text, weight=weight * 0.8**rank)


def elements_changed(context: Context, node: ast.List | ast.Tuple | ast.Set) -> Iterator[Proposal]:
    """`(a, b, c)` → `(a, c)`; `(a, b)` → `(b, a)` for neighbours."""
    elements, span = node.elts, context.source.span
    if not is_read(node):
        return
    for first, second in pairwise(elements) if len(elements) <= 4 else ():
        yield from context.swap(first, second)
    for index, element in enumerate(elements) if 3 <= len(elements) <= 20 else ():
        start, end = span(element)
        start, end = (span(elements[index - 1])[1], end) if index else (start, span(elements[1])[0])
        yield context.span(start, end, "", f"has `{context.code(element)}` too many", 0.6)


# --- texts ------------------------------------------------------------------------------------------------------------


def input_read(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A text that is written out at the top of a program which reads nothing → `input()`."""
    if context.source.function(node) or not isinstance(node.value, str) or not context.expected:
        return
    reads = any(
        called_plainly(each) in ("input", "open") for each in context.source.nodes(context.source.tree, ast.Call)
    )
    parent = context.source.parent(node)
    if reads or called_plainly(parent) == "print" or "stdin" in context.source.text:
        return
    if isinstance(parent, ast.Assign | ast.Call):
        yield context.replace(node, "input()", says="stands for what should be read from the input")


def text_replaced(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A text gives way to another one of the program, a blank one, itself in other case, or a word to be printed."""
    if not isinstance(node.value, str) or isinstance(context.source.parent(node), ast.Expr) or _in_text(context, node):
        return
    single = "'" in context.code(node)[:2]
    for text, weight in _other_texts(context, node, node.value).items():
        if text != node.value:
            yield context.replace(node, repr(text) if single else _double(text), weight=weight)


def _other_texts(context: Context, node: ast.Constant, value: str) -> dict[str, float]:
    """Texts for the place of one, with their weights."""
    found = dict.fromkeys(_like_words(context, value), 1.5)
    if not any(character.isalnum() for character in value):
        found |= dict.fromkeys(_SMALL_TEXTS, 1.0)
    elif value == "0":
        found[""] = 1.0
    others = constants(context.source, context.source.scope(node))
    texts = [each for each in others if isinstance(each, str) and len(each) <= 40 and each != value]
    for other in texts[:_MAX_OTHERS]:
        found.setdefault(other, 0.6 if max(len(value), len(other)) <= 8 else 0.3)
    if value.strip():
        found |= {f"{value} ": 0.5, f"{value}\n": 0.3, f" {value}": 0.3}
    for text in (value.strip(), value.lower(), value.upper(), value.capitalize()):
        if text:
            found.setdefault(text, 0.5)
    return found


def _in_text(context: Context, node: ast.expr) -> bool:
    """Whether the node stands in an f-string, where quotes may not nest."""
    return any(isinstance(above, ast.JoinedStr) for above in context.source.ancestors(node))


@fact
def constants(source: Source, scope: ast.AST) -> tuple[Any, ...]:
    """The values that are written out in a scope, each once: 1, 1.0 and True are three."""
    found = {(type(each.value), each.value): each.value for each in source.nodes(scope, ast.Constant)}
    return tuple(found.values())


def _like_words(context: Context, value: str) -> list[str]:
    """Words of the expected output that are nearly the text: it is misspelt, or in the wrong case."""
    words = [word for word in dict.fromkeys(re.findall(r"[^\W\d]{2,}", context.expected)) if word != value]
    same = [word for word in words if word.casefold() == value.strip().casefold()]
    close = difflib.get_close_matches(value, words, n=2, cutoff=0.75) if 3 <= len(value) <= 40 else []
    return list(dict.fromkeys([*same, *close]))[:_MAX_WORDS]


def _double(text: str) -> str:
    quoted = repr(text)
    plain = quoted.startswith("'") and '"' not in text
    return f'"{quoted[1:-1]}"'.replace("\\'", "'") if plain else quoted
