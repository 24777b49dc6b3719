"""Operators for slips in everyday application code: defaults, formats, keys, inheritance, states that are not reset."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.operators.expressions.constants import written
from codur.repair.operators.statements.statements import body_start

_DEFAULTS = ("0", "''", "[]", "{}")
_FORMAT = re.compile(r"\.\d([f%])(?=[}\"'\s])")
_DATE_CODE = re.compile(r"%([mMdjyYHIbBaA])")
_OTHER_CODE = {
    "m": "M", "M": "m", "d": "j", "j": "d", "y": "Y", "Y": "y", "H": "I", "I": "H", "b": "B", "B": "b", "a": "A",
    "A": "a",
}  # fmt: skip
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_MOST_RESETS = 4


def default_given(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.get(k)` → `a.get(k, 0)` and the like, `next(a)` → `next(a, None)`, `a.pop(k)` → `a.pop(k, None)`."""
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Name) != (name == "next"):
        return
    start, end = context.source.span(node.args[0])
    defaults = {"get": _DEFAULTS, "next": ("None",), "pop": ("None",)}.get(name, ())
    for rank, default in enumerate(defaults):
        edits: tuple[Edit, ...] = (context.edit_span(end, end, f", {default}"),)
        if isinstance(node.args[0], ast.GeneratorExp):  # the call's brackets are its own
            edits = (context.edit_span(start, start, "("), context.edit_span(end, end, f", {default})"))
        yield Proposal(edits=edits, says=f"needs a default: `{default}`", weight=0.5**rank)


