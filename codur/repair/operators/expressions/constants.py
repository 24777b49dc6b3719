"""Operators on constants: others of the program, of the expected output, of another type, or a variable instead."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact

_USUAL = (0, 1, 2, -1, 10)
_MAX_OTHERS = 8
_MAX_WORDS = 6
_DIGITS = re.compile(r"\.(\d)(?=[fge%])")
_SMALL_TEXTS = ("", " ", ",", ", ", "\n")


def constant_replaced(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A number gives way to another number of the program, or to 0, 1, 2, -1 or 10."""
    if not _is_number(node) or isinstance(
        context.source.parent(node), ast.UnaryOp | ast.JoinedStr | ast.FormattedValue
    ):
        return
    near = [each for each in constants(context.source, context.source.scope(node)) if type(each) in (int, float)]
    others: list[Any] = list(dict.fromkeys([*near, *_USUAL]))
    shifted = (node.value + 1, node.value - 1) if isinstance(node.value, int) else ()
    others = [each for each in others if repr(each) != repr(node.value) and each not in shifted][:_MAX_OTHERS]
    for rank, value in enumerate(others):
        yield context.replace(node, repr(value), weight=0.9**rank)
    if isinstance(node.value, float) and node.value not in (0.0, 1.0):
        yield context.replace(node, f"{1 / node.value:g}", weight=0.7)
    if isinstance(node.value, int) and abs(node.value) > 10:
        for rank, value in enumerate((node.value * 2, node.value * 10, node.value // 2, node.value // 10)):
            yield context.replace(node, str(value), weight=0.4 * 0.8**rank)


def constant_named(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A number or a text gives way to a variable of its kind, or to `len` of a sequence."""
    parent = context.source.parent(node)
    kind = context.kinds.of(node)
    if kind not in ("number", "text") or isinstance(parent, ast.Expr | ast.JoinedStr | ast.keyword | ast.UnaryOp):
        return
    kinds = {name: context.kinds.named(node, name) for name in context.scopes.variables(node)}
    names = [name for name, found in kinds.items() if found == kind]
    for rank, name in enumerate(names[:_MAX_OTHERS]):
        yield context.replace(node, name, weight=0.9**rank)
    if kind == "number":
        sequences = [name for name, found in kinds.items() if found in ("list", "text")]
        for rank, name in enumerate(sequences[:3]):
            for text, weight in ((f"len({name})", 0.5), (f"{name}[0]", 0.4), (f"{name}[-1]", 0.3)):
                yield context.replace(node, text, weight=weight * 0.8**rank)


def constant_retyped(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`1` ↔ `"1"`, `0.0` → `0`."""
    parent = context.source.parent(node)
    if isinstance(parent, ast.Expr | ast.Slice | ast.UnaryOp) or _in_text(context, node):
        return
    if type(node.value) is int:
        weight = 1.0 if isinstance(parent, ast.Compare | ast.List | ast.Tuple) else 0.4
        yield context.replace(node, f'"{node.value}"', says="should be a text", weight=weight)
    elif isinstance(node.value, str) and re.fullmatch(r"-?\d{1,6}", node.value):
        yield context.replace(node, node.value, says="should be a number")


def input_read(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """A text that is written out at the top of a program which reads nothing → `input()`."""
    if context.source.function(node) or not isinstance(node.value, str) or not context.expected:
        return
    calls = [each.func for each in context.source.nodes(context.source.tree, ast.Call)]
    reads = any(isinstance(each, ast.Name) and each.id in ("input", "open") for each in calls)
    parent = context.source.parent(node)
    printed = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "print"
    if not (reads or printed) and "stdin" not in context.source.text and isinstance(parent, ast.Assign | ast.Call):
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
    for other in _texts(context, node):
        found.setdefault(other, 0.6 if _both_short(value, other) else 0.3)
    if value.strip():
        found |= {f"{value} ": 0.5, f"{value}\n": 0.3, f" {value}": 0.3}
    for text in (value.strip(), value.lower(), value.upper(), value.capitalize()):
        if text:
            found.setdefault(text, 0.5)
    return found


def _in_text(context: Context, node: ast.expr) -> bool:
    """Whether the node stands in an f-string, where quotes may not nest."""
    return any(isinstance(above, ast.JoinedStr) for above in context.source.ancestors(node))


def _both_short(first: str, second: str) -> bool:
    return max(len(first), len(second)) <= 8


def _texts(context: Context, node: ast.Constant) -> list[str]:
    found = constants(context.source, context.source.scope(node))
    texts = [each for each in found if isinstance(each, str)]
    return [text for text in texts if len(text) <= 40 and text != node.value][:_MAX_OTHERS]


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


def written(context: Context, node: ast.Constant | ast.JoinedStr) -> tuple[int, str]:
    """Where a whole text literal starts, and how it is written; empty for its parts, docstrings and other constants."""
    within = isinstance(context.source.parent(node), ast.JoinedStr | ast.FormattedValue | ast.Expr)
    if within or (isinstance(node, ast.Constant) and not isinstance(node.value, str)):
        return 0, ""
    return context.source.span(node)[0], context.code(node)


def digits_shifted(context: Context, node: ast.Constant | ast.JoinedStr) -> Iterator[Proposal]:
    """`"%.2f"`, `f"{x:.2f}"`: one digit more or less behind the point."""
    start, text = written(context, node)
    for found in _DIGITS.finditer(text):
        for digits in (int(found[1]) + 1, int(found[1]) - 1):
            if digits >= 0:
                edit = context.edit_span(start + found.start(1), start + found.end(1), str(digits))
                yield Proposal(edits=(edit,), says=f"should show {digits} digits")


def element_removed(context: Context, node: ast.List | ast.Tuple | ast.Set) -> Iterator[Proposal]:
    """`(a, b, c)` → `(a, c)`; `(a, b)` → `(b, a)` for neighbours."""
    elements = node.elts
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    for first, second in pairwise(elements):
        left, right = context.code(first), context.code(second)
        if left != right and len(elements) <= 4:
            edits = (context.edit(first, right), context.edit(second, left))
            yield Proposal(edits=edits, says=f"has `{left}` and `{right}` the wrong way round")
    if 3 <= len(elements) <= 20:
        for index, element in enumerate(elements):
            start, end = context.source.span(element)
            if index:
                start = context.source.span(elements[index - 1])[1]
            else:
                end = context.source.span(elements[1])[0]
            says = f"has `{context.code(element)}` too many"
            yield Proposal(edits=(context.edit_span(start, end, ""),), says=says, weight=0.6)


def _is_number(node: ast.Constant) -> bool:
    return type(node.value) in (int, float)
