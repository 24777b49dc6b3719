"""Operators on calls: another function, arguments more, less or changed about, a call around a value or none."""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from codur.lazy import regex
from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called, called_plainly, is_called, is_read
from codur.repair.code.scopes import nearest
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import Source, fact
from codur.repair.operators.subscripts import Value, is_value

_CONFUSED = tuple(
    group.split()
    for group in (
        "min max, any all, floor ceil, upper lower, startswith endswith, lstrip rstrip strip, keys values items, "
        "find rfind, ljust rjust, isalpha isdigit isalnum, isupper islower, append extend, add discard, popleft pop, "
        "appendleft append, bisect_left bisect_right, union intersection difference, removeprefix removesuffix, "
        "copy deepcopy, update add"
    ).split(", ")
)
"""Functions and methods that are easily taken for one another."""
_UNWRAPPED = frozenset(
    "int float str bool round abs len sum list tuple set dict sorted reversed copy deepcopy copy.copy "
    "copy.deepcopy".split()
)
_WRAPS: dict[str | None, tuple[str, ...]] = {
    "number": ("int", "abs", "str", "round", "float"),
    "bool": ("int",),
    "text": ("int", "len", "list", "sorted", "set", "float"),
    "list": ("len", "sorted", "set", "sum", "list", "tuple"),
    "set": ("len", "sorted", "list"),
    "dict": ("len", "sorted", "list"),
}
_ANY_WRAPS = ("int", "abs", "str", "len", "sorted", "set", "list", "round", "float")
_ARGUMENT_WRAPS: dict[str | None, tuple[str, ...]] = {
    "number": ("abs", "str", "int"),
    "text": ("int", "set", "len"),
    "list": ("set", "len", "sum", "sorted", "list"),
}
_METHODS = (".lower()", ".upper()", ".strip()", ".split()")
_OWNERS: dict[str, tuple[type, ...]] = {"text": (str, bytes), "list": (list, tuple), "dict": (dict,), "set": (set,)}
_DEFAULTS = {"get": ("0", "''", "[]", "{}"), "next": ("None",), "pop": ("None",)}
_TAKE_FUNCTIONS = ("map", "filter", "reduce", "Thread", "partial", "sorted", "min", "max", "defaultdict")
_MISSING = regex(r"(\w+)\(\) missing \d+ required positional argument")
_MOST_NAMES, _MOST_FUNCTIONS = 4, 8
_CHANGING = frozenset(
    "append extend insert remove pop clear update setdefault add discard sort reverse popitem appendleft".split()
)
"""Methods that change what they are called of."""


# --- another function -------------------------------------------------------------------------------------------------


