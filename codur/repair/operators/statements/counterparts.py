"""Operators for what is not kept in step: a counter, a registry, a branch or a method that lacks what others do."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import BUILTINS, words
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact, stored
from codur.repair.operators.statements.guards import is_pure
from codur.repair.operators.statements.statements import has_multiline_text

_GROWING = ("append", "add", "insert", "appendleft", "push", "extend", "setdefault")
_SHRINKING = ("pop", "popleft", "popitem", "remove", "discard")
_TAKEN_OUT = {"append": "{}.remove({})", "add": "{}.discard({})", "[]": "{}.pop({}, None)"}
"""How an item that is known is taken out again, by how it was put in."""
_UNDONE = {**_TAKEN_OUT, "append": "{}.pop()"}
"""How what was put in last is taken out again."""
_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
_MOST = 4
Change = tuple[str, str, str]
"""Of a collection: how (a method, or `[]`), its text, and the text of the item or key; the latter may be empty."""


def counterpart_inserted(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """Behind `self.a.pop()`: `self.n -= 1`, `self.b.discard(k)` for what other methods change with `self.a`."""
    source, function, owner = context.source, context.source.function(node), context.source.enclosing_class(node)
    if function is None or owner is None or not isinstance(node, (*_SIMPLE, ast.Return, ast.Delete)):
        return
    touched = _set_or_changed(source, function)
    changes = [(change, True) for change in _shrinking(source, node)]
    changes += [(change, False) for change in _grown(source, node)]
    for (_, what, key), shrinks in changes:
        for text, weight in _counterparts(source, owner, what, key, shrinks=shrinks):
            if text.split(" ")[0] not in touched and text.rpartition(".")[0] not in touched:
                yield from _beside(context, node, text, weight)


def _beside(context: Context, node: ast.stmt, text: str, weight: float, *, before: bool = False) -> Iterator[Proposal]:
    """A statement behind another one, or before it if that is asked for or it is a jump."""
    indent = context.source.indent(node)
    if indent is None:
        return
    at, inserted = context.source.line_end(node.end_lineno or node.lineno), f"\n{indent}{text}"
    if before or isinstance(node, _JUMPS):
        at, inserted = context.source.line_start(node.lineno), f"{indent}{text}\n"
    yield Proposal(edits=(context.edit_span(at, at, inserted),), says=f"lacks `{text}`", weight=weight)


def _counterparts(
    source: Source, owner: ast.ClassDef, what: str, key: str, *, shrinks: bool
) -> list[tuple[str, float]]:
    """Statements that keep the other fields of a class in step with one that grows or shrinks."""
    found: dict[str, float] = {}
    if not what.startswith("self."):
        return []
    sign = "-" if shrinks else "+"
    for method in source.nodes(owner, ast.FunctionDef, ast.AsyncFunctionDef):
        together = what in _set_or_changed(source, method)
        for counter, step in _steps(source, method):
            found.setdefault(f"{counter} {sign}= {step}", 1.0 if together else 0.6)
        for how, other, _ in _grown(source, method) if together and shrinks and key else ():
            if how in _TAKEN_OUT and other != what and other.startswith("self."):
                found.setdefault(_TAKEN_OUT[how].format(other, key), 0.8)
    return list(found.items())[:_MOST]


@fact
def _steps(source: Source, scope: ast.AST) -> tuple[tuple[str, str], ...]:
    """Fields that a method counts up or down (`self.n += 1`, `self.n + 1`), each with its step."""
    pairs: list[tuple[ast.expr, ast.expr, ast.operator]] = [
        (each.left, each.right, each.op) for each in source.nodes(scope, ast.BinOp)
    ]
    pairs += [(each.target, each.value, each.op) for each in source.nodes(scope, ast.AugAssign)]
    found = {
        source.code(field): source.code(step)
        for field, step, operator in pairs
        if isinstance(operator, ast.Add | ast.Sub) and _is_field(field) and _is_number(step)
    }
    return tuple(found.items())


def _is_field(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


@fact
def _set_or_changed(source: Source, function: ast.AST) -> frozenset[str]:
    """The fields that a method sets, and those that it lets grow or shrink."""
    stored = (each for each in source.nodes(function, ast.Attribute) if isinstance(each.ctx, ast.Store | ast.Del))
    changed = {what for _, what, _ in (*_grown(source, function), *_shrinking(source, function))}
    return frozenset(map(source.code, stored)) | changed


@fact
def _grown(source: Source, scope: ast.AST) -> tuple[Change, ...]:
    """Collections that get an item: `a.append(x)`, `a[k] = v`."""
    stored = ((each, each.ctx) for each in source.nodes(scope, ast.Subscript))
    keyed = [
        ("[]", source.code(each.value), source.code(each.slice))
        for each, context in stored
        if isinstance(context, ast.Store) and not isinstance(each.slice, ast.Slice) and is_pure(each)
    ]
    return (*_called(source, scope, _GROWING), *keyed)


@fact
def _shrinking(source: Source, scope: ast.AST) -> tuple[Change, ...]:
    """Collections that lose an item: `a.pop()`, `a.remove(x)`, `del a[k]`."""
    deleted = [
        ("del", source.code(each.value), source.code(each.slice))
        for each in source.nodes(scope, ast.Subscript)
        if isinstance(each.ctx, ast.Del) and is_pure(each)
    ]
    return (*_called(source, scope, _SHRINKING), *deleted)


def _called(source: Source, scope: ast.AST, methods: tuple[str, ...]) -> list[Change]:
    return [
        (each.func.attr, source.code(each.func.value), source.code(each.args[0]) if each.args else "")
        for each in source.nodes(scope, ast.Call)
        if isinstance(each.func, ast.Attribute) and each.func.attr in methods and is_pure(each.func.value)
    ]


def change_undone(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """At a function's end: `a.pop()`, `a.pop(k, None)` for what it put in, `a.b = old` for what it kept."""
    source = context.source
    recursive = node.name in {each.func.id for each in source.nodes(node, ast.Call) if isinstance(each.func, ast.Name)}
    lost, own = {what for _, what, _ in _shrinking(source, node)}, stored(source, node)
    undone = dict.fromkeys(_restored(source, node), 1.5)
    for how, what, key in _grown(source, node):
        if how in _UNDONE and what not in lost and what.partition(".")[0] not in own:
            undone[_UNDONE[how].format(what, key)] = 1.0 if recursive else 0.4
    for text, weight in list(undone.items())[:_MOST]:
        yield from _beside(context, node.body[-1], text, weight)


