"""Operators that put one expression of the program in the place of another one, or add an operand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact

_MAX_OTHERS = 12
_MAX_NAMES = 5
_LARGEST = 14
_MOST_FUNCTIONS = 8
_EFFECTS = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
Replaced = ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.BinOp


def expression_replaced(context: Context, node: Replaced) -> Iterator[Proposal]:
    """An expression gives way to another one that the function already has, of a kind that fits."""
    parent = context.source.parent(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or isinstance(parent, ast.Expr | ast.Starred):
        return
    if getattr(parent, "func", None) is node or (isinstance(parent, ast.Attribute) and parent.value is node):
        return
    kind, code, given = context.kinds.of(node), context.code(node), 0
    for other, near in _expressions(context, node):
        text = context.code(other)
        if text == code or (isinstance(node, ast.Name) and isinstance(other, ast.Name)) or text in code:
            continue
        if None not in (kind, context.kinds.of(other)) and kind != context.kinds.of(other):
            continue
        given += 1
        yield context.replace(node, text, weight=near * (0.6 if None in (kind, context.kinds.of(other)) else 1.0))
        if given == _MAX_OTHERS:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """An expression without effects that stands in a scope."""

    node: ast.expr
    text: str
    used: frozenset[str]


@fact
def _pieces(source: Source, scope: ast.AST) -> tuple[_Piece, ...]:
    """The small expressions of a scope that are read; functions that they call by name do not count as used."""
    found: list[_Piece] = []
    for node in source.nodes(scope, ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp):
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            continue
        inner = list(ast.walk(node))
        if len(inner) > _LARGEST or any(isinstance(each, _EFFECTS) for each in inner) or not source.trusted(node):
            continue
        called = {id(each.func) for each in inner if isinstance(each, ast.Call)}
        names = frozenset(each.id for each in inner if isinstance(each, ast.Name) and id(each) not in called)
        if names or _constant_call(node):
            found.append(_Piece(node=node, text=source.code(node), used=names))
    return tuple(found)


def _expressions(context: Context, node: ast.expr) -> list[tuple[ast.expr, float]]:
    """Expressions of the function that mean something where the node stands, those of the same statement first."""
    source = context.source
    here = source.within(source.statement(node) or node)
    above = set(source.ancestors(node))
    names = {*context.scopes.variables(node), *_comprehension_names(context, node)}
    found: dict[str, tuple[ast.expr, float]] = {}
    for piece in _pieces(source, source.scope(node)):
        if piece.node in above or not piece.used <= names:
            continue
        near = 1.0 if piece.node in here else 0.5
        if piece.text not in found or found[piece.text][1] < near:
            found[piece.text] = (piece.node, near)
    return sorted(found.values(), key=lambda pair: -pair[1])


def _constant_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and all(isinstance(each, ast.Constant) for each in node.args) and bool(node.args)


def _comprehension_names(context: Context, node: ast.expr) -> set[str]:
    found: set[str] = set()
    for above in context.source.ancestors(node):
        if isinstance(above, FunctionNode):
            break
        for generator in getattr(above, "generators", ()):
            found |= {each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)}
    return found


def comprehension_name_replaced(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """In a comprehension: one of its variables or of the function's in place of another one."""
    own = _comprehension_names(context, node)
    if not own or not isinstance(node.ctx, ast.Load):
        return
    others = [*sorted(own), *context.scopes.variables(node)] if node.id in own else sorted(own)
    parent = context.source.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    for rank, name in enumerate([each for each in dict.fromkeys(others) if each != node.id][:_MAX_NAMES]):
        yield context.replace(node, name, says=f"should use `{name}` in place of `{node.id}`", weight=0.9**rank)


