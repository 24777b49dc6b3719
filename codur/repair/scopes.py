"""Which names a place in a file can use."""

from __future__ import annotations

import ast
import builtins

from codur.repair.source import FunctionNode, Source

Place = tuple[int, int]
"""Line and column."""

BUILTINS = frozenset(dir(builtins))


class Scopes:
    """The names of a file, by function. Class bodies count as part of what encloses them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bound: dict[ast.AST, dict[str, Place]] = {}
        self._assigned_in_loops: dict[ast.AST, frozenset[str]] = {}
        self._named = _named(source.tree)

    def variables(self, node: ast.AST) -> tuple[str, ...]:
        """Variables that hold a value when `node` runs, the function's own ones first, in order of first assignment."""
        function = self._source.function(node)
        found = dict.fromkeys(self._earlier(node, function)) if function else {}
        if function is None:
            found |= dict.fromkeys(self._earlier(node, self._source.tree))
        return tuple(found)

    def visible(self, node: ast.AST) -> tuple[str, ...]:
        """Every name that can be used at `node`, built-in ones left out."""
        found: dict[str, None] = {}
        for scope in (node, *self._source.ancestors(node)):
            if isinstance(scope, FunctionNode | ast.Module):
                found |= dict.fromkeys(self._names(scope))
        return tuple(found | dict.fromkeys(self._named))

    def _names(self, scope: FunctionNode | ast.Module) -> dict[str, Place]:
        """Names that a scope binds, with the place of the first binding."""
        if scope not in self._bound:
            self._bound[scope] = _bound(scope)
        return self._bound[scope]

    def _earlier(self, node: ast.AST, scope: FunctionNode | ast.Module) -> list[str]:
        statement = self._source.statement(node)
        here = (statement.lineno, statement.col_offset) if statement else (0, 0)
        looped = self._looped(node)
        return [name for name, first in self._names(scope).items() if first < here or name in looped]

    def _looped(self, node: ast.AST) -> frozenset[str]:
        """Names assigned in the outermost loop around the node: they may hold a value from an earlier round."""
        loops: list[ast.AST] = []
        for above in self._source.ancestors(node):
            if isinstance(above, FunctionNode):
                break
            if isinstance(above, ast.For | ast.AsyncFor | ast.While):
                loops.append(above)
        if not loops:
            return frozenset()
        outermost = loops[-1]
        if outermost not in self._assigned_in_loops:
            self._assigned_in_loops[outermost] = frozenset(
                each.id
                for each in ast.walk(outermost)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            )
        return self._assigned_in_loops[outermost]


def _bound(scope: FunctionNode | ast.Module) -> dict[str, Place]:
    places: dict[str, Place] = {}
    if isinstance(scope, FunctionNode):
        arguments = scope.args
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if argument is not None and argument.arg not in ("self", "cls"):
                places[argument.arg] = (0, 0)
    for name in _own_names(scope):
        here = (name.lineno, name.col_offset)
        places[name.id] = min(here, places.get(name.id, here))
    return places


def _own_names(scope: FunctionNode | ast.Module) -> list[ast.Name]:
    """Names assigned in the scope itself, not in functions, classes or comprehensions inside it."""
    inner = (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
    )
    found: list[ast.Name] = []
    queue: list[ast.AST] = list(scope.body)
    while queue:
        node = queue.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node)
        if not isinstance(node, inner):
            queue = [*ast.iter_child_nodes(node), *queue]
    return found


def _named(tree: ast.Module) -> tuple[str, ...]:
    """Functions, classes and imports of the module."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode | ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name.split(".")[0]): None for alias in node.names}
    return tuple(found)