def other_end_taken(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.pop()` ↔ `a.pop(0)`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "pop" or node.keywords:
        return
    start, end = context.source.span(node.func)[1], context.source.span(node)[1]
    if not node.args:
        yield Proposal(edits=(context.edit_span(start, end, "(0)"),), says="takes from the wrong end")
    elif len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0:
        yield Proposal(edits=(context.edit_span(start, end, "()"),), says="takes from the wrong end")


def duration_whole(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """`a.seconds` → `a.total_seconds()`: the days of a `timedelta` are not among its seconds."""
    if node.attr == "seconds" and isinstance(node.ctx, ast.Load):
        end = context.source.span(node)[1]
        edit = context.edit_span(end - len(node.attr), end, "total_seconds()")
        yield Proposal(edits=(edit,), says="leaves out whole days")


def format_swapped(context: Context, node: ast.Constant | ast.JoinedStr) -> Iterator[Proposal]:
    """`f"{x:.1f}"` ↔ `f"{x:.1%}"`, and one code of a date's format: `%m` ↔ `%M`."""
    start, text = written(context, node)
    for found in _FORMAT.finditer(text):
        other = "%" if found[1] == "f" else "f"
        edit = context.edit_span(start + found.start(1), start + found.end(1), other)
        yield Proposal(edits=(edit,), says=f"needs the format `{other}` in place of `{found[1]}`")
    codes = list(_DATE_CODE.finditer(text))
    for found in codes if len(codes) > 1 else ():
        other = _OTHER_CODE[found[1]]
        edit = context.edit_span(start + found.start(1), start + found.end(1), other)
        yield Proposal(edits=(edit,), says=f"needs `%{other}` in place of `%{found[1]}`")


def key_negated(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`sorted(a, key=lambda x: (x.b, x.c), reverse=True)` → without `reverse`, with `-x.b`; and other signs in keys."""
    key = next((each.value for each in node.keywords if each.arg == "key"), None)
    if not isinstance(key, ast.Lambda):
        return
    parts = key.body.elts if isinstance(key.body, ast.Tuple) else []
    backwards = next((each for each in node.keywords if each.arg == "reverse"), None)
    for number, part in enumerate(parts[:3]):
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
            sign = context.edit(part, context.code(part.operand))
        else:
            sign = context.edit(part, context.fit(part, f"-{context.code(part)}"))
        says = f"sorts `{context.code(part)}` the wrong way round"
        yield Proposal(edits=(sign,), says=says, weight=0.8**number)
        if backwards is not None and node.keywords[-1] is backwards:
            before = node.keywords[-2].value if len(node.keywords) > 1 else node.args[-1]
            start, end = context.source.span(before)[1], context.source.span(backwards.value)[1]
            if start >= context.source.span(part)[1]:
                gone = context.edit_span(start, end, "")
                yield Proposal(edits=(sign, gone), says="sorts all parts backwards", weight=0.8**number)


def condition_grouped(context: Context, node: ast.BoolOp) -> Iterator[Proposal]:
    """`a or b and c` → `(a or b) and c`, `a and b or c` → `a and (b or c)`."""
    if not isinstance(node.op, ast.Or):
        return
    for first, second in pairwise(node.values):
        for inner, start, end in (
            (second, context.source.span(first)[0], _first_end(context, second)),
            (first, _last_start(context, first), context.source.span(second)[1]),
        ):
            between = context.source.text[context.source.span(first)[1] : context.source.span(second)[0]]
            if isinstance(inner, ast.BoolOp) and "(" not in between and ")" not in between:
                edits = (context.edit_span(start, start, "("), context.edit_span(end, end, ")"))
                yield Proposal(edits=edits, says="needs brackets: `and` goes before `or`")


def _first_end(context: Context, node: ast.expr) -> int:
    first = node.values[0] if isinstance(node, ast.BoolOp) else node
    return context.source.span(first)[1]


def _last_start(context: Context, node: ast.expr) -> int:
    last = node.values[-1] if isinstance(node, ast.BoolOp) else node
    return context.source.span(last)[0]


def handlers_swapped(context: Context, node: ast.Try) -> Iterator[Proposal]:
    """Two neighbouring `except` change places: the first one may catch what the second is for."""
    for first, second in pairwise(node.handlers):
        spans = [_handler_span(context, each) for each in (first, second)]
        texts = [context.source.text[start:end] for start, end in spans]
        edits = (context.edit_span(*spans[0], texts[1]), context.edit_span(*spans[1], texts[0]))
        yield Proposal(edits=edits, says="catches too much before the next `except`")


def _handler_span(context: Context, node: ast.ExceptHandler) -> tuple[int, int]:
    start = context.source.line_start(node.lineno) + node.col_offset
    return start, context.source.span(node.body[-1])[1]


def inherited_called(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """A method that leaves out the one it overrides: `super().f(…)` as its first statement, or in place of a value."""
    call = _inherited_call(context, node)
    if not call:
        return
    first = body_start(context.source, node)
    if first is not None:
        edit = context.edit_span(first[0], first[0], f"{first[1]}{call}\n")
        yield Proposal(edits=(edit,), says=f"lacks `{call}`")
    for each in context.source.nodes(node, ast.Attribute):
        if isinstance(each.ctx, ast.Load) and _is_self(each.value):
            parent = context.source.parent(each)
            place = parent if isinstance(parent, ast.Call) and parent.func is each else each
            says = f"should use `{call}` in place of `{context.code(place)}`"
            yield Proposal(edits=(context.edit(place, call),), says=says, weight=0.6)


def _inherited_call(context: Context, node: FunctionNode) -> str:
    """How the method would call the one it overrides; empty if it does, or overrides none of this file."""
    owner = context.source.parent(node)
    if not isinstance(owner, ast.ClassDef) or "super" in context.source.names(node):
        return ""
    bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
    for each in context.source.nodes(context.source.tree, ast.ClassDef):
        if each.name in bases:
            for method in each.body:
                if isinstance(method, FunctionNode) and method.name == node.name and not method.decorator_list:
                    own = {argument.arg for argument in node.args.args}
                    names = [argument.arg for argument in method.args.args[1:]]
                    if own.issuperset(names) and method.args.args:
                        return f"super().{node.name}({', '.join(names)})"
    return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def reset_inserted(context: Context, node: ast.If | ast.For | ast.While) -> Iterator[Proposal]:
    """What is counted up gets its first value again, at the start of a branch or of a loop's body."""
    function = context.source.function(node)
    if function is None or not node.body:
        return
    first = node.body[0]
    indent = context.source.indent(first)
    if indent is None:
        return
    at = context.source.line_start(first.lineno)
    for text in _resets(context.source, function)[:_MOST_RESETS]:
        edit = context.edit_span(at, at, f"{indent}{text}\n")
        yield Proposal(edits=(edit,), says=f"lacks `{text}`", weight=1.0 if isinstance(first, _JUMPS) else 0.7)


@fact
def _resets(source: Source, function: FunctionNode) -> list[str]:
    """Assignments that gave what the function changes its first value."""
    changed = {ast.unparse(each.target) for each in source.nodes(function, ast.AugAssign)}
    owner = source.parent(function)
    places = [function, *(owner.body if isinstance(owner, ast.ClassDef) else [])]
    found = {}
    for place in places:
        if place is function or (isinstance(place, FunctionNode) and place.name == "__init__"):
            for each in place.body:
                if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
                    target = ast.unparse(each.targets[0])
                    if target in changed and (place is function or target.startswith("self.")):
                        found[target] = f"{target} = {source.code(each.value)}"
    return list(found.values())
