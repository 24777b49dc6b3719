"""A Python file as text and tree at once: where a node stands in the text, what surrounds it, which names it sees."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, wraps
from types import CodeType
from typing import Any, Concatenate, ParamSpec, TypeVar

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_Node = TypeVar("_Node", bound=ast.AST)
_Given = ParamSpec("_Given")
_Fact = TypeVar("_Fact")

_LARGE = 1_000
"""Files of more lines are large: what stands outside functions has its own statement for a scope, not the module."""
_MARKS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
"""Nodes without a place; trees share them."""
_WITH_BODY = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python's parser raises: bad syntax, NUL characters, nesting too deep."""


def compiles(text: str, path: str) -> bool:
    """Whether Python compiles the text; its warnings are not shown."""
    return compiled(text, path) is not None


def compiled(text: str, path: str, flags: int = 0) -> CodeType | None:
    """The text's code; None if it does not compile. Warnings are not shown. `flags`: of `__future__`."""
    try:
        return _compile(text, path, flags)
    except FAULTS:
        return None


def syntax_fault(text: str, path: str) -> SyntaxError | None:
    """The error that Python's compiler reports first; None if it compiles (or fails in another way)."""
    try:
        _compile(text, path)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _compile(text: str, path: str, flags: int = 0) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: CodeType = compile(text, path, "exec", flags=flags, dont_inherit=True)
        return code


@lru_cache(maxsize=8)
def parse_source(path: str, text: str) -> Source | None:
    """The file as a `Source`, the same one for the same text as long as it is in use; None if it does not compile."""
    if not compiles(text, path):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Source(path, text, ast.parse(text))


def fact(compute: Callable[Concatenate[Source, _Given], _Fact]) -> Callable[Concatenate[Source, _Given], _Fact]:
    """What a pure function of a source, and of nodes in it, gives: worked out once, kept as long as the source."""

    @wraps(compute)
    def kept(source: Source, /, *nodes: _Given.args, **none: _Given.kwargs) -> _Fact:
        key = (compute, *nodes)
        if key not in source.facts:
            source.facts[key] = compute(source, *nodes, **none)
        found: _Fact = source.facts[key]
        return found

    return kept