def _restored(source: Source, function: FunctionNode) -> Iterator[str]:
    """`a.b = old` where the function has `old = a.b`, sets `a.b` and never sets it back."""
    assigned = source.nodes(function, ast.Assign)
    values = {(source.code(target), source.code(each.value)) for each in assigned for target in each.targets}
    for each in assigned:
        kept, target = each.value, each.targets[0]
        if isinstance(kept, ast.Attribute | ast.Subscript) and isinstance(target, ast.Name) and is_pure(kept):
            place, name = source.code(kept), target.id
            if any(what == place for what, _ in values) and (place, name) not in values:
                yield f"{place} = {name}"


def branch_completed(context: Context, node: ast.If) -> Iterator[Proposal]:
    """A simple statement that all other branches of an `if` have, in the one that lacks it."""
    branches = _branches(context.source, node)
    if len(branches) < 3:
        return
    texts = [_plain(context.source, branch) for branch in branches]
    for number, (branch, own) in enumerate(zip(branches, texts, strict=True)):
        others = [text for place, text in enumerate(texts) if place != number]
        ending = isinstance(branch[-1], ast.Return | ast.Raise)
        common = [text for text in others[0] if all(text in each for each in others[1:]) and text not in own]
        for text in () if ending else common[:_MOST]:
            yield from _beside(context, branch[-1], text, 1.0)


def _branches(source: Source, node: ast.If) -> list[list[ast.stmt]]:
    """The blocks of a whole chain of `if`, `elif` and `else`; none for a link of one."""
    if source.lines[node.lineno - 1].lstrip().startswith("elif"):
        return []
    blocks, last = [node.body], node
    while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
        last = last.orelse[0]
        blocks.append(last.body)
    return [*blocks, last.orelse] if last.orelse else blocks


def _plain(source: Source, block: list[ast.stmt]) -> list[str]:
    """The one-line assignments and calls of a block."""
    kept = [each for each in block if isinstance(each, _SIMPLE) and not has_multiline_text(each)]
    return [source.code(each) for each in kept if each.end_lineno == each.lineno]


def sibling_step(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """What several other methods of a class, or functions of alike names, begin or end with and this one lacks."""
    source, above, own = context.source, context.source.parent(node), _body(node)
    siblings = [each for each in getattr(above, "body", ()) if isinstance(each, FunctionNode) and each is not node]
    if not own or not siblings:
        return
    present = {source.code(each) for each in source.nodes(node, ast.stmt)}
    usable = {*context.scopes.visible(node), *BUILTINS, *(each.arg for each in source.nodes(node, ast.arg))}
    for here, number in ((own[0], 0), (own[-1], -1)):
        votes = Counter[str]()
        for each in siblings:
            step = _step(source, each, number)
            if step is not None and step.col_offset == here.col_offset and _read(source, step) <= usable:
                related = isinstance(above, ast.ClassDef) or words(each.name) & words(node.name)
                votes[source.code(step)] += bool(related)
        for text, count in votes.most_common(_MOST):
            if count > 1 and text not in present:
                yield from _beside(context, here, text, min(1.0, count / len(siblings)), before=number == 0)


def _body(function: FunctionNode) -> list[ast.stmt]:
    """What a function does: its docstring left out."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


@fact
def _step(source: Source, function: FunctionNode, number: int) -> ast.stmt | None:  # noqa: ARG001 - a fact of it
    """The first or the last statement that is no jump, if it is one line; or a guard first: `if` with just a jump."""
    for each in [each for each in _body(function) if not isinstance(each, _JUMPS)][number:][:1]:
        if isinstance(each, ast.If) and not (number or each.orelse or each.body[1:] or has_multiline_text(each)):
            return each if isinstance(each.body[0], _JUMPS) else None
        if isinstance(each, _SIMPLE) and each.end_lineno == each.lineno:
            return each
    return None


def _read(source: Source, node: ast.stmt) -> set[str]:
    return {each.id for each in source.nodes(node, ast.Name) if isinstance(each.ctx, ast.Load)}
