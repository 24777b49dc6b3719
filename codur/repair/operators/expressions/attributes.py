"""Operators on attributes of objects that make up lists, trees and graphs: another link, one more, one less."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import get_args

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact
from codur.repair.code.value_kinds import Kind

_MOST = 6


def link_replaced(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """`node.left` → `node.right` for the value attributes of the program; `self` has an operator of its own."""
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return
    links = _links(context.source)
    if node.attr not in links:
        return
    _, end = context.source.span(node)
    others = nearest(context.source, node, node.attr, [name for name in links if name != node.attr], _MOST)[:_MOST]
    for name in others:
        edit = context.edit_span(end - len(node.attr), end, name)
        says = f"should use `{name}` in place of `{node.attr}`"
        yield Proposal(edits=(edit,), says=says, weight=max(1, len(others)) ** -0.5)


def link_removed(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """`node.next` → `node`."""
    if isinstance(node.ctx, ast.Load) and node.attr in _links(context.source) and context.code(node.value) != "self":
        yield context.replace(node, context.code(node.value), says=f"has `.{node.attr}` too many")


def link_added(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """`node` → `node.next` where the function reads such an attribute of the same variable."""
    parent = context.source.parent(node)
    code = context.code(node)
    if not isinstance(node.ctx, ast.Load) or code == "self":
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    root = code.split(".")[0]
    objects = _objects(context.source, context.source.scope(node))
    links = _links(context.source)
    deeper = isinstance(parent, ast.Attribute) and parent.attr in links
    if (root not in objects and not isinstance(parent, ast.Return)) or (
        isinstance(parent, ast.Attribute) and not deeper
    ):
        return
    links = nearest(context.source, node, code, links, _MOST)[:_MOST]
    for name in links:
        yield context.replace(node, f"{code}.{name}", says=f"lacks `.{name}`", weight=0.5 if deeper else 1.0)
    if isinstance(node, ast.Name) and not deeper:
        for other in _like(context, node)[:_MOST]:
            for name in links:
                yield context.replace(node, f"{other}.{name}", weight=0.5)


def _like(context: Context, node: ast.Name) -> list[str]:
    """Other variables that held objects of the same class in the recorded run."""
    scope = context.source.function(node) or context.source.tree
    first, last = getattr(scope, "lineno", 1), getattr(scope, "end_lineno", None) or len(context.source.lines)
    kinds = context.observed.kinds(node.id, first, last)
    others = [name for name in context.scopes.variables(node) if name != node.id]
    same = len(kinds) == 1 and not kinds & set(get_args(Kind))
    return [name for name in others if same and context.observed.kinds(name, first, last) == kinds]


@fact
def _objects(source: Source, scope: ast.AST) -> frozenset[str]:
    """Variables whose attributes a scope uses."""
    return frozenset(each.value.id for each in source.nodes(scope, ast.Attribute) if isinstance(each.value, ast.Name))


@fact
def _links(source: Source) -> list[str]:
    """Attributes that the program stores or compares, in the order of its text, not those that it calls."""
    functions = (each.func for each in source.nodes(source.tree, ast.Call))
    called = {each.attr for each in functions if isinstance(each, ast.Attribute)}
    modules = {alias.asname or alias.name for each in source.nodes(source.tree, ast.Import) for alias in each.names}
    found = {
        each.attr: None
        for each in source.nodes(source.tree, ast.Attribute)
        if each.attr not in called and not (isinstance(each.value, ast.Name) and each.value.id in modules)
    }
    return list(found)


def sides_swapped(context: Context, node: ast.Assign) -> Iterator[Proposal]:
    """`a.b = c` → `c = a.b`, where both sides can be assigned."""
    target, value = node.targets[0], node.value
    places = (ast.Name, ast.Attribute, ast.Subscript)
    if len(node.targets) > 1 or not isinstance(target, places) or not isinstance(value, places):
        return
    left, right = context.code(target), context.code(value)
    if isinstance(value, ast.Name) and value.id not in context.scopes.variables(node):
        return
    if left != right:
        says = f"has `{left}` and `{right}` the wrong way round"
        yield Proposal(edits=(context.edit(target, right), context.edit(value, left)), says=says)
