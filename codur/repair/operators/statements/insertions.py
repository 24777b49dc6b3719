"""Operators that insert, swap or copy statements, and statements that drop the value they compute."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.operators.statements.guards import defaults
from codur.repair.operators.statements.statements import body_start, has_multiline_text

_COPIED = (ast.Assign, ast.AugAssign, ast.Expr)
_MAX_COPIES = 8
_INITIAL = ("0", "[]", '""', "{}", "None", "1")


def swapped_with_next(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """Two neighbouring statements change places."""
    source = context.source
    block = source.block(node)
    position = block.index(node) + 1
    if position >= len(block) or isinstance(node, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    following = block[position]
    if isinstance(following, FunctionNode | ast.ClassDef) or None in (source.indent(node), source.indent(following)):
        return
    last, end = node.end_lineno or node.lineno, following.end_lineno or following.lineno
    if following.lineno <= last:
        return
    start = source.line_start(node.lineno)
    first = source.text[start : source.line_end(last)]
    between = source.text[source.line_end(last) : source.line_start(following.lineno)]
    second = source.text[source.line_start(following.lineno) : source.line_end(end)]
    edit = context.edit_span(start, source.line_end(end), f"{second}{between}{first}")
    simple = not hasattr(node, "body") and not hasattr(following, "body")
    says = "should stand after the next statement"
    yield Proposal(edits=(edit,), says=says, weight=1.0 if simple else 0.6)


def value_kept(context: Context, node: ast.Expr) -> Iterator[Proposal]:
    """`a[:-1]`, `a.strip()` as statements → `a = a[:-1]`; `a == b` → `a = b`; `a + 1` → `a += 1`."""
    value = node.value
    start = context.source.span(value)[0]
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq):
        place = context.between(value.left, value.comparators[0], "==")
        if place:
            yield Proposal(edits=(context.edit_span(*place, "="),), says="compares where it should assign")
        return
    inner: ast.expr = value
    while isinstance(inner, ast.Subscript | ast.Call | ast.Attribute | ast.BinOp):
        inner = (
            inner.func if isinstance(inner, ast.Call) else inner.left if isinstance(inner, ast.BinOp) else inner.value
        )
    if isinstance(inner, ast.Name) and inner is not value and inner.id in context.scopes.variables(node):
        yield Proposal(edits=(context.edit_span(start, start, f"{inner.id} = "),), says="drops the value it computes")


def statement_copied(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """A simple statement that stands elsewhere in the function is run before this one too, or behind it."""
    source = context.source
    indent = source.indent(node)
    if indent is None or isinstance(node, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    if source.lines[node.lineno - 1].lstrip().startswith("elif"):
        return
    copies = [each for each in _copies(source, source.scope(node)) if each is not node]
    block = source.block(node)
    start, end = source.line_start(node.lineno), source.line_end(node.end_lineno or node.lineno)
    for rank, each in enumerate(sorted(copies, key=lambda one: abs(one.lineno - node.lineno))[:_MAX_COPIES]):
        code = context.code(each)
        yield Proposal(
            edits=(context.edit_span(start, start, f"{indent}{code}\n"),),
            says=f"needs `{code}` before it",
            weight=0.9**rank,
        )
        if node is block[-1] and not isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            edit = context.edit_span(end, end, f"\n{indent}{code}")
            yield Proposal(edits=(edit,), says=f"needs `{code}` after it", weight=0.9**rank)


@fact
def _copies(source: Source, scope: ast.AST) -> tuple[ast.stmt, ...]:
    return tuple(each for each in source.nodes(scope, *_COPIED) if _copyable(each))


def _copyable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
        return False
    if has_multiline_text(node) or (node.end_lineno or node.lineno) > node.lineno:
        return False
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    return not any(isinstance(each.func, ast.Name) and each.func.id in ("print", "input", "exit") for each in calls)


def step_inserted(context: Context, node: ast.For | ast.While) -> Iterator[Proposal]:
    """A loop's body ends with `v += 1` or `v -= 1` for a number that its test or body uses."""
    names = [name for name in context.scopes.variables(node.body[0]) if context.kinds.named(node, name) == "number"]
    used = context.source.names(node)
    last = node.body[-1]
    indent = context.source.indent(last)
    if indent is None or isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return
    end = context.source.line_end(last.end_lineno or last.lineno)
    for rank, name in enumerate([each for each in names if each in used][:4]):
        for symbol in ("+", "-"):
            edit = context.edit_span(end, end, f"\n{indent}{name} {symbol}= 1")
            yield Proposal(edits=(edit,), says=f"does not step `{name}`", weight=0.85**rank)


