"""What the rules need to know of one version of a file: its literals and its printing statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from codur.checks.canned import canned_syntax
from codur.checks.canned.wording import as_text, lines_of
from codur.python.project_files import called_name
from codur.structs import Struct

MAX_STEPS = 200_000
"""Expressions that are evaluated for one program; the rest counts as computed."""

MAX_FOLDED_CHARS = 100_000

_WRITERS = frozenset({"print", "write", "writelines", "echo"})
_TEXT_METHODS = frozenset({"join", "strip", "split", "splitlines"})


class Literal(Struct, kw_only=False):
    """A constant and the branch it stands in (None: always reached)."""

    value: object
    branch: int | None = None

    @property
    def lines(self) -> list[str]:
        return lines_of(as_text(self.value))


class Site(Struct, kw_only=False):
    """A statement that prints: `text` is what it always prints (None: a computed text), `source` its arguments, and
    `is_spelled` tells that there are constants among them."""

    text: str | None
    source: str
    branch: int | None
    is_spelled: bool


class Program(Struct):
    """One version of a file; `broken` is its text if it does not parse."""

    tree: ast.Module | None = None
    broken: str = ""
    literals: Sequence[Literal] = ()
    sites: Sequence[Site] = ()

    @property
    def has_code(self) -> bool:
        return bool(self.broken.strip()) or (self.tree is not None and canned_syntax.has_code(self.tree))


Changes = Mapping[str, tuple[Program, Program]]
"""Path → the program before and after the change."""


def read(source: bytes | None) -> Program:
    if source is None:
        return Program()
    tree = canned_syntax.parse(source)
    if tree is None:
        text = source.decode("utf-8", "replace")
        # Whatever could be a text in it: its words were there before, and repairing the file must not count as spelling
        # them out.
        return Program(broken=text, literals=[Literal(part) for part in re.split(r"[\"'\n]", text)])
    reader = _Reader(tree)
    reader.block(tree.body, None)
    return Program(tree=tree, literals=reader.literals, sites=reader.sites)


class _Reader:
    """Walks a tree and notes for each literal and printing statement in which branch it stands."""

    def __init__(self, tree: ast.Module) -> None:
        self.literals: list[Literal] = []
        self.sites: list[Site] = []
        self._folder = _Folder(tree)
        self._branches = count()
        self._tables = _picked_from(tree)

    def block(self, statements: Sequence[ast.stmt], branch: int | None) -> None:
        for statement in statements:
            if not canned_syntax.is_text(statement):
                self._node(statement, branch)
            if not isinstance(statement, ast.If) or _is_always(statement.test):
                continue
            last = statement.body[-1]
            if isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break) or "exit(" in ast.unparse(last):
                branch = next(self._branches)  # what follows is the other branch

    def _node(self, node: ast.AST, branch: int | None) -> None:
        if isinstance(node, ast.Constant):
            self.literals.append(Literal(node.value, branch))
        if isinstance(node, ast.Call) and called_name(node) in _WRITERS:
            has_constants = any(isinstance(part, ast.Constant) for item in node.args for part in ast.walk(item))
            source = ", ".join(map(ast.unparse, node.args))
            self.sites.append(Site(self._folder.printed(node), source, branch, has_constants))
        picks = isinstance(node, ast.Dict) or id(node) in self._tables
        for name, value in ast.iter_fields(node):
            # Where a text stands matters: a word that a condition chooses is no canned output.
            inner = next(self._branches) if _opens_branch(node, name) else branch
            children = value if isinstance(value, list) else [value]
            if children and isinstance(children[0], ast.stmt):
                self.block(children, inner)
                continue
            for child in children:
                if isinstance(child, ast.AST):
                    self._node(child, next(self._branches) if picks else inner)


def _opens_branch(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.If | ast.IfExp):
        return name != "test" and not (name == "body" and _is_always(node.test))
    return isinstance(node, ast.ExceptHandler | ast.match_case) or (name == "orelse" and hasattr(node, "body"))


def _is_always(test: ast.expr) -> bool:
    """Is it a condition that selects nothing: a constant, or the guard of a script?"""
    return isinstance(test, ast.Constant) or "__name__" in ast.unparse(test)


def _picked_from(tree: ast.Module) -> set[int]:
    """Ids of list and tuple literals from which the program picks single elements."""
    names = canned_syntax.bound_once(tree)
    look_ups = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    tables = [node.value for node in look_ups if not isinstance(node.slice, ast.Slice | ast.Constant)]
    return {id(names.get(table.id) if isinstance(table, ast.Name) else table) for table in tables}


# --- values of expressions that are composed of literals only ---------------------------------------------------------


class _Unknown(Exception):
    """The value of an expression is not known without running the program."""


_NOT_FOLDED = (_Unknown, TypeError, ValueError, LookupError, AttributeError, MemoryError)
"""What evaluating literals of the user's program can end in; they need not fit each other."""


