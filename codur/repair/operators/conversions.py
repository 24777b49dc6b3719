"""Operators for values of the wrong shape: nothing where something is needed, or a value that is not converted."""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from codur.lazy import regex
from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import COMPREHENSIONS, called, called_plainly, defaulted, is_read
from codur.repair.code.scopes import BUILTINS, declared
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.code.value_kinds import lines_of
from codur.repair.operators.subscripts import Value

Place = Literal["", "argument", "index", "assigned", "returned", "item", "iterated", "operand"]
_EMPTY = {"number": "0", "text": '""', "list": "[]", "dict": "{}", "set": "set()"}
_EMPTY_AT: dict[Place, tuple[str, ...]] = {"iterated": ("[]", "{}"), "index": ('""', "0"), "operand": ('""', "0", "[]")}
_ANY_EMPTY = ('""', "[]", "{}", "0")
_CONVERTED: dict[str | None, tuple[str, ...]] = {
    "number": ("str", "int", "float"),
    "text": ("int", "tuple"),
    "list": ("tuple", "list", "len"),
    "dict": ("list", "len"),
    "set": ("sorted", "list", "len"),
    None: ("str", "int", "tuple", "list"),
}
_ANNOTATED = ("bool", "int", "str", "float", "list", "tuple", "dict", "set", "frozenset", "bytes")
_PREDICATE = regex(r"_*(is|has|can|should|match|matches|contains|check|equals|startswith|endswith)(_|$)|__bool__")
_CONVERTERS = frozenset({"str", "int", "float", "bytes", "tuple", "list", "set", "dict", "frozenset", "sorted"})
_ASKING = ("isinstance", "issubclass", "hasattr", "getattr", "setattr", "super", "type", "callable", "bool", "print")
_MOST_CONVERTERS = 4
_PLACES: tuple[tuple[tuple[type[ast.AST], ...], str, Place], ...] = (
    ((ast.Subscript,), "slice", "index"),
    ((ast.Assign, ast.AnnAssign, ast.NamedExpr), "value", "assigned"),
    ((ast.For, ast.AsyncFor, ast.comprehension), "iter", "iterated"),
    ((ast.keyword,), "value", "argument"),
    ((ast.Return, ast.Yield), "value", "returned"),
    ((ast.List, ast.Tuple, ast.Set, ast.Dict, *COMPREHENSIONS), "", "item"),
    ((ast.BinOp, ast.AugAssign), "", "operand"),
)


def _place(source: Source, node: ast.expr) -> Place:
    """What a value that is read is used for; empty for a function, a class, a constant and what is used otherwise."""
    parent = source.parent(node)
    if not is_read(node) or (isinstance(node, ast.Name) and _is_fixed(source, node.id)):
        return ""
    if isinstance(parent, ast.Call):
        return "argument" if node is not parent.func and called_plainly(parent) not in _ASKING else ""
    for kinds, field, name in _PLACES:
        if isinstance(parent, kinds):
            return name if not field or getattr(parent, field) is node else ""
    return ""


def _is_fixed(source: Source, name: str) -> bool:
    return name in BUILTINS or name.isupper() or name in ("self", "cls") or name in declared(source)


def fallback_given(context: Context, node: Value) -> Iterator[Proposal]:
    """`a` → `a or ""`, `a or []`, `a or {}`, `a or 0` where None was seen, or is set in the function."""
    where, kind, weight = _place(context.source, node), context.kinds.of(node), _emptiness(context, node)
    if not where or kind == "bool" or not weight or isinstance(node, ast.Call):
        return
    quote = "'" if context.source.text.count("'") > context.source.text.count('"') else '"'
    for rank, text in enumerate((_EMPTY[kind],) if kind else _EMPTY_AT.get(where, _ANY_EMPTY)):
        default = text.replace('"', quote)
        says = f"needs a default: `{default}`"
        yield context.replace(node, f"{context.code(node)} or {default}", says=says, weight=weight * 0.8**rank)


