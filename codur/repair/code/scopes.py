"""Which names a place in a file can use."""

import ast
import builtins
from collections.abc import Sequence
from functools import lru_cache

from codur.lazy import regex
from codur.repair.code.source_file import FunctionNode, Source, fact

_FEW = 20
_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
Place = tuple[int, int]
"""Line and column."""

BUILTINS = frozenset(dir(builtins))


class Scopes:
    """The names of a file, by function. Class bodies count as part of what encloses them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bound: dict[ast.AST, dict[str, Place]] = {}
        self._variables: dict[tuple[ast.AST | None, ast.AST | None, ast.AST | None], tuple[str, ...]] = {}

    def variables(self, node: ast.AST) -> tuple[str, ...]:
        """Variables that hold a value when `node` runs, the function's own ones first, in order of first assignment."""
        function, statement, loop = self._source.function(node), self._source.statement(node), self._loop(node)
        key = (function, statement, loop)
        if key not in self._variables:
            here = (statement.lineno, statement.col_offset) if statement else (0, 0)
            looped = self._source.stored(loop) if loop else ()
            names = self._names(function or self._source.tree)
            self._variables[key] = tuple(name for name, first in names.items() if first < here or name in looped)
        return self._variables[key]

    def visible(self, node: ast.AST) -> tuple[str, ...]:
        """Every name that can be used at `node`, built-in ones left out."""
        found: dict[str, None] = {}
        for scope in (node, *self._source.ancestors(node)):
            if isinstance(scope, FunctionNode | ast.Module):
                found |= dict.fromkeys(self._names(scope))
        return tuple(found | dict.fromkeys(declared(self._source)))

    def _names(self, scope: FunctionNode | ast.Module) -> dict[str, Place]:
        """Names that a scope binds, with the place of the first binding."""
        if scope not in self._bound:
            self._bound[scope] = _bound(self._source, scope)
        return self._bound[scope]

    def _loop(self, node: ast.AST) -> ast.AST | None:
        """The outermost loop of the function around the node: what it assigns may be there from an earlier round."""
        outermost = None
        for above in self._source.ancestors(node):
            if isinstance(above, FunctionNode):
                break
            if isinstance(above, ast.For | ast.AsyncFor | ast.While):
                outermost = above
        return outermost


def _bound(source: Source, scope: FunctionNode | ast.Module) -> dict[str, Place]:
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
    for name in _own_names(source, scope):
        here = (name.lineno, name.col_offset)
        places[name.id] = min(here, places.get(name.id, here))
    return places


def _own_names(source: Source, scope: FunctionNode | ast.Module) -> list[ast.Name]:
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
    stack: list[ast.AST] = list(reversed(scope.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node)
        if not isinstance(node, inner):
            stack += reversed(source.children(node))
    return found


@fact
def declared(source: Source) -> tuple[str, ...]:
    """Functions, classes and imports of the module."""
    found: dict[str, None] = {}
    for node in source.walk(source.tree):
        if isinstance(node, FunctionNode | ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name.split(".")[0]): None for alias in node.names}
    return tuple(found)


def nearest(source: Source, node: ast.AST, name: str, others: Sequence[str], most: int) -> list[str]:
    """Names for the place of another one: few as they are; of many, as in a large module, the likeliest.

    These are used in the same function, else in the same class, or share a word with the name.
    """
    if len(others) <= _FEW:
        return list(others)
    function, owner = source.function(node), source.enclosing_class(node)
    near = _mentioned(source, function) if function else frozenset()
    close = _mentioned(source, owner) if owner else frozenset()
    own = words(name)

    def likely(other: str) -> int:
        return 2 * (other in near) + (other in close) + (not own.isdisjoint(words(other)))

    return sorted(others, key=likely, reverse=True)[:most]


@fact
def _mentioned(source: Source, scope: ast.AST) -> frozenset[str]:
    """Names and attributes that a scope uses."""
    return source.names(scope) | {each.attr for each in source.nodes(scope, ast.Attribute)}


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The words of a name in small letters: `_BaseName` and `base_name` have the same."""
    return frozenset(word.lower() for word in _WORD.findall(name))
