"""Values of expressions that are composed of literals only."""

import ast
from typing import Any

from codur.checks.canned import canned_syntax
from codur.checks.canned.wording import as_text

MAX_STEPS = 200_000
"""Expressions that are evaluated for one program; the rest counts as computed."""

MAX_FOLDED_CHARS = 100_000

_TEXT_METHODS = frozenset({"join", "strip", "split", "splitlines"})


class _Unknown(Exception):
    """The value of an expression is not known without running the program."""


_NOT_FOLDED = (_Unknown, TypeError, ValueError, LookupError, AttributeError, MemoryError)
"""What evaluating literals of the user's program can end in; they need not fit each other."""


class Folder:
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
            if canned_syntax.called(call) == "writelines":
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
        name = canned_syntax.called(call)
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
