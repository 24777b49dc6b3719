"""Operators for values of the wrong shape: nothing where something is needed, an unconverted value, a shared one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import BUILTINS, declared
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact

Value = ast.Name | ast.Call | ast.Attribute | ast.Subscript
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
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_ANNOTATED = ("bool", "int", "str", "float", "list", "tuple", "dict", "set", "frozenset", "bytes")
_PREDICATE = re.compile(r"_*(is|has|can|should|match|matches|contains|check|equals|startswith|endswith)(_|$)|__bool__")
_NO_CONVERTERS = BUILTINS - {"str", "int", "float", "bytes", "tuple", "list", "set", "dict", "frozenset", "sorted"}
_ASKING = ("isinstance", "issubclass", "hasattr", "getattr", "setattr", "super", "type", "callable", "bool", "print")
_COPIES: dict[str | None, tuple[str, ...]] = {
    "list": ("list({})", "{}[:]"),
    "dict": ("dict({})", "{}.copy()"),
    "set": ("set({})", "{}.copy()"),
    None: ("{}.copy()", "list({})", "dict({})"),
}
CHANGING = frozenset(
    "append extend insert remove pop clear update setdefault add discard sort reverse popitem appendleft".split()
)
_KEEPING = ("append", "add", "insert", "appendleft", "setdefault")
_MOST_CONVERTERS = 4


def place(source: Source, node: ast.expr) -> Place:
    """What a value that is read is used for; empty if it is called, cut, asked for an attribute or something else."""
    parent = source.parent(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return ""
    if isinstance(parent, ast.Subscript):
        return "index" if parent.slice is node else ""
    if isinstance(parent, ast.Call):
        asking = isinstance(parent.func, ast.Name) and parent.func.id in _ASKING
        return "argument" if node is not parent.func and not asking else ""
    if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        return "assigned" if parent.value is node else ""
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return "iterated" if parent.iter is node else ""
    for kinds, name in _PLACES:
        if isinstance(parent, kinds):
            return name
    return ""


_PLACES: tuple[tuple[tuple[type[ast.AST], ...], Place], ...] = (
    ((ast.keyword,), "argument"),
    ((ast.Return, ast.Yield), "returned"),
    ((ast.List, ast.Tuple, ast.Set, ast.Dict, *_COMPREHENSIONS), "item"),
    ((ast.BinOp, ast.AugAssign), "operand"),
)


def _is_value(source: Source, node: ast.expr) -> bool:
    """Whether it is no function, class, module or constant by its name."""
    if not isinstance(node, ast.Name):
        return True
    return not (node.id in BUILTINS or node.id.isupper() or node.id in ("self", "cls") or node.id in declared(source))


# --- nothing where something is needed --------------------------------------------------------------------------------


def fallback_given(context: Context, node: Value) -> Iterator[Proposal]:
    """`a` → `a or ""`, `a or []`, `a or {}`, `a or 0`, or a text that stands nearby; early where None was seen."""
    where = place(context.source, node)
    kind = context.kinds.of(node)
    if not where or kind == "bool" or not _is_value(context.source, node) or _is_computed(node):
        return
    weight = _emptiness(context, node)
    if where == "operand" and weight < 1.0:
        return
    empty = (_EMPTY[kind],) if kind else _EMPTY_AT.get(where, _ANY_EMPTY)
    others = _texts_near(context.source, context.source.scope(node)) if weight >= 1.0 and kind in (None, "text") else ()
    quote = "'" if _single_quotes(context.source) else '"'
    for rank, text in enumerate((*empty, *others)[: 6 if weight >= 1.0 else 2]):
        text = text.replace('"', quote)
        says = f"needs a default: `{text}`"
        yield context.replace(node, f"{context.code(node)} or {text}", says=says, weight=weight * 0.8**rank)


def _is_computed(node: ast.expr) -> bool:
    """Whether it is a call that is known to give something, or takes a default of its own."""
    if not isinstance(node, ast.Call):
        return False
    return not isinstance(node.func, ast.Attribute) or node.func.attr in ("get", "pop", "copy", "format", "join")


def _emptiness(context: Context, node: ast.expr) -> float:
    """How likely it is that a value is None: 2.5 where it was seen, down to 0.4 where nothing hints at it."""
    source, function = context.source, context.source.function(node)
    last = node.end_lineno or node.lineno
    if isinstance(node, ast.Name):
        first, end = (function.lineno, function.end_lineno or last) if function else (node.lineno, last)
        if context.observed.none(node.id, first, end):
            return 2.5
    if any("NoneType" in each.message for each in context.failure.at(source.path, node.lineno, last, *_MISUSED)):
        return 2.0
    owner = source.enclosing_class(node) if isinstance(node, ast.Attribute) else None
    return 1.2 if source.code(node) in _cleared(source, owner or function or source.tree) else 0.4


_MISUSED = ("TypeError", "AttributeError")


@fact
def _cleared(source: Source, scope: ast.AST) -> frozenset[str]:
    """What a scope sets to None, as a default or in an assignment, or gets from a mapping."""
    found = set()
    for each in source.nodes(scope, ast.Assign):
        if _is_none(each.value) or _is_got(each.value):
            found |= {source.code(target) for target in each.targets}
    if isinstance(scope, FunctionNode):
        names = [*scope.args.posonlyargs, *scope.args.args]
        defaults = [*zip(names[::-1], scope.args.defaults[::-1], strict=False)]
        defaults += [
            (name, value) for name, value in zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True) if value
        ]
        found |= {name.arg for name, value in defaults if _is_none(value)}
    return frozenset(found)


def _is_got(node: ast.expr) -> bool:
    """Whether it is `a.get(k)`, without a default."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get" and len(node.args) == 1


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@fact
def _texts_near(source: Source, scope: ast.AST) -> tuple[str, ...]:
    """Up to two short texts of a scope, as literals with double quotes."""
    values = [each.value for each in source.nodes(scope, ast.Constant) if isinstance(each.value, str)]
    return tuple(f'"{each}"' for each in dict.fromkeys(values) if each.isprintable() and 0 < len(each) < 8)[:2]


