"""Operators that wrap a value, or take a wrapping away: calls, methods, subscripts, slices, brackets."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import BUILTINS, nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact
from codur.repair.operators.expressions.conversions import CHANGING
from codur.repair.operators.statements.guards import is_pure

_TRANSPARENT = frozenset(
    {"int", "float", "abs", "round", "list", "tuple", "set", "sorted", "reversed", "str", "max", "min"}
)
_METHODS = (".lower()", ".upper()", ".strip()", ".split()")
_SLICES = ("[1:]", "[:-1]", "[::-1]", "[0]", "[-1]")
_ITERATED = ("reversed", "sorted", "set", "enumerate")
_MAX_NAMES = 4
_OWNERS: dict[str, tuple[type, ...]] = {"text": (str, bytes), "list": (list, tuple), "dict": (dict,), "set": (set,)}
Wrapped = ast.Name | ast.Call | ast.Attribute | ast.Subscript


def slice_added(context: Context, node: Wrapped) -> Iterator[Proposal]:
    """`a` → `a[1:]`, `a[:-1]`, `a[::-1]`, `a[0]`, `a[-1]`, `a[:k]`, `a[k:]` where a sequence is likely."""
    kind = context.kinds.of(node)
    parent = context.source.parent(node)
    iterated = isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
    if not _is_value(parent, node) or not (
        kind in ("list", "text") or (kind is None and _used_as_sequence(parent, node))
    ):
        return
    code = context.code(node)
    for rank, cut in enumerate(_SLICES):
        if iterated and cut in ("[0]", "[-1]"):
            continue
        yield context.replace(node, code + cut, weight=0.9**rank)
    names = [name for name in context.scopes.variables(node) if context.kinds.named(node, name) == "number"]
    for rank, name in enumerate(names[:_MAX_NAMES]):
        for cut in (f"[:{name}]", f"[{name}:]"):
            yield context.replace(node, code + cut, weight=0.7 * 0.9**rank)


def _is_value(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether the node is read, and not itself called, cut or asked for an attribute."""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(parent, ast.Call) and parent.func is node:
        return False
    return not (isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is node)


def _used_as_sequence(parent: ast.AST | None, node: ast.expr) -> bool:
    if isinstance(parent, ast.For | ast.comprehension):
        return parent.iter is node
    return isinstance(parent, ast.Call | ast.Return | ast.Starred | ast.Assign) and not isinstance(node, ast.Name)


def element_taken(context: Context, node: ast.Name | ast.BinOp) -> Iterator[Proposal]:
    """`i` → `a[i]` for the lists of the function, where a number is used as a value."""
    parent = context.source.parent(node)
    if not _is_value(parent, node) or isinstance(parent, ast.Subscript | ast.Slice):
        return
    if isinstance(node, ast.BinOp) or context.kinds.of(node) != "number":
        return
    near = context.source.names(context.source.statement(node))
    lists = [name for name in context.scopes.variables(node) if context.kinds.named(node, name) in ("list", "dict")]
    for name in sorted(lists, key=lambda each: each not in near)[:_MAX_NAMES]:
        yield context.replace(node, f"{name}[{context.code(node)}]", weight=1.0 if name in near else 0.6)


def subscript_removed(context: Context, node: ast.Subscript) -> Iterator[Proposal]:
    """`a[i]` → `i`, → `a`; `a[1:]` → `a`."""
    if not isinstance(node.ctx, ast.Load):
        return
    yield context.replace(node, context.code(node.value), weight=1.0 if isinstance(node.slice, ast.Slice) else 0.6)
    if not isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant):
        yield context.replace(node, context.code(node.slice), weight=0.6)


def method_wrapped(context: Context, node: Wrapped) -> Iterator[Proposal]:
    """A text gets `.lower()`, `.upper()`, `.strip()` or `.split()`; any value what others of its kind have nearby."""
    called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    parent = context.source.parent(node)
    if isinstance(parent, ast.Expr) or called in ("items", "keys", "values"):
        return
    if _is_value(parent, node):
        for rank, method in enumerate(_methods_for(context, node)):
            if method.partition("(")[0] != f".{called}":
                yield context.replace(node, context.code(node) + method, weight=0.85**rank)


