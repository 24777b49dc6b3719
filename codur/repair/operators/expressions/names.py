"""Operators on names: a missing f-prefix, the wrong variable, misspelt names, missing imports and `self.`."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
import sys
from collections.abc import Iterator
from functools import lru_cache

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import BUILTINS, nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact
from codur.repair.evidence.failing_lines import Raised

_MOST_VARIABLES = 20
_FIELD = re.compile(r"\{([A-Za-z_]\w*)[^{}]*\}")
_QUOTED = re.compile(r"'([A-Za-z_]\w*)'")


def prefix_missing(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`"hello {name}"` → `f"hello {name}"` if every field starts with a name in scope."""
    if not isinstance(node.value, str) or "{" not in node.value:
        return
    parent = context.source.parent(node)
    if isinstance(parent, ast.Expr | ast.Attribute | ast.JoinedStr) or _formatted(parent, node):
        return
    names = _FIELD.findall(node.value)
    code = context.code(node)
    known = {*context.scopes.visible(node), "self"}
    if not names or not set(names) <= known or code[0] not in "\"'rR" or not _has_field(f"f{code}"):
        return
    start, _ = context.source.span(node)
    yield Proposal(edits=(context.edit_span(start, start, "f"),), says="lacks its `f` prefix")


def _formatted(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether the string is the format of `%`."""
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.left is node


def _has_field(code: str) -> bool:
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(tree, ast.JoinedStr) and any(isinstance(value, ast.FormattedValue) for value in tree.values)


def variable_replaced(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """A variable gives way to another one of the same function; names used nearby and alike come first."""
    if not isinstance(node.ctx, ast.Load):
        return
    variables = context.scopes.variables(node)
    anything = isinstance(context.source.parent(node), ast.Tuple)  # which takes values of any kind
    others = [name for name in variables if name != node.id and (anything or _interchangeable(context, node, name))]
    if node.id not in variables or not others:
        return
    others = nearest(context.source, node, node.id, others, _MOST_VARIABLES)
    near = context.source.names(context.source.statement(node))
    share = len(others) ** -0.5
    for name in others:
        weight = share * (1.0 if name in near or _alike(node.id, name) else 0.7)
        yield context.replace(node, name, says=f"should use `{name}` in place of `{node.id}`", weight=weight)


@lru_cache(maxsize=4096)
def _alike(first: str, second: str) -> bool:
    return difflib.SequenceMatcher(None, first, second).ratio() > 0.6


def _interchangeable(context: Context, node: ast.Name, name: str) -> bool:
    """Whether nothing shows that the two variables hold values of different kinds."""
    kinds = {context.kinds.of(node), context.kinds.named(node, name)}
    return None in kinds or len(kinds) == 1


def name_corrected(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError: the closest name in scope."""
    if not _unknown(context, node):
        return
    known = [*context.scopes.visible(node), *sorted(name for name in BUILTINS if not name.startswith("_"))]
    for rank, name in enumerate(difflib.get_close_matches(node.id, [each for each in known if each != node.id], n=3)):
        yield context.replace(node, name, says=f"misspells `{name}`", weight=0.7**rank)


def import_added(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError: `import NAME` if it is a module of the standard library and used as `NAME.attribute`."""
    used = isinstance(context.source.parent(node), ast.Attribute)
    if used and _unknown(context, node) and node.id in sys.stdlib_module_names:
        at = _import_offset(context)
        edit = context.edit_span(at, at, f"import {node.id}\n")
        yield Proposal(edits=(edit,), says=f"needs `import {node.id}`")


def _import_offset(context: Context) -> int:
    """Where an import goes: behind the docstring and `from __future__` imports, before the first other statement."""
    for statement in context.source.tree.body:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not docstring and not future:
            decorators = getattr(statement, "decorator_list", [])
            return context.source.line_start(min(each.lineno for each in (statement, *decorators)))
    return 0


def self_added(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError in a method: `NAME` → `self.NAME` if the class has such an attribute or method."""
    inside = context.source.enclosing_class(node)
    function = context.source.function(node)
    if inside is None or function is None or not _unknown(context, node):
        return
    if function.args.args and function.args.args[0].arg == "self" and node.id in _attributes(context.source, inside):
        yield context.replace(node, f"self.{node.id}", says="lacks `self.`")


def self_toggled(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """`a` ↔ `self.a` in a method that has both, but not in an assignment of the one to the other."""
    inside, name = context.source.enclosing_class(node), node.id if isinstance(node, ast.Name) else node.attr
    statement = context.source.statement(node)
    if inside is None or not isinstance(node.ctx, ast.Load) or name not in context.scopes.variables(node):
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if {context.code(each) for each in targets} & {name, f"self.{name}"}:
        return
    if isinstance(node, ast.Name) and name in _attributes(context.source, inside):
        yield context.replace(node, f"self.{name}", says=f"should use `self.{name}`")
    elif isinstance(node, ast.Attribute) and _is_self(node.value):
        yield context.replace(node, name, says=f"should use `{name}`, not the attribute")


def attribute_corrected(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """AttributeError: the closest attribute of the type that the message names."""
    line, last = node.lineno, node.end_lineno or node.lineno
    for raised in context.failure.at(context.source.path, line, last, "AttributeError"):
        names = _QUOTED.findall(raised.message)
        if names and names[-1] == node.attr:
            _, end = context.source.span(node)
            for rank, name in enumerate(_close_attributes(context, raised, names)):
                edit = context.edit_span(end - len(node.attr), end, name)
                yield Proposal(edits=(edit,), says=f"needs `{name}` in place of `{node.attr}`", weight=0.7**rank)


def _close_attributes(context: Context, raised: Raised, names: list[str]) -> list[str]:
    owner = getattr(builtins, names[0], None)
    if isinstance(owner, type) and not raised.message.startswith("module"):
        known = [name for name in dir(owner) if not name.startswith("_")]
    else:
        classes = context.source.nodes(context.source.tree, ast.ClassDef)
        known = sorted({name for each in classes for name in _attributes(context.source, each)})
    same_use = {"push": "append", "add": "append", "append": "add", "length": "__len__", "contains": "__contains__"}
    first = [same_use[names[-1]]] if same_use.get(names[-1]) in known else []
    return [*first, *(name for name in difflib.get_close_matches(names[-1], known, n=3) if name not in first)]


def _unknown(context: Context, node: ast.Name) -> bool:
    """Whether the failure says that this very name is not defined."""
    return isinstance(node.ctx, ast.Load) and any(
        _QUOTED.findall(raised.message)[:1] == [node.id]
        for raised in context.failure.of("NameError", "UnboundLocalError")
    )


@fact
def _attributes(source: Source, owner: ast.ClassDef) -> set[str]:
    """Methods and attributes that a class defines or assigns through `self`."""
    found: set[str] = set()
    for node in source.walk(owner):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            found.add(node.attr)
    return found | {
        target.id
        for each in owner.body
        if isinstance(each, ast.Assign | ast.AnnAssign)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name)
    }


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