def target_replaced(context: Context, node: ast.Assign | ast.AugAssign) -> Iterator[Proposal]:
    """`a = …`, `a += …` → `b = …`, `b += …`: the value goes to another variable."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        return
    kind = context.kinds.named(node, target.id)
    others = [name for name in context.scopes.variables(node) if name != target.id]
    alike = sorted(others, key=lambda name: name.casefold() != target.id.casefold())
    for rank, name in enumerate(alike[: _MAX_NAMES + 1]):
        other = context.kinds.named(node, name)
        if None in (kind, other) or kind == other:
            says = f"should change `{name}`, not `{target.id}`"
            weight = 2.0 if name.casefold() == target.id.casefold() else 0.85**rank
            yield Proposal(edits=(context.edit(target, name),), says=says, weight=weight)


def function_replaced(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """A function of the program gives way to another one with as many parameters."""
    functions = _functions(context.source)
    if isinstance(node.func, ast.Name) and node.func.id in functions:
        count = len(functions[node.func.id].args.args)
        others = [name for name, each in functions.items() if name != node.func.id and len(each.args.args) == count]
        for name in nearest(context.source, node, node.func.id, others, _MOST_FUNCTIONS):
            yield context.replace(node.func, name, says=f"needs `{name}` in place of `{node.func.id}`")


@fact
def _functions(source: Source) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in source.tree.body if isinstance(each, ast.FunctionDef)}


def attribute_replaced(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """`self.a` → `self.b` for the attributes that the class assigns; `x.a` → `x.b` if only one class has an `a`."""
    inside = _owner(context, node)
    if inside is None:
        return
    parent = context.source.parent(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    methods = [each.name for each in inside.body if isinstance(each, ast.FunctionDef)]
    others = [
        name for name in dict.fromkeys(methods if called else _fields(context.source, inside)) if name != node.attr
    ]
    plain = [each for each in others if not each.startswith("__")]
    for name in nearest(context.source, node, node.attr, plain, _MAX_NAMES)[:_MAX_NAMES]:
        end = context.source.span(node)[1]
        edit = context.edit_span(end - len(node.attr), end, name)
        says = f"should use `{name}` in place of `{node.attr}`"
        yield Proposal(edits=(edit,), says=says, weight=max(1, len(others)) ** -0.25)


def _owner(context: Context, node: ast.Attribute) -> ast.ClassDef | None:
    """The class of the object whose attribute it is, as far as the source tells."""
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return context.source.enclosing_class(node)
    return _only_owners(context.source).get(node.attr)


@fact
def _only_owners(source: Source) -> dict[str, ast.ClassDef | None]:
    """The class that has an attribute of each name; None where there are several."""
    found: dict[str, ast.ClassDef | None] = {}
    for each in source.nodes(source.tree, ast.ClassDef):
        for name in set(_fields(source, each)):
            found[name] = None if name in found else each
    return found


@fact
def _fields(source: Source, owner: ast.ClassDef) -> list[str]:
    """Attributes that a class assigns or declares, and its properties."""
    assigned = [
        each.attr
        for each in source.nodes(owner, ast.Attribute)
        if isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name)
    ]
    declared = [
        each.target.id for each in owner.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    properties = [
        each.name
        for each in owner.body
        if isinstance(each, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and "property" in mark.id for mark in each.decorator_list)
    ]
    return [*assigned, *declared, *properties]


def operand_added(context: Context, node: ast.Name | ast.Call | ast.Subscript | ast.BinOp) -> Iterator[Proposal]:
    """`a` → `a + b`, `a - b`, `a * b`, `a // 2` for the numbers in scope, where a number is used."""
    parent = context.source.parent(node)
    fits = isinstance(parent, ast.Return | ast.Assign | ast.AugAssign | ast.Compare | ast.Call | ast.BinOp)
    if not fits or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or getattr(parent, "func", None) is node:
        return
    if context.kinds.of(node) != "number":
        return
    near = context.source.names(context.source.statement(node))
    numbers = [name for name in context.scopes.variables(node) if context.kinds.named(node, name) == "number"]
    code = context.code(node)
    names = sorted([each for each in numbers if each != code], key=lambda name: name not in near)[:_MAX_NAMES]
    low = f"({code})" if isinstance(node, ast.BinOp) else code
    for rank, name in enumerate(names):
        weight = 0.8**rank
        yield context.replace(node, f"{code} - {name}", weight=weight)
        yield context.replace(node, f"{code} + {name}", weight=weight)
        yield context.replace(node, f"{low} * {name}", weight=0.6 * weight)
    for text, weight in ((f"{low} * 2", 0.6), (f"{low} // 2", 0.6), (f"{low} % 2", 0.4), (f"-{low}", 0.5)):
        yield context.replace(node, text, weight=weight)


def operands_compared_swapped(context: Context, node: ast.Compare) -> Iterator[Proposal]:
    """`a in b` → `b in a`."""
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        left, right = context.code(node.left), context.code(node.comparators[0])
        edits = (
            context.edit(node.left, context.fit(node.left, right)),
            context.edit(node.comparators[0], context.fit(node.comparators[0], left)),
        )
        yield Proposal(edits=edits, says=f"has `{left}` and `{right}` the wrong way round")