class Source:
    """A file's text with its tree. The text has `\\n` line ends only.

    Attributes:
        facts: what functions marked as `fact` gave, by function and nodes.
    """

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.facts: dict[tuple[object, ...], Any] = {}

    # --- text ---------------------------------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def line_start(self, line: int) -> int:
        """Offset of the first character of a 1-based line."""
        return self._starts[line - 1]

    def line_end(self, line: int) -> int:
        """Offset just behind the last character of a line, its line end left out."""
        return self._starts[line - 1] + len(self.lines[line - 1])

    def _offset(self, line: int, column: int) -> int:
        """Offset of a place that `ast` gives: its columns count UTF-8 bytes."""
        text = self.lines[line - 1]
        if text.isascii():
            return self.line_start(line) + column
        return self.line_start(line) + len(text.encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> tuple[int, int]:
        """Start and end offset of a node; parentheses around it are outside."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def code(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
        """The node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, statement: ast.stmt) -> str | None:
        """White space before a statement; None if something else stands before it on its line."""
        before = self.text[self.line_start(statement.lineno) : self.span(statement)[0]]
        return None if before.strip() else before

    def is_elif(self, statement: ast.stmt) -> bool:
        return self.lines[statement.lineno - 1].lstrip().startswith("elif")

    @cached_property
    def indent_unit(self) -> str:
        """One level of indentation, as the file has it."""
        for node in ast.walk(self.tree):
            if not isinstance(node, _WITH_BODY):
                continue
            outside, inside = self.indent(node), self.indent(node.body[0])
            if inside and outside is not None and inside.startswith(outside):
                return inside[len(outside) :]
        return "    "

    # --- tree ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _family(self) -> tuple[dict[ast.AST, ast.AST], dict[ast.AST, list[ast.AST]]]:
        """The parent of each node, and its children."""
        parents: dict[ast.AST, ast.AST] = {}
        children: dict[ast.AST, list[ast.AST]] = {}
        queue: list[ast.AST] = [self.tree]
        while queue:
            node = queue.pop()
            below = [each for each in ast.iter_child_nodes(node) if not isinstance(each, _MARKS)]
            if below:
                children[node] = below
                parents.update(dict.fromkeys(below, node))
                queue += below
        return parents, children

    @fact
    def walk(self, top: ast.AST) -> tuple[ast.AST, ...]:
        """The node and all nodes below it, in the order of `ast.walk`."""
        found = [top]
        for node in found:
            found += self.children(node)
        return tuple(found)

    @fact
    def nodes(self, top: ast.AST, *kinds: type[_Node]) -> tuple[_Node, ...]:
        """Those of these types among the node and all below it, in the order of `ast.walk`."""
        return tuple(each for each in self.walk(top) if isinstance(each, kinds))

    @fact
    def within(self, top: ast.AST) -> frozenset[ast.AST]:
        """The node and all nodes below it."""
        return frozenset(self.walk(top))

    @fact
    def functions(self) -> tuple[FunctionNode, ...]:
        """All functions and methods, in the order of `ast.walk`."""
        return self.nodes(self.tree, ast.FunctionDef, ast.AsyncFunctionDef)

    @fact
    def names(self, top: ast.AST | None) -> frozenset[str]:
        """The names that are read or set at the node and below it."""
        return frozenset(each.id for each in self.nodes(top, ast.Name)) if top else frozenset()

    @fact
    def stored(self, top: ast.AST) -> tuple[str, ...]:
        """The names that are given a value at a node and below it, each once."""
        return tuple(dict.fromkeys(each.id for each in self.nodes(top, ast.Name) if isinstance(each.ctx, ast.Store)))

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._family[0].get(node)

    def children(self, node: ast.AST) -> list[ast.AST]:
        return self._family[1].get(node, [])

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses the node, the nearest first."""
        parents = self._family[0]
        above = parents.get(node)
        while above is not None:
            yield above
            above = parents.get(above)

    @fact
    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The nearest statement that the node is (part of)."""
        return next((each for each in (node, *self.ancestors(node)) if isinstance(each, ast.stmt)), None)

    @fact
    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function that the node stands in; None at module or class level."""
        above = self.parent(node)
        while above is not None and not isinstance(above, FunctionNode | ast.stmt):
            above = self.parent(above)
        return above if above is None or isinstance(above, FunctionNode) else self.function(above)

    def scope(self, node: ast.AST) -> ast.AST:
        """Where to look for what belongs with the node: its function, else the module.

        In a large module, where that is too much, the statement that stands at the level of the module or of a class.
        """
        function = self.function(node)
        if function is not None or len(self.lines) <= _LARGE:
            return function or self.tree
        below = node
        for above in self.ancestors(node):
            if isinstance(above, ast.ClassDef | ast.Module):
                return below
            below = above
        return below

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        return next((above for above in self.ancestors(node) if isinstance(above, ast.ClassDef)), None)

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a loop of the same function encloses the node."""
        for above in self.ancestors(node):
            if isinstance(above, ast.For | ast.AsyncFor | ast.While):
                return True
            if isinstance(above, FunctionNode | ast.ClassDef):
                return False
        return False

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that this one is an item of."""
        parent = self.parent(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def following(self, statement: ast.stmt) -> ast.stmt | None:
        """The next statement of the same block."""
        block = self.block(statement)
        return next(iter(block[block.index(statement) + 1 :]), None)

    def trusted(self, node: ast.expr) -> bool:
        """Whether the text at the node's place is the node: inside f-strings older Pythons give wrong places."""
        if node not in self._formatted():
            return True
        try:
            found = ast.parse(f"({self.code(node)})", mode="eval").body
        except FAULTS:
            return False
        return ast.dump(found) == ast.dump(node)

    @fact
    def _formatted(self) -> frozenset[ast.AST]:
        """What stands in f-strings."""
        return frozenset(each for text in self.nodes(self.tree, ast.JoinedStr) for each in self.walk(text)[1:])