def _emptiness(context: Context, node: ast.expr) -> float:
    """How likely it is that a value is None: 2.5 where it was seen, 0 where nothing hints at it."""
    source, function = context.source, context.source.function(node)
    if isinstance(node, ast.Name) and function and context.observed.none(node.id, *lines_of(function)):
        return 2.5
    if any("NoneType" in each.message for each in context.raised(node, "TypeError", "AttributeError")):
        return 2.0
    owner = source.enclosing_class(node) if isinstance(node, ast.Attribute) else None
    return 1.2 if source.code(node) in _cleared(source, owner or function or source.tree) else 0.0


@fact
def _cleared(source: Source, scope: ast.AST) -> frozenset[str]:
    """What a scope sets to None, as a default or in an assignment, or gets from a mapping without a default."""
    pairs = [(each.value, target) for each in source.nodes(scope, ast.Assign) for target in each.targets]
    got = {source.code(target) for value, target in pairs if _is_none(value) or _is_got(value)}
    defaults = defaulted(scope.args) if isinstance(scope, FunctionNode) else []
    return frozenset(got | {name.arg for name, value in defaults if _is_none(value)})


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_got(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "get" and len(node.args) == 1


def conversion_added(context: Context, node: Value) -> Iterator[Proposal]:
    """`a[b]` → `a[int(b)]`, `return a` → `return bool(a)`, and calls that convert other values of the function."""
    where, parent = _place(context.source, node), context.source.parent(node)
    found: dict[str, float] = {}
    if where in ("", "iterated", "operand"):
        return
    if where == "returned":
        found = _returned(context, node)
    elif where == "index":
        found = {"int": 1.0, "str": 0.6, "len": 0.3}
    elif isinstance(parent, COMPREHENSIONS):
        found = {name: 0.8 * 0.8**rank for rank, name in enumerate(_CONVERTED.get(context.kinds.of(node), ()))}
    for rank, name in enumerate(_converters(context.source, context.source.function(node))[:_MOST_CONVERTERS]):
        found[name] = max(1.2 * 0.85**rank, found.get(name, 0.0))
    around = {context.code(each.func) for each in (node, parent) if isinstance(each, ast.Call)}
    for name, weight in found.items():
        if name not in around:
            yield context.replace(node, f"{name}({context.code(node)})", says=f"needs `{name}`", weight=weight)


def _returned(context: Context, node: ast.expr) -> dict[str, float]:
    """Types that the function seems to return, by its annotation, its name and its other values."""
    function = context.source.function(node)
    if function is None or context.kinds.of(node) == "bool":
        return {}
    noted = function.returns.value if isinstance(function.returns, ast.Subscript) else function.returns
    if noted is not None:
        return {noted.id: 2.0} if isinstance(noted, ast.Name) and noted.id in _ANNOTATED else {}
    others = [each.value for each in context.source.nodes(function, ast.Return) if each.value is not node]
    truths = any(each is not None and context.kinds.of(each) == "bool" for each in others)
    return {"bool": 1.5 if truths or _PREDICATE.match(function.name) else 0.5}


@fact
def _converters(source: Source, function: FunctionNode | None) -> tuple[str, ...]:
    """What a function calls with one argument for a value, the most frequent first."""
    found: Counter[str] = Counter()
    for each in source.nodes(function, ast.Call) if function else ():
        if len(each.args) != 1 or each.keywords or isinstance(each.args[0], ast.Constant | ast.Starred):
            continue
        text, owner = source.code(each.func), getattr(each.func, "value", None)
        known = isinstance(each.func, ast.Name) and (text in _CONVERTERS or text not in BUILTINS)
        own = isinstance(owner, ast.Name) and (owner.id == "self" or owner.id in declared(source))
        if (own or (known and not text[0].isupper())) and not isinstance(source.parent(each), ast.Expr | ast.Raise):
            found[text] += 1
    return tuple(name for name, _ in found.most_common())
