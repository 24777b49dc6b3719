"""Operators on statements: moved in or out of a block, deleted, missing returns, mutable defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import Scopes
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import FunctionNode, Source

Block = ast.For | ast.AsyncFor | ast.While | ast.If | ast.With
_CALLS_FOR_EFFECT = frozenset(
    {"print", "append", "extend", "add", "update", "sort", "insert", "remove", "write", "setdefault", "exit"}
)


def moved_out(context: Context, node: Block) -> Iterator[Proposal]:
    """The last statement of a block is dedented, so that it runs after it."""
    if len(node.body) < 2 or getattr(node, "orelse", None):
        return
    last, outer = node.body[-1], context.source.indent(node)
    edit = reindented(context, last, outer)
    if edit:
        weight = 1.0 if _ends(last) else 0.5
        yield Proposal(edits=(edit,), says=f"should stand after {_named(node)}, not in it", weight=weight)


def moved_out_of_else(context: Context, node: ast.For | ast.While) -> Iterator[Proposal]:
    """`else: return x` at the end of a loop's body: the return moves behind the loop."""
    last = node.body[-1]
    if node.orelse or not isinstance(last, ast.If) or len(last.orelse) != 1 or not _ends(last.orelse[0]):
        return
    moved = last.orelse[0]
    outer = context.source.indent(node)
    start = context.source.span(last.body[-1])[1]
    if outer is None or isinstance(moved, ast.If) or moved.lineno == last.body[-1].lineno:
        return
    edit = context.edit_span(start, context.source.span(moved)[1], f"\n{outer}{context.code(moved)}")
    yield Proposal(edits=(edit,), says="leaves the loop in its first round")


def moved_in(context: Context, node: Block) -> Iterator[Proposal]:
    """The statement behind a block is indented, so that it becomes the block's last."""
    block = context.source.block(node)
    position = block.index(node) + 1
    if position >= len(block) or getattr(node, "orelse", None):
        return
    following = block[position]
    edit = reindented(context, following, context.source.indent(node.body[-1]))
    if edit and not isinstance(following, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom):
        weight = 1.0 if isinstance(node, ast.For | ast.While) else 0.5
        yield Proposal(edits=(edit,), says=f"should stand in {_named(node)}, not after it", weight=weight)


def _ends(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Break | ast.Continue)


def _named(node: ast.stmt) -> str:
    kind = "loop" if isinstance(node, ast.For | ast.AsyncFor | ast.While) else type(node).__name__.lower()
    return f"the `{kind}` block above" if kind != "loop" else "the loop above"


def reindented(context: Context, node: ast.stmt, indent: str | None) -> Edit | None:
    """The statement's lines with another indentation; None where that would change a string or share a line."""
    source = context.source
    present = source.indent(node)
    if indent is None or present is None or indent == present or has_multiline_text(node):
        return None
    first, last = node.lineno, node.end_lineno or node.lineno
    lines = source.lines[first - 1 : last]
    if any(line.strip() and not line.startswith(present) for line in lines):
        return None
    moved = [indent + line[len(present) :] if line.strip() else line for line in lines]
    return context.edit_span(source.line_start(first), source.line_end(last), "\n".join(moved))


def has_multiline_text(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Constant | ast.JoinedStr) and (each.end_lineno or each.lineno) > each.lineno
        for each in ast.walk(node)
    )


def deleted(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """A statement is removed, with its lines; `pass` takes its place where a block would be empty."""
    source = context.source
    kept = (FunctionNode, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)
    if isinstance(node, kept) or source.indent(node) is None:
        return
    first, last = node.lineno, node.end_lineno or node.lineno
    rest = source.lines[last - 1][source.span(node)[1] - source.line_start(last) :].strip()
    if rest and not rest.startswith("#"):
        return
    if isinstance(node, ast.If) and source.lines[first - 1].lstrip().startswith("elif"):
        return
    if isinstance(node, ast.Expr) and _is_print(node.value):
        weight = 1.5
    else:
        weight = {ast.If: 0.6, ast.For: 0.2, ast.While: 0.2, ast.Return: 0.5}.get(type(node), 1.0)
    if len(source.block(node)) == 1:
        yield Proposal(edits=(context.edit(node, "pass"),), says="should go", weight=weight * 0.6)
        return
    start, end = source.line_start(first), min(source.line_end(last) + 1, len(source.text))
    yield Proposal(edits=(context.edit_span(start, end, ""),), says="should go", weight=weight)


def _is_print(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def jump_swapped(context: Context, node: ast.Break | ast.Continue) -> Iterator[Proposal]:
    """`break` ↔ `continue`."""
    old, new = ("break", "continue") if isinstance(node, ast.Break) else ("continue", "break")
    yield Proposal(edits=(context.edit(node, new),), says=f"needs `{new}` in place of `{old}`")


# --- functions --------------------------------------------------------------------------------------------------------


def mutable_default(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """`def f(a=[])` → `def f(a=None)` with `if a is None: a = []` at the start of the body."""
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True))
    pairs += [(each, value) for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
    at = body_start(context.source, node)
    for argument, default in pairs:
        if at is not None and _is_mutable(default):
            inner = f"{at[1]}if {argument.arg} is None:\n{at[1]}{context.source.indent_unit}{argument.arg} = "
            insert = context.edit_span(at[0], at[0], f"{inner}{context.code(default)}\n")
            says = f"shares the default of `{argument.arg}` between calls"
            yield Proposal(edits=(context.edit(default, "None"), insert), says=says)


def _is_mutable(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("list", "dict", "set") and not node.args
    return isinstance(node, ast.List | ast.Dict | ast.Set)


def body_start(source: Source, node: FunctionNode) -> tuple[int, str] | None:
    """Offset of the line of the first statement behind the docstring, and its indentation; None if there is none."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    indent = source.indent(body[0]) if body else None
    if indent is None:
        return None
    decorators = getattr(body[0], "decorator_list", [])
    return source.line_start(min(each.lineno for each in (body[0], *decorators))), indent


def return_added(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """A function that returns nothing: its last expression, or a variable it computed, is returned."""
    last = node.body[-1]
    if node.name == "__init__" or isinstance(last, ast.Return | ast.Raise) or _is_generator(context.source, node):
        return
    if context.source.indent(last) is None:
        return
    if isinstance(last, ast.Expr):
        start = context.source.span(last)[0]
        if not _for_effect(last.value):
            yield Proposal(edits=(context.edit_span(start, start, "return "),), says="computes a value and drops it")
            return
    end = context.source.line_end(last.end_lineno or last.lineno)
    names = list(_assigned(node, context.scopes))
    for rank, name in enumerate(names[:4]):
        edit = context.edit_span(end, end, f"\n{context.source.indent(last)}return {name}")
        yield Proposal(edits=(edit,), says=f"does not return `{name}`", weight=0.7**rank)


def _is_generator(source: Source, node: FunctionNode) -> bool:
    return bool(source.nodes(node, ast.Yield, ast.YieldFrom))


def _for_effect(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant | ast.Yield | ast.YieldFrom | ast.Await):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name in _CALLS_FOR_EFFECT


def _assigned(node: FunctionNode, scopes: Scopes) -> list[str]:
    """Variables that the function's own top-level statements assign, the last first."""
    found: dict[str, None] = {}
    for statement in reversed(node.body):
        for each in statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]:
            if isinstance(each, ast.Name) and not isinstance(statement, ast.For | ast.AsyncFor):
                found[each.id] = None
    return list(found) or list(scopes.variables(node.body[-1]))[:2]