class _Folder:
    """Follows constants through a program. Arithmetic and formats with widths count as computing."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = canned_syntax.bound_once(tree)
        self._loops = canned_syntax.bound_once(tree, by_loop=True)
        self._results = {
            item.name: canned_syntax.constant_return(item) for item in canned_syntax.functions(tree).values()
        }
        self._steps_left = MAX_STEPS
        self._open: set[str] = set()

    def printed(self, call: ast.Call) -> str | None:
        """What a `print` or `write` always prints, without the line end; None if that varies."""
        try:
            values: list[Any] = []
            for item in call.args:
                values += self._value(item.value) if isinstance(item, ast.Starred) else [self._value(item)]
            separator = next((self._value(item.value) for item in call.keywords if item.arg == "sep"), " ")
            if called_name(call) == "writelines":
                separator, values = "", list(values[0])
            return str(separator).join(map(as_text, values)).strip()
        except _NOT_FOLDED:
            return None

    def _value(self, node: ast.expr) -> Any:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _Unknown
        value = self._folded(node)
        if isinstance(value, str | bytes | list) and len(value) > MAX_FOLDED_CHARS:
            raise _Unknown
        return value

    def _folded(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.UnaryOp(op=ast.USub()):
                return -self._value(node.operand)
            case ast.List() | ast.Tuple():
                values = [self._value(item) for item in node.elts]
                return values if isinstance(node, ast.List) else tuple(values)
            case ast.JoinedStr():
                return "".join(as_text(self._value(item)) for item in node.values)
            case ast.FormattedValue(conversion=-1, format_spec=None):
                return self._value(node.value)
            case ast.BinOp(op=ast.Add()):
                return "".join([self._value(node.left), self._value(node.right)])
            case ast.Name():
                return self._named(node.id)
            case ast.Call(keywords=[]):
                return self._called(node)
        raise _Unknown

    def _named(self, name: str) -> Any:
        """The value a name is bound to; a loop's name stands for all elements, one a line."""
        source = self._loops.get(name, self._names.get(name))
        if source is None or name in self._open:  # a name may stand for itself, by way of others
            raise _Unknown
        self._open.add(name)
        try:
            value = self._value(source)
        finally:
            self._open.remove(name)
        return "\n".join(map(as_text, value)) if name in self._loops else value

    def _called(self, call: ast.Call) -> Any:
        name = called_name(call)
        if result := self._results.get(name):
            return self._value(result)
        if name == "map" and ast.unparse(call.args[0]) == "str":
            return list(map(str, self._value(call.args[1])))
        values = [self._value(item) for item in call.args]
        if name in {"str", "dedent"}:
            return as_text(values[0])
        if name not in _TEXT_METHODS or not isinstance(call.func, ast.Attribute):
            raise _Unknown
        owner = self._value(call.func.value)
        # Looked at beforehand: the program's own words must not fill our memory.
        if name == "join" and len(owner) * len(values[0]) > MAX_FOLDED_CHARS:
            raise _Unknown
        return getattr(owner, name)(*values)