def sibling_call(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`min(…)` ↔ `max(…)`, `any` ↔ `all`, `.lower()` ↔ `.upper()` and other functions easily confused."""
    name, end = called(node), context.source.span(node.func)[1]
    others = [other for group in _CONFUSED if name in group for other in group if other != name]
    for other in dict.fromkeys(others):
        yield context.span(end - len(name), end, other, f"needs `{other}` in place of `{name}`")


def function_replaced(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """A function of the program gives way to another one with as many parameters."""
    functions, name = _functions(context.source), called_plainly(node)
    if name in functions:
        others = [each for each, count in functions.items() if each != name and count == functions[name]]
        for other in nearest(context.source, node, name, others, _MOST_FUNCTIONS):
            yield context.replace(node.func, other, says=f"needs `{other}` in place of `{name}`")


@fact
def _functions(source: Source) -> dict[str, int]:
    """The functions of a module, with how many parameters they have."""
    return {each.name: len(each.args.args) for each in source.tree.body if isinstance(each, ast.FunctionDef)}


def other_end_taken(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.pop()` ↔ `a.pop(0)`."""
    given = [context.code(each) for each in node.args]
    if called(node) == "pop" and not called_plainly(node) and not node.keywords and given in ([], ["0"]):
        start, end = context.source.span(node.func)[1], context.source.span(node)[1]
        yield context.span(start, end, "()" if given else "(0)", "takes from the wrong end")


def reverse_toggled(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`sorted(a)` ↔ `sorted(a, reverse=True)`, and for `.sort()`."""
    if called(node) not in ("sorted", "sort"):
        return
    given = next((each.value for each in node.keywords if each.arg == "reverse"), None)
    if given is None:
        yield context.last_argument(node, "reverse=True", "sorts the wrong way round")
    elif isinstance(given, ast.Constant):
        yield context.whole(given, str(not given.value), "sorts the wrong way round")


def call_added(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """`a.method` → `a.method()` and `f` → `f()` where a function is used as a value."""
    parent = context.source.parent(node)
    if not is_read(node) or isinstance(parent, ast.Attribute | ast.keyword):
        return
    if is_called(parent, node) or called(parent) in _TAKE_FUNCTIONS:
        return
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    shown = any(part in raised.message for raised in context.failure.raised for part in ("method", "function"))
    functions = context.source.nodes(context.source.tree, ast.FunctionDef)
    if any(each.name == name for each in functions) or (shown and isinstance(node, ast.Attribute)):
        yield context.insert(context.source.span(node)[1], "()", "is never called")


def await_added(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """In a coroutine: a call of another coroutine of the program is awaited."""
    parent, code = context.source.parent(node), context.code(node)
    if not isinstance(context.source.function(node), ast.AsyncFunctionDef):
        return
    coroutines = context.source.nodes(context.source.tree, ast.AsyncFunctionDef)
    if isinstance(parent, ast.stmt | ast.BinOp) and any(each.name == called(node) for each in coroutines):
        text = f"(await {code})" if isinstance(parent, ast.BinOp) else f"await {code}"
        yield context.whole(node, text, "is not awaited")


# --- arguments --------------------------------------------------------------------------------------------------------


def arguments_swapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a, b)` → `f(b, a)`, for neighbouring positional arguments."""
    if called_plainly(node) not in ("print", "min", "max", "zip"):
        for first, second in pairwise(node.args):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                yield from context.swap(first, second)


def argument_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a, b)` → `f(a)`: the last positional argument goes."""
    if len(node.args) < 2 or node.keywords:
        return
    start, (last, end) = context.source.span(node.args[-2])[1], context.source.span(node.args[-1])
    if not set("()#") & set(context.source.text[start:last]):
        yield context.span(start, end, "", f"has `{context.code(node.args[-1])}` too many")


def earlier_argument_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(a, b)` → `print(b)`, and so for any argument but the last of any call."""
    for argument, following in pairwise(node.args):
        (start, end), stop = context.source.span(argument), context.source.span(following)[0]
        if "(" not in context.source.text[end:stop]:
            yield context.span(start, stop, "", f"has `{context.code(argument)}` too many")


def argument_added(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """TypeError that misses an argument: a variable in scope is given too."""
    blamed = (_MISSING.search(raised.message) for raised in context.failure.of("TypeError"))
    if not any(found and found[1] == called(node) for found in blamed):
        return
    given = {context.code(each) for each in node.args}
    names = [each for each in context.scopes.variables(node) if each not in given]
    for rank, name in enumerate(names[:_MOST_NAMES]):
        yield context.last_argument(node, name, f"lacks `{name}`", 0.85**rank)


def default_given(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.get(k)` → `a.get(k, 0)` and the like, `next(a)` → `next(a, None)`, `a.pop(k)` → `a.pop(k, None)`."""
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return
    name = called(node)
    if bool(called_plainly(node)) != (name == "next"):
        return
    start, end = context.source.span(node.args[0])
    for rank, default in enumerate(_DEFAULTS.get(name, ())):
        edits: tuple[Edit, ...] = (context.edit_span(end, end, f", {default}"),)
        if isinstance(node.args[0], ast.GeneratorExp):  # the call's brackets are its own
            edits = (context.edit_span(start, start, "("), context.edit_span(end, end, f", {default})"))
        yield Proposal(edits=edits, says=f"needs a default: `{default}`", weight=0.5**rank)


# --- around a value ---------------------------------------------------------------------------------------------------


def call_unwrapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`int(a)` → `a` and the like, `round(a, 2)` → `a`, `copy.copy(a)` → `a`."""
    unwrapped = context.code(node.func) in _UNWRAPPED and node.args and not node.keywords
    if unwrapped and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        yield context.replace(node, context.code(node.args[0]))


def call_wrapped(
    context: Context, node: ast.Return | ast.Assign | ast.BinOp | ast.Compare | ast.Call
) -> Iterator[Proposal]:
    """A returned, assigned, compared or printed value in `int(…)`, `abs(…)`, `str(…)` and the like."""
    for value in _values(node):
        if not isinstance(value, ast.Constant | ast.Starred | ast.JoinedStr | ast.Lambda):
            yield from _wrapped(context, value, _wraps_for(context, node, value), but=called_plainly(value))


def _wrapped(context: Context, value: ast.expr, names: tuple[str, ...], *, but: str) -> Iterator[Proposal]:
    others = [name for name in dict.fromkeys(names) if name != but]
    yield from context.ranked(value, (f"{name}({context.code(value)})" for name in others), 0.85)


def _wraps_for(context: Context, node: ast.AST, value: ast.expr) -> tuple[str, ...]:
    kind = context.kinds.of(value)
    fitting = _WRAPS.get(kind, _ANY_WRAPS)
    if context.raised(value, "TypeError"):
        return fitting
    if isinstance(node, ast.BinOp | ast.Compare):
        return ("abs",) if isinstance(value, ast.BinOp) and kind in (None, "number") else ()
    return () if isinstance(node, ast.Call) and called_plainly(node) != "print" else fitting


def _values(node: ast.AST) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.Return | ast.Assign):
        return (node.value,) if node.value is not None else ()
    if isinstance(node, ast.BinOp):
        return (node.left, node.right)
    if isinstance(node, ast.Compare):
        return (node.left, *node.comparators)
    return tuple(node.args) if isinstance(node, ast.Call) else ()


def argument_wrapped(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """An argument of a call in `set(…)`, `sorted(…)`, `str(…)`, `int(…)`, `abs(…)`, by its kind."""
    name = called_plainly(node)
    first = ("str", "int", "list", "len") if context.raised(node, "TypeError") else ()
    for argument in node.args if name != "print" else ():
        if not isinstance(argument, ast.Starred | ast.GeneratorExp | ast.Constant | ast.JoinedStr):
            names = _ARGUMENT_WRAPS.get(context.kinds.of(argument), ("set", "str", "abs", "int"))
            yield from _wrapped(context, argument, (*first, *names), but=name)


def method_wrapped(context: Context, node: Value) -> Iterator[Proposal]:
    """A text gets `.lower()`, `.upper()`, `.strip()` or `.split()`; any value what others of its kind have nearby."""
    own = called(node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    parent = context.source.parent(node)
    if isinstance(parent, ast.Expr) or own in ("items", "keys", "values") or not is_value(parent, node):
        return
    for rank, method in enumerate(_methods_for(context, node)):
        if method.partition("(")[0] != f".{own}":
            yield context.replace(node, context.code(node) + method, weight=0.85**rank)


def _methods_for(context: Context, node: Value) -> list[str]:
    """Calls of methods that fit behind a value."""
    source, kind = context.source, context.kinds.of(node)
    nearby = _method_calls(source, source.scope(node))
    if kind is None:
        unknown = isinstance(node, ast.Name) and node.id not in context.scopes.variables(node)
        return [] if unknown else list(nearby[:2])
    texts = dict.fromkeys((*nearby, *_method_calls(source, source.tree)))
    fitting = [text for text in texts if _has(_OWNERS.get(kind, ()), text[1:].partition("(")[0])]
    return list(dict.fromkeys([*(_METHODS if kind == "text" else ()), *fitting[:_MOST_NAMES]]))


def _has(owners: tuple[type, ...], method: str) -> bool:
    return any(hasattr(each, method) for each in owners)


@fact
def _method_calls(source: Source, scope: ast.AST) -> tuple[str, ...]:
    """Calls of methods in a scope that take constants only and give a value: `.strip()`, `.encode("utf-8")`."""
    found: Counter[str] = Counter()
    for each in source.nodes(scope, ast.Call):
        constant = all(isinstance(part, ast.Constant) for part in each.args) and not each.keywords
        used = constant and not isinstance(source.parent(each), ast.Expr) and called(each) not in _CHANGING
        known = used and any(_has(owners, called(each)) for owners in _OWNERS.values())
        if known and isinstance(each.func, ast.Attribute):
            found[source.text[source.span(each.func.value)[1] : source.span(each)[1]]] += 1
    return tuple(text for text, _ in found.most_common() if text.startswith(".") and "\n" not in text)


def method_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`a.b(…)` → `a`: a method call too many."""
    if isinstance(node.func, ast.Attribute) and not isinstance(context.source.parent(node), ast.Expr):
        owner = node.func.value
        if not isinstance(owner, ast.Name) or owner.id in context.scopes.variables(node):
            yield context.replace(node, context.code(owner), says=f"has `.{node.func.attr}()` too many")