def _methods_for(context: Context, node: Wrapped) -> list[str]:
    """Calls of methods that fit behind a value."""
    source, kind = context.source, context.kinds.of(node)
    nearby = _method_calls(source, source.scope(node))
    if kind is None:
        unknown = isinstance(node, ast.Name) and node.id not in context.scopes.variables(node)
        return [] if unknown else list(nearby[:2])
    owners = _OWNERS.get(kind, ())
    texts = dict.fromkeys((*nearby, *_method_calls(source, source.tree)))
    fitting = [text for text in texts if any(hasattr(each, text[1:].partition("(")[0]) for each in owners)]
    return list(dict.fromkeys([*(_METHODS if kind == "text" else ()), *fitting[:_MAX_NAMES]]))


@fact
def _method_calls(source: Source, scope: ast.AST) -> tuple[str, ...]:
    """Calls of methods in a scope that take constants only and give a value: `.strip()`, `.encode("utf-8")`."""
    found: Counter[str] = Counter()
    for each in source.nodes(scope, ast.Call):
        constant = all(isinstance(part, ast.Constant) for part in each.args) and not each.keywords
        used = constant and not isinstance(source.parent(each), ast.Expr)
        if used and isinstance(each.func, ast.Attribute) and _is_known(each.func.attr):
            found[source.text[source.span(each.func.value)[1] : source.span(each)[1]]] += 1
    return tuple(text for text, _ in found.most_common() if text.startswith(".") and "\n" not in text)


def _is_known(method: str) -> bool:
    return method not in CHANGING and any(hasattr(each, method) for owner in _OWNERS.values() for each in owner)


def iteration_wrapped(context: Context, node: ast.For | ast.ListComp | ast.GeneratorExp) -> Iterator[Proposal]:
    """`for x in a` → `for x in reversed(a)`, `sorted(a)`, `set(a)`."""
    for loop in node.generators if isinstance(node, ast.ListComp | ast.GeneratorExp) else [node]:
        yield from _iterations(context, loop)


def _iterations(context: Context, node: ast.For | ast.comprehension) -> Iterator[Proposal]:
    target_pair = isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2
    known = node.iter.func.id if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) else ""
    for rank, name in enumerate(_ITERATED):
        if name != known and (name != "enumerate" or target_pair):
            yield context.replace(node.iter, f"{name}({context.code(node.iter)})", weight=0.85**rank)


def argument_wrapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """An argument of a call in `set(…)`, `sorted(…)`, `str(…)`, `int(…)`, `abs(…)`, by its kind."""
    wraps = {
        "number": ("abs", "str", "int"),
        "text": ("int", "set", "len"),
        "list": ("set", "len", "sum", "sorted", "list"),
    }
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    for argument in node.args:
        kind = context.kinds.of(argument)
        if isinstance(argument, ast.Starred | ast.GeneratorExp | ast.Constant | ast.JoinedStr) or called == "print":
            continue
        names = wraps.get(kind or "", ("set", "str", "abs", "int"))
        if context.failure.at(context.source.path, node.lineno, node.end_lineno or node.lineno, "TypeError"):
            names = ("str", "int", "list", "len", *names)
        for rank, name in enumerate(dict.fromkeys(names)):
            if name != called:
                yield context.replace(argument, f"{name}({context.code(argument)})", weight=0.85**rank)


def program_call_wrapped(context: Context, node: ast.Return | ast.Assign) -> Iterator[Proposal]:
    """A returned or assigned value goes through a function of the program that takes one argument."""
    value = node.value
    if value is None or isinstance(value, ast.Constant):
        return
    inside = context.source.function(node)
    functions = [each for each in context.source.tree.body if isinstance(each, ast.FunctionDef) and each is not inside]
    names = [each.name for each in functions if len(each.args.args) == 1]
    target = context.code(node.targets[0]) if isinstance(node, ast.Assign) else getattr(inside, "name", "")
    for name in nearest(context.source, node, target, names, _MAX_NAMES):
        yield context.replace(value, f"{name}({context.code(value)})")


