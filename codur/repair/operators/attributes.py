"""Operators on attributes: misspelt ones, or another one of the object."""

import ast
import builtins
import difflib
from collections.abc import Iterator

from codur.lazy import regex
from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import is_called, is_read, is_self
from codur.repair.code.scopes import nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.evidence.failing_lines import Raised

_QUOTED = regex(r"'([A-Za-z_]\w*)'")
_SAME_USE = {"push": "append", "add": "append", "append": "add", "length": "__len__", "contains": "__contains__"}
_MOST = 5


def attribute_corrected(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """AttributeError: the closest attribute of the type that the message names."""
    for raised in context.raised(node, "AttributeError"):
        names = _QUOTED.findall(raised.message)
        if names and names[-1] == node.attr:
            for rank, name in enumerate(_close(context.source, raised, names)):
                yield context.attribute(node, name, f"needs `{name}` in place of `{node.attr}`", 0.7**rank)


def _close(source: Source, raised: Raised, names: list[str]) -> list[str]:
    """Attributes for the last of the names that a message quotes; the first one is that of the type."""
    owner, wrong = getattr(builtins, names[0], None), names[-1]
    if isinstance(owner, type) and not raised.message.startswith("module"):
        known = [name for name in dir(owner) if not name.startswith("_")]
    else:
        known = sorted(
            {name for each in source.nodes(source.tree, ast.ClassDef) for name in attributes_of(source, each)}
        )
    first = [_SAME_USE[wrong]] if _SAME_USE.get(wrong) in known else []
    return list(dict.fromkeys([*first, *difflib.get_close_matches(wrong, known, n=3)]))


@fact
def attributes_of(source: Source, owner: ast.ClassDef) -> set[str]:
    """Methods and attributes that a class defines or assigns through `self`."""
    methods = {each.name for each in source.walk(owner) if isinstance(each, FunctionNode)}
    stored = {each.attr for each in source.nodes(owner, ast.Attribute) if not is_read(each) and is_self(each.value)}
    assigned = [target for each in owner.body if isinstance(each, ast.Assign) for target in each.targets]
    assigned += [each.target for each in owner.body if isinstance(each, ast.AnnAssign)]
    return methods | stored | {each.id for each in assigned if isinstance(each, ast.Name)}


def attribute_replaced(context: Context, node: ast.Attribute) -> Iterator[Proposal]:
    """`self.a` → `self.b` for the attributes that the class assigns; `x.a` → `x.b` if only one class has an `a`."""
    source = context.source
    owner = source.enclosing_class(node) if is_self(node.value) else _only_owners(source).get(node.attr)
    if owner is None:
        return
    known = _fields(source, owner)
    if is_called(source.parent(node), node):
        known = [each.name for each in owner.body if isinstance(each, ast.FunctionDef)]
    others = [name for name in dict.fromkeys(known) if name != node.attr]
    plain = [each for each in others if not each.startswith("__")]
    for name in nearest(source, node, node.attr, plain, _MOST)[:_MOST]:
        yield context.attribute(node, name, weight=max(1, len(others)) ** -0.25)


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
    stored = (each for each in source.nodes(owner, ast.Attribute) if isinstance(each.ctx, ast.Store))
    found = [each.attr for each in stored if isinstance(each.value, ast.Name)]
    declared = (each.target for each in owner.body if isinstance(each, ast.AnnAssign))
    found += [each.id for each in declared if isinstance(each, ast.Name)]
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    return found + [
        each.name for each in methods if any("property" in source.code(mark) for mark in each.decorator_list)
    ]