@fact
def _single_quotes(source: Source) -> bool:
    return source.text.count("'") > source.text.count('"')


# --- an unconverted value ---------------------------------------------------------------------------------------------


def conversion_added(context: Context, node: Value) -> Iterator[Proposal]:
    """`a[b]` → `a[int(b)]`, `return a` → `return bool(a)`, and calls that convert other values of the function."""
    source = context.source
    where = place(source, node)
    if where in ("", "iterated", "operand") or not _is_value(source, node):
        return
    code, parent = context.code(node), source.parent(node)
    around = {source.code(each.func) for each in (node, parent) if isinstance(each, ast.Call)}
    found: dict[str, float] = {}
    if where == "returned":
        found = _returned(context, node)
    elif where == "index":
        found = {"int": 1.0, "str": 0.6, "len": 0.3}
    elif where == "item" and isinstance(parent, _COMPREHENSIONS):
        found = {name: 0.8 * 0.8**rank for rank, name in enumerate(_CONVERTED.get(context.kinds.of(node), ()))}
    for name, weight in _converters(source, node).items():
        found[name] = max(weight, found.get(name, 0.0))
    for name, weight in found.items():
        if name not in around:
            yield context.replace(node, f"{name}({code})", says=f"needs `{name}`", weight=weight)


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


def _converters(source: Source, node: ast.expr) -> dict[str, float]:
    """Calls of one argument that the function, or else the class, makes around other values, with their weights."""
    found: dict[str, float] = {}
    for scope, weight in ((source.function(node), 1.2), (source.enclosing_class(node), 0.8)):
        for name in _called(source, scope)[:_MOST_CONVERTERS] if scope is not None else ():
            found.setdefault(name, weight * 0.85 ** len(found))
    return dict(list(found.items())[:_MOST_CONVERTERS])


@fact
def _called(source: Source, scope: ast.AST) -> tuple[str, ...]:
    """What a scope calls with one argument for a value, the most frequent first."""
    found: Counter[str] = Counter()
    for each in source.nodes(scope, ast.Call):
        if len(each.args) != 1 or each.keywords or isinstance(each.args[0], ast.Constant | ast.Starred):
            continue
        text = source.code(each.func)
        known = isinstance(each.func, ast.Name) and each.func.id not in _NO_CONVERTERS and not text[0].isupper()
        own = isinstance(each.func, ast.Attribute) and isinstance(each.func.value, ast.Name)
        named = own and (text.startswith("self.") or text.partition(".")[0] in declared(source))
        if (known or named) and not isinstance(source.parent(each), ast.Expr | ast.Raise):
            found[text] += 1
    return tuple(name for name, _ in found.most_common())


# --- a shared value ---------------------------------------------------------------------------------------------------


def copy_taken(context: Context, node: ast.Name | ast.Attribute | ast.Subscript) -> Iterator[Proposal]:
    """`b = a`, `return a`, `b.append(a)` → with a copy: `list(a)`, `a.copy()`, `copy.deepcopy(a)`."""
    source, kind = context.source, context.kinds.of(node)
    if kind not in _COPIES or not _is_value(source, node) or not _shared(source, node):
        return
    code = context.code(node)
    function = source.function(node)
    changed = _changed(source, function or source.tree)
    other = source.parent(node)
    targets = [source.code(each) for each in getattr(other, "targets", ())]
    likely = code in changed or any(each in changed for each in targets)
    if kind is None and not likely:
        return
    texts = [*(text.format(code) for text in _COPIES[kind])]
    names = {"copy": ("copy.copy({})", "copy.deepcopy({})"), "deepcopy": ("deepcopy({})",)}
    for name, wraps in names.items():
        texts += [each.format(code) for each in wraps] if name in declared(source) else []
    for rank, text in enumerate(texts):
        yield context.replace(
            node, text, says="shares what is changed later", weight=(1.0 if likely else 0.4) * 0.8**rank
        )


def _shared(source: Source, node: ast.expr) -> bool:
    """Whether a second place gets hold of the value."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call):
        return node in parent.args and isinstance(parent.func, ast.Attribute) and parent.func.attr in _KEEPING
    return place(source, node) in ("assigned", "returned", "item")


@fact
def _changed(source: Source, scope: ast.AST) -> frozenset[str]:
    """What a scope changes in place: by a method, or by a subscript that is set or deleted."""
    found = set()
    for each in source.nodes(scope, ast.Call, ast.Subscript):
        if isinstance(each, ast.Subscript):
            if not isinstance(each.ctx, ast.Load):
                found.add(source.code(each.value))
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in CHANGING:
            found.add(source.code(each.func.value))
    return frozenset(found)
