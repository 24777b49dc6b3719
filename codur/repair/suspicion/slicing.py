"""Backward data and control flow: which statements had a part in what a statement does.

A static slice after Weiser (1981), coarser than his: names are followed within a function (and its module), calls into
the functions of the file that they name, parameters to the calls of the function. What flows through attributes and
containers counts as the name in front. The weight falls with each step, for a long way blurs.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from codur.repair.code.node_shapes import called
from codur.repair.code.source_file import FunctionNode, Source

_PER_STEP = 0.85
_STEPS = 6
_LEAST = 0.3


class Slices:
    """The backward flow in one file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def before(self, lines: Iterable[int]) -> dict[int, float]:
        """Lines that had a part in what these lines do, each with a weight from 1 (the lines themselves) downwards."""
        found: dict[int, float] = {}
        wanted = frozenset(lines)
        present = [statement for statement in self._statements if statement.lineno in wanted]
        weight = 1.0
        seen = set(present)
        for _ in range(_STEPS):
            for statement in present:
                found.setdefault(statement.lineno, weight)
            weight = max(_LEAST, weight * _PER_STEP)
            following = [each for statement in present for each in self._sources_of(statement)]
            present = [each for each in dict.fromkeys(following) if each not in seen]
            seen.update(present)
        return found

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [node for node in self._source.walk(self._source.tree) if isinstance(node, ast.stmt)]

    @cached_property
    def _functions(self) -> dict[str, list[FunctionNode]]:
        found: dict[str, list[FunctionNode]] = {}
        for statement in self._statements:
            if isinstance(statement, FunctionNode):
                found.setdefault(statement.name, []).append(statement)
        return found

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self._source.walk(self._source.tree):
            if isinstance(node, ast.Call):
                found.setdefault(called(node), []).append(node)
        return found

    @cached_property
    def _writers(self) -> dict[tuple[ast.AST | None, str], list[ast.stmt]]:
        """Statements that bind or change a name, by function (None: the module) and name."""
        found: dict[tuple[ast.AST | None, str], list[ast.stmt]] = {}
        for statement in self._statements:
            for name in _written(statement):
                found.setdefault((self._source.function(statement), name), []).append(statement)
        return found

    def _sources_of(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Statements that one step of flow leads from."""
        function = self._source.function(statement)
        parameters = _parameters(function) if function is not None else frozenset[str]()
        for node in _head(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield from self._writers.get((function, node.id), ())
                yield from self._writers.get((None, node.id), ()) if function is not None else ()
                if function is not None and node.id in parameters:
                    yield from self._callers(function)
            elif isinstance(node, ast.Call):
                yield from self._returns(called(node))
        for above in self._source.ancestors(statement):
            if isinstance(above, ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.Try):
                yield above
            elif isinstance(above, FunctionNode):
                return

    def _callers(self, function: FunctionNode) -> Iterator[ast.stmt]:
        for call in self._calls.get(function.name, ()):
            statement = self._source.statement(call)
            if statement is not None:
                yield statement

    def _returns(self, name: str) -> Iterator[ast.stmt]:
        for function in self._functions.get(name, ()):
            for node in self._source.walk(function):
                if isinstance(node, ast.Return) or (
                    isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom)
                ):
                    yield node


def _parameters(function: FunctionNode) -> frozenset[str]:
    given = function.args
    return frozenset(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without those of the statements inside."""
    queue: list[ast.AST] = [statement]
    while queue:
        node = queue.pop()
        yield node
        queue += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]


def _written(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, or whose value it may change: targets, and what a method is called on."""
    for node in _head(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from _root(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(statement, ast.Expr):
            yield from _root(node.func)


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
