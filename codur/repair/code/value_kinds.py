"""What kind of value an expression has, where its text or the traced run shows it: saves changes that only crash."""

import ast
from typing import Literal, cast, get_args

from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.evidence.observed_values import Observed

Kind = Literal["number", "bool", "text", "list", "dict", "set"]

_KNOWN_CALLS: dict[Kind, str] = {
    "number": "len int float abs round ord sum",
    "text": "str input chr repr bin hex",
    "list": "list sorted tuple",
    "dict": "dict",
    "set": "set",
    "bool": "bool isinstance any all",
}
_KNOWN_METHODS: dict[Kind, str] = {
    "number": "count find rfind bit_length",
    "text": "strip lstrip rstrip lower upper join replace title format",
    "bool": "startswith endswith isdigit isalpha isalnum",
    "list": "split splitlines",
}
_CALLS = {name: kind for kind, names in _KNOWN_CALLS.items() for name in names.split()}
_METHODS = {name: kind for kind, names in _KNOWN_METHODS.items() for name in names.split()}
_ANNOTATIONS: dict[str, Kind] = {
    "int": "number",
    "float": "number",
    "str": "text",
    "bool": "bool",
    "list": "list",
    "List": "list",
    "tuple": "list",
    "Tuple": "list",
    "dict": "dict",
    "Dict": "dict",
    "set": "set",
    "Set": "set",
}
_LITERALS: tuple[tuple[type | tuple[type, ...], Kind], ...] = (
    ((ast.List, ast.ListComp, ast.Tuple), "list"),
    ((ast.Dict, ast.DictComp), "dict"),
    ((ast.Set, ast.SetComp), "set"),
    (ast.JoinedStr, "text"),
    (ast.Compare, "bool"),
)


class Kinds:
    """Kinds of the expressions of one file.

    A variable has a kind if all its assignments in its function agree, or else all values that it was seen to hold.
    """

    def __init__(self, source: Source, observed: Observed | None = None) -> None:
        self._source = source
        self._observed = observed or Observed()
        self._names: dict[tuple[ast.AST, str], Kind | None] = {}

    def of(self, node: ast.expr) -> Kind | None:
        """The kind of an expression; None if it is not plain to see."""
        for types, kind in _LITERALS:
            if isinstance(node, types):
                return kind
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return self.named(node, node.id)
        if isinstance(node, ast.Call):
            return _call(node)
        if isinstance(node, ast.Subscript):
            value = self.of(node.value)
            return value if isinstance(node.slice, ast.Slice) or value == "text" else None
        return self._operation(node)

    def _operation(self, node: ast.expr) -> Kind | None:
        if isinstance(node, ast.UnaryOp):
            return "bool" if isinstance(node.op, ast.Not) else "number"
        if not isinstance(node, ast.BinOp):
            return None
        kinds = {self.of(node.left), self.of(node.right)}
        if isinstance(node.op, ast.Add | ast.Mult | ast.Mod) and "text" in kinds:
            return "text"
        if isinstance(node.op, ast.Add | ast.Mult) and "list" in kinds:
            return "list"
        if isinstance(node.op, ast.Mult | ast.Mod):
            return "number" if kinds == {"number"} else None
        return "number" if "number" in kinds else None

    def named(self, node: ast.AST, name: str) -> Kind | None:
        """The kind of a variable where `node` stands."""
        scope = self._source.function(node) or self._source.tree
        key = (scope, name)
        if key not in self._names:
            self._names[key] = None  # an assignment that refers to itself tells nothing
            found = [self._value(binding, name) for binding in _bindings(self._source, scope).get(name, ())]
            agreed = found[0] if found and all(each == found[0] for each in found) else None
            self._names[key] = agreed or self._seen(scope, name)
        return self._names[key]

    def _seen(self, scope: FunctionNode | ast.Module, name: str) -> Kind | None:
        """The kind of the values that a variable held in the traced run; None if they differ."""
        first, last = (1, len(self._source.lines)) if isinstance(scope, ast.Module) else lines_of(scope)
        kinds = self._observed.kinds(name, first, last)
        only = next(iter(kinds)) if len(kinds) == 1 else ""
        return cast(Kind, only) if only in get_args(Kind) else None

    def _value(self, binding: ast.AST, name: str) -> Kind | None:
        """The kind of what a binding gives to a name."""
        if isinstance(binding, ast.arg):
            return _annotation(binding.annotation) if binding.annotation else None
        if isinstance(binding, ast.AnnAssign):
            return _annotation(binding.annotation)
        if isinstance(binding, ast.Assign):
            return self.of(binding.value) if any(_binds(target, name) for target in binding.targets) else None
        return self._item(binding, name) if isinstance(binding, ast.For | ast.comprehension) else None

    def _item(self, node: ast.For | ast.comprehension, name: str) -> Kind | None:
        """The kind of a loop's variable."""
        called = node.iter.func.id if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) else ""
        if _binds(node.target, name):
            return "number" if called == "range" else "text" if self.of(node.iter) == "text" else None
        first = node.target.elts[0] if isinstance(node.target, ast.Tuple) and node.target.elts else None
        return "number" if called == "enumerate" and first is not None and _binds(first, name) else None


@fact
def _bindings(source: Source, scope: FunctionNode | ast.Module) -> dict[str, list[ast.AST]]:
    """What binds each name of a scope: parameters, assignments, loops and the like."""
    found: dict[str, list[ast.AST]] = {each.arg: [each] for each in _parameters(scope)}
    for node in source.walk(scope):
        for name in dict.fromkeys(each for target in _targets(node) for each in _stored(target)):
            found.setdefault(name, []).append(node)
    return found


def lines_of(scope: FunctionNode) -> tuple[int, int]:
    """The first and the last line of a function."""
    return scope.lineno, scope.end_lineno or scope.lineno


def _binds(target: ast.AST, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _targets(node: ast.AST) -> list[ast.expr]:
    """Where a node stores a value."""
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, ast.AnnAssign | ast.For | ast.AsyncFor | ast.comprehension | ast.NamedExpr):
        return [node.target]
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        return [node.optional_vars]
    return []


def _stored(target: ast.expr) -> list[str]:
    return [each.id for each in ast.walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _parameters(scope: FunctionNode | ast.Module) -> list[ast.arg]:
    if isinstance(scope, ast.Module):
        return []
    return [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]


def _annotation(node: ast.expr) -> Kind | None:
    name = node.value if isinstance(node, ast.Subscript) else node
    return _ANNOTATIONS.get(name.id) if isinstance(name, ast.Name) else None


def _constant(value: object) -> Kind | None:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float | complex):
        return "number"
    return "text" if isinstance(value, str | bytes) else None


def _call(node: ast.Call) -> Kind | None:
    if isinstance(node.func, ast.Name):
        return _CALLS.get(node.func.id)
    return _METHODS.get(node.func.attr) if isinstance(node.func, ast.Attribute) else None
