"""A Python file as text and tree at once: where a node stands in the text, what surrounds it, which names it sees."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property
from types import CodeType

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Scope = FunctionNode | ast.Lambda | ast.Module

_WITH_BODY = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python's parser raises: bad syntax, NUL characters, nesting too deep."""


def compiles(text: str, path: str) -> bool:
    """Whether Python compiles the text; its warnings are not shown."""
    return compiled(text, path) is not None


def compiled(text: str, path: str) -> CodeType | None:
    """The text's code; None if it does not compile. Warnings are not shown."""
    try:
        return _compile(text, path)
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


def _compile(text: str, path: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text, path, "exec", dont_inherit=True)


def parse_source(path: str, text: str) -> Source | None:
    """The file as a `Source`; None if it does not compile."""
    if not compiles(text, path):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Source(path, text, ast.parse(text))


class Source:
    """A file's text with its tree. The text has `\\n` line ends only."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree

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
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: parent for parent in ast.walk(self.tree) for child in ast.iter_child_nodes(parent)}

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses the node, the nearest first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The nearest statement that the node is (part of)."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.ancestors(node) if isinstance(above, ast.stmt)), None)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function that the node stands in; None at module or class level."""
        return next((above for above in self.ancestors(node) if isinstance(above, FunctionNode)), None)

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

    def trusted(self, node: ast.expr) -> bool:
        """Whether the text at the node's place is the node: inside f-strings older Pythons give wrong places."""
        if not any(isinstance(above, ast.JoinedStr) for above in self.ancestors(node)):
            return True
        try:
            found = ast.parse(f"({self.code(node)})", mode="eval").body
        except FAULTS:
            return False
        return ast.dump(found) == ast.dump(node)
