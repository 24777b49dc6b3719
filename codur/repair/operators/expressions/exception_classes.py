"""Operators on the classes that a test or an `except` asks for: one more, or another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import BUILTINS, words
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact

_MOST = 5
_GENERAL = frozenset({"error", "exception", "warning", "base", "type"})
"""Words that say nothing of what a class is about."""
_TESTS = ("isinstance", "issubclass")
_PAIRS = (
    ("str", "bytes"),
    ("int", "float"),
    ("list", "tuple"),
    ("set", "frozenset"),
    ("bytes", "bytearray"),
    ("dict", "Mapping"),
    ("KeyError", "IndexError"),
    ("KeyError", "AttributeError"),
    ("ValueError", "TypeError"),
    ("ValueError", "KeyError"),
    ("TypeError", "AttributeError"),
    ("ImportError", "AttributeError"),
)
Asked = ast.Name | ast.Attribute | ast.Tuple


def class_added(context: Context, node: Asked) -> Iterator[Proposal]:
    """`isinstance(a, B)` → `isinstance(a, (B, C))`, `except B` → `except (B, C)`; a tuple of them gets one more."""
    if not _asked(context.source, node):
        return
    for name, weight in _others(context, node):
        text = f"({context.code(node)}, {name})"
        if isinstance(node, ast.Tuple):
            end = context.source.span(node.elts[-1])[1]
            text = f"{context.source.text[context.source.span(node)[0] : end]}, {name})"
        yield Proposal(edits=(context.edit(node, text),), says=f"should ask for `{name}` too", weight=weight)


def class_replaced(context: Context, node: Asked) -> Iterator[Proposal]:
    """`isinstance(a, B)` → `isinstance(a, C)`, `except B` → `except C`; `(B, C)` → `B`, `C`."""
    if not _asked(context.source, node):
        return
    if isinstance(node, ast.Tuple):
        others = [(context.code(each), 1.0) for each in node.elts] if len(node.elts) == 2 else []
    else:
        bases = _families(context.source).get(context.code(node), ())
        others = [*((base, 1.0) for base in bases), *_others(context, node)]
    for name, weight in others:
        yield Proposal(edits=(context.edit(node, name),), says=f"should ask for `{name}`", weight=weight)


def _asked(source: Source, node: Asked) -> bool:
    """Whether the node is what a test or an `except` asks for, and if a tuple, then one in brackets."""
    if isinstance(node, ast.Tuple) and (not node.elts or not source.code(node).startswith("(")):
        return False
    return _caught(source, node) or _tested(source, node)


def _caught(source: Source, node: ast.expr) -> bool:
    parent = source.parent(node)
    return isinstance(parent, ast.ExceptHandler) and parent.type is node


def _tested(source: Source, node: ast.expr) -> bool:
    parent = source.parent(node)
    return isinstance(parent, ast.Call) and _tests(parent) and parent.args[1] is node


def _tests(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in _TESTS and len(node.args) == 2


def _others(context: Context, node: Asked) -> list[tuple[str, float]]:
    """Classes that may be asked for too, with their weights, the likely ones first."""
    present = [context.code(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]
    weights: dict[str, float] = {}
    for name, weight in _likely(context, present, caught=_caught(context.source, node)):
        if name not in present:
            weights[name] = max(weight, weights.get(name, 0.0))
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])[:_MOST]
    return [(name, weight * 0.9**rank) for rank, (name, weight) in enumerate(ranked)]


def _likely(context: Context, present: list[str], *, caught: bool) -> Iterator[tuple[str, float]]:
    source = context.source
    families, asked = _families(source), _asked_for(source)

    def related(name: str) -> bool:
        return any(_related(source, name, each) for each in present)

    for first, second in (pair for one, other in _PAIRS for pair in ((one, other), (other, one))):
        if first in present and (second in BUILTINS or second in asked):
            yield second, 0.8
    for raised in context.failure.raised if caught else ():
        if raised.kind in BUILTINS or raised.kind in families:
            yield raised.kind, 1.5
    yield from ((name, 1.0 if related(name) else 0.5) for name in asked if _is_exception(name) == caught)
    yield from ((name, 0.7) for name in families if related(name))


def _is_exception(name: str) -> bool:
    return name.endswith(("Error", "Exception", "Warning", "Iteration", "Exit", "Interrupt"))


def _related(source: Source, one: str, other: str) -> bool:
    """Whether two classes share a base or a word of their names."""
    families = _families(source)
    if not set(families.get(one, ())).isdisjoint(families.get(other, ())):
        return True
    return not (words(one.rpartition(".")[2]) & words(other.rpartition(".")[2])) <= _GENERAL


@fact
def _families(source: Source) -> dict[str, tuple[str, ...]]:
    """The classes of a file and their bases."""
    return {
        each.name: tuple(source.code(base) for base in each.bases if source.code(base) not in ("object", "Exception"))
        for each in source.nodes(source.tree, ast.ClassDef)
    }


@fact
def _asked_for(source: Source) -> tuple[str, ...]:
    """The classes that the tests and `except` of a file ask for, in the order of `ast.walk`."""
    asked = [each.args[1] for each in source.nodes(source.tree, ast.Call) if _tests(each)]
    asked += [each.type for each in source.nodes(source.tree, ast.ExceptHandler) if each.type is not None]
    singles = (one for each in asked for one in (each.elts if isinstance(each, ast.Tuple) else [each]))
    return tuple(dict.fromkeys(source.code(each) for each in singles if isinstance(each, ast.Name | ast.Attribute)))