def sorted_before(context: Context, node: ast.For | ast.While) -> Iterator[Proposal]:
    """`a.sort()` before a loop over, or with, a list."""
    indent = context.source.indent(node)
    used = context.source.names(node)
    if indent is None:
        return
    start = context.source.line_start(node.lineno)
    names = [each for each in context.scopes.variables(node) if context.kinds.named(node, each) == "list"]
    for name in [each for each in names if each in used][:3]:
        edit = context.edit_span(start, start, f"{indent}{name}.sort()\n")
        yield Proposal(edits=(edit,), says=f"needs `{name}` in order")


def else_added(context: Context, node: ast.If) -> Iterator[Proposal]:
    """`if` without `else`: the opposite jump, or the return of the opposite truth, in an `else`."""
    indent, last = context.source.indent(node), node.body[-1]
    if node.orelse or indent is None or context.source.indent(last) is None:
        return
    end = context.source.line_end(last.end_lineno or last.lineno)
    inner = context.source.indent(last)
    texts = ["break", "continue"] if context.source.in_loop(node) else []
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add | ast.Sub):
        other = "-" if isinstance(last.op, ast.Add) else "+"
        texts.insert(0, f"{context.code(last.target)} {other}= {context.code(last.value)}")
    if isinstance(last, ast.Assign) and len(last.targets) == 1:
        texts.insert(0, f"{context.code(last.targets[0])} = 0")
    for rank, text in enumerate(texts):
        edit = context.edit_span(end, end, f"\n{indent}else:\n{inner}{text}")
        yield Proposal(edits=(edit,), says=f"needs `{text}` otherwise", weight=0.8**rank)


def branch_joined(context: Context, node: ast.If) -> Iterator[Proposal]:
    """`if` behind an `if` ↔ `elif`."""
    source = context.source
    if source.lines[node.lineno - 1].lstrip().startswith("elif"):
        start = source.span(node)[0]
        if source.text[start : start + 4] == "elif" and not node.orelse:
            yield Proposal(edits=(context.edit_span(start, start + 4, "if"),), says="should be asked in any case")
        return
    block = source.block(node)
    position = block.index(node)
    if position and isinstance(block[position - 1], ast.If) and not block[position - 1].orelse:  # type: ignore[attr-defined]
        start = source.span(node)[0]
        yield Proposal(edits=(context.edit_span(start, start + 2, "elif"),), says="should be asked only otherwise")


def initialised(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """UnboundLocalError or NameError: the variable gets a first value, or is declared `global`."""
    at = body_start(context.source, node)
    last = node.end_lineno or node.lineno
    if at is None:
        return
    for raised in context.failure.at(context.source.path, node.lineno, last, "UnboundLocalError", "NameError"):
        name = raised.message.split("'")[1] if raised.message.count("'") >= 2 else ""
        stored = {each.id for each in context.source.nodes(node, ast.Name) if isinstance(each.ctx, ast.Store)}
        if name not in stored:
            continue
        if raised.kind == "UnboundLocalError":
            edit = context.edit_span(at[0], at[0], f"{at[1]}global {name}\n")
            yield Proposal(edits=(edit,), says=f"changes a `{name}` of its own", weight=1.2)
        for rank, value in enumerate(_INITIAL):
            edit = context.edit_span(at[0], at[0], f"{at[1]}{name} = {value}\n")
            yield Proposal(edits=(edit,), says=f"uses `{name}` before it has a value", weight=0.85**rank)


def base_case_added(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """RecursionError: `if not a: return …`, `if a <= 1: return …` at the start of a function that calls itself."""
    at = body_start(context.source, node)
    if at is None or node.name not in context.source.names(node) or not context.failure.of("RecursionError"):
        return
    arguments = [each.arg for each in node.args.args if each.arg not in ("self", "cls")][:2]
    for name in arguments:
        for test in (f"not {name}", f"{name} <= 0", f"{name} <= 1", f"len({name}) <= 1"):
            for rank, value in enumerate(dict.fromkeys((name, *defaults(context, node.body[-1])))):
                text = f"{at[1]}if {test}:\n{at[1]}{context.source.indent_unit}return {value}\n"
                says = f"never ends: it lacks the case `{test}`"
                yield Proposal(edits=(context.edit_span(at[0], at[0], text),), says=says, weight=0.85**rank)