def method_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.b(…)` → `a`: a method call too many."""
    if isinstance(node.func, ast.Attribute) and not isinstance(context.source.parent(node), ast.Expr):
        owner = node.func.value
        module = isinstance(owner, ast.Name) and owner.id not in context.scopes.variables(node)
        if not module:
            yield context.replace(node, context.code(owner), says=f"has `.{node.func.attr}()` too many")


def choice_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`max(a, b)` → `a`, → `b`, and so for `min`; `f(a)` → `a` for a function of the program."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("max", "min") and len(node.args) == 2 and not node.keywords:
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                yield context.replace(node, context.code(argument), says=f"needs no `{name}`")
        return
    plain = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
    if plain and name and name not in BUILTINS and not isinstance(context.source.parent(node), ast.Expr):
        yield context.replace(node, context.code(node.args[0]), weight=0.6)


def choice_added(context: Context, node: ast.Assign) -> Iterator[Proposal]:
    """`a = b` → `a = max(a, b)`, → `a = min(a, b)` in a loop; → `a = max(0, b)`; so for items of a tuple."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name | ast.Subscript) or not is_pure(target):
        return
    if isinstance(node.value, ast.Tuple):
        yield from _kept_in_tuple(context, target, node.value)
        return
    if context.kinds.of(node.value) not in (None, "number") or isinstance(node.value, ast.Constant):
        return
    firsts = [context.code(target)] if context.source.in_loop(node) else []
    for rank, first in enumerate((*firsts, "0")):
        for name in ("max", "min"):
            yield context.replace(node.value, f"{name}({first}, {context.code(node.value)})", weight=0.8**rank)


def _kept_in_tuple(context: Context, target: ast.expr, value: ast.Tuple) -> Iterator[Proposal]:
    """`a = (b, c)` → `a = (b, max(a[1], c))`."""
    for place, item in enumerate(value.elts):
        old = f"{context.code(target)}[{place}]"
        if isinstance(item, ast.Constant | ast.Starred) or context.kinds.of(item) not in (None, "number"):
            continue
        if context.code(item) != old:
            for name in ("max", "min"):
                yield context.replace(item, f"{name}({old}, {context.code(item)})", weight=0.8)


def brackets_moved(context: Context, node: ast.Call | ast.BinOp) -> Iterator[Proposal]:
    """`f(a + b)` ↔ `f(a) + b` for `int`, `abs` and the like; `a + b * c` → `(a + b) * c` and back."""
    if isinstance(node, ast.Call):
        yield from _moved_out_of_call(context, node)
        return
    left, right = node.left, node.right
    if isinstance(left, ast.Call) and _transparent(left) and len(left.args) == 1:
        start = context.source.span(left)[1]
        rest = context.source.text[start : context.source.span(node)[1]]
        inner = f"{context.code(left.args[0])}{rest}"
        yield context.replace(node, f"{context.code(left.func)}({inner})", says="closes its brackets too early")
    if isinstance(right, ast.BinOp) and not _bracketed(context, right):
        start, middle = context.source.span(node)[0], context.source.span(right.left)[1]
        text, end = context.source.text, context.source.span(node)[1]
        yield context.replace(node, f"({text[start:middle]}){text[middle:end]}", says="needs brackets")
    if isinstance(left, ast.BinOp) and not _bracketed(context, left):
        start, middle = context.source.span(node)[0], context.source.span(left.right)[0]
        text, end = context.source.text, context.source.span(node)[1]
        yield context.replace(node, f"{text[start:middle]}({text[middle:end]})", says="needs brackets")
    if isinstance(left, ast.BinOp) and _bracketed(context, left) and "\n" not in context.code(node):
        yield context.replace(
            node, f"{context.code(left)}{_after_bracket(context, node)}", says="has brackets too many"
        )


def _moved_out_of_call(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a op b)` → `f(a) op b`."""
    if not _transparent(node) or not isinstance(node.args[0], ast.BinOp) or _bracketed(context, node.args[0]) is None:
        return
    inner = node.args[0]
    left_end, end = context.source.span(inner.left)[1], context.source.span(inner)[1]
    rest = context.source.text[left_end:end]
    tail = context.source.text[end : context.source.span(node)[1] - 1]
    if "(" not in rest[: rest.find(context.code(inner.right))] and not rest.startswith(")"):
        text = f"{context.code(node.func)}({context.code(inner.left)}{tail}){rest}"
        yield context.replace(node, text, says="closes its brackets too late")


def _transparent(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in _TRANSPARENT and bool(node.args) and not node.keywords


def _bracketed(context: Context, node: ast.expr) -> bool:
    start, end = context.source.span(node)
    return context.source.text[start - 1 : start] == "(" and context.source.text[end : end + 1] == ")"


def _after_bracket(context: Context, node: ast.BinOp) -> str:
    start, end = context.source.span(node.left)[1] + 1, context.source.span(node)[1]
    return context.source.text[start:end]
