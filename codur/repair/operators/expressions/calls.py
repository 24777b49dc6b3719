"""Operators on what a call is given: arguments added, dropped or spread, and how `print` separates and ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact

_MAX_NAMES = 4
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional argument")
_SEPARATORS = ('""', '" "', '", "', '"\\n"')


def argument_added(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """TypeError that misses an argument: a variable in scope is given too."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    blamed = any(
        (found := _MISSING.search(raised.message)) is not None and found[1].rpartition(".")[2] == name
        for raised in context.failure.of("TypeError")
    )
    if not blamed:
        return
    given = {context.code(each) for each in node.args}
    names = [each for each in context.scopes.variables(node) if each not in given]
    end = context.source.span(node)[1] - 1
    for rank, each in enumerate(names[:_MAX_NAMES]):
        text = f", {each}" if node.args or node.keywords else each
        yield Proposal(edits=(context.edit_span(end, end, text),), says=f"lacks `{each}`", weight=0.85**rank)


def keyword_passed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`f(a)` → `f(a, k=k)` for a name in scope that `f` or other calls of it take; `f(k=a)` → `f(k=k)`."""
    given = {each.arg: each.value for each in node.keywords}
    starred = any(isinstance(each, ast.Starred | ast.GeneratorExp) for each in node.args)
    if None in given or starred:
        return
    names = context.scopes.variables(node)
    for name, value in given.items():
        if name in names and name not in context.source.names(value):
            yield context.replace(value, str(name), says=f"should pass `{name}` on", weight=0.6)
    positional = {context.code(each) for each in node.args}
    wanted = {name: 1.5 for name in _taken(context.source, node) if name in names}
    for text, weight in _passed(context.source, node.func, names).items():
        wanted.setdefault(text, weight)
    start, end = context.source.span(node.func)[1], context.source.span(node)[1] - 1
    text = context.source.text[start:end].rstrip()
    if "#" in text:
        return
    comma = "" if text.endswith(("(", ",")) else ","
    for rank, (name, weight) in enumerate(sorted(wanted.items(), key=lambda pair: -pair[1])[:_MAX_NAMES]):
        keyword = name if "=" in name else f"{name}={name}"
        if keyword.partition("=")[0] not in given and name not in positional:
            space = "" if text.endswith("(") else " "
            edit = context.edit_span(start + len(text), start + len(text), f"{comma}{space}{keyword}")
            yield Proposal(edits=(edit,), says=f"lacks `{keyword}`", weight=weight * 0.9**rank)


def _taken(source: Source, node: ast.Call) -> list[str]:
    """Parameters of a function of the file that a call does not fill by their places."""
    called = _called(node.func)
    function = next((each for each in source.functions() if each.name == called), None)
    if function is None:
        return []
    own = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    first = 1 if own[:1] in (["self"], ["cls"]) else 0
    return [*own[first + len(node.args) :], *(each.arg for each in function.args.kwonlyargs)]


def _passed(source: Source, function: ast.expr, names: tuple[str, ...]) -> dict[str, float]:
    """What other calls of a function pass by keyword: names that are known here, or constants and fields."""
    found: dict[str, float] = {}
    for name, values in _keywords(source).get(_called(function), {}).items():
        if name in names:
            found[name] = 1.5
        else:
            found |= {f"{name}={value}": 0.7 for value in values}
    return found


@fact
def _keywords(source: Source) -> dict[str, dict[str, list[str]]]:
    """By the name of what is called: the keywords that calls of the file pass, with constants and fields of `self`."""
    found: dict[str, dict[str, list[str]]] = {}
    for call in source.nodes(source.tree, ast.Call):
        for each in call.keywords:
            if each.arg:
                values = found.setdefault(_called(call.func), {}).setdefault(each.arg, [])
                text = source.code(each.value)
                if (isinstance(each.value, ast.Constant) or text.startswith("self.")) and text not in values:
                    values.append(text)
    return found


def _called(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def choice_extended(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`max(a, b)` → `max(a, b, c)` for the numbers in scope, and so for `min`."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in ("max", "min") or len(node.args) < 2 or node.keywords:
        return
    given = {context.code(each) for each in node.args}
    numbers = [each for each in context.scopes.variables(node) if context.kinds.named(node, each) == "number"]
    end = context.source.span(node)[1] - 1
    for rank, each in enumerate(["0", *[each for each in numbers if each not in given][:_MAX_NAMES]]):
        edit = context.edit_span(end, end, f", {each}")
        yield Proposal(edits=(edit,), says=f"should consider `{each}` too", weight=0.85**rank)


def printed_spread(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(a)` ↔ `print(*a)`, also with another separator."""
    if not _prints(node):
        return
    end = context.source.span(node)[1] - 1
    separated = any(each.arg == "sep" for each in node.keywords)
    for argument in node.args:
        start = context.source.span(argument)[0]
        if isinstance(argument, ast.Starred):
            edit = context.edit(argument, context.code(argument.value))
            yield Proposal(edits=(edit,), says="should print the whole, not its items", weight=0.6)
            continue
        kind = context.kinds.of(argument)
        if kind in ("number", "bool") or isinstance(argument, ast.Constant | ast.JoinedStr | ast.GeneratorExp):
            continue
        spread = context.edit_span(start, start, "*")
        weight = 1.0 if kind == "list" else 0.5
        yield Proposal(edits=(spread,), says="should print the items, not the whole", weight=weight)
        for rank, text in enumerate(() if separated or len(node.args) > 1 else ('""', '"\\n"')):
            edits = (spread, context.edit_span(end, end, f", sep={text}"))
            yield Proposal(edits=edits, says=f"should print the items, `sep={text}`", weight=0.6 * weight * 0.8**rank)


def print_ended(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(…)` gets a separator or an end, loses it, or has another one."""
    if not _prints(node):
        return
    given = {each.arg: each for each in node.keywords}
    end = context.source.span(node)[1] - 1
    for name, texts in (("sep", _SEPARATORS), ("end", ('""', '" "', '"\\n"'))):
        many = len(node.args) > 1 or any(isinstance(each, ast.Starred) for each in node.args)
        if name in given:
            for rank, text in enumerate(texts):
                if text != context.code(given[name].value).replace("'", '"'):
                    edit = context.edit(given[name].value, text)
                    yield Proposal(edits=(edit,), says=f"needs `{name}={text}`", weight=0.85**rank)
        elif node.args and (name == "end" or many):
            for rank, text in enumerate(text for text in texts if text not in ('" "' if name == "sep" else '"\\n"')):
                edit = context.edit_span(end, end, f", {name}={text}")
                yield Proposal(edits=(edit,), says=f"needs `{name}={text}`", weight=0.8 * 0.85**rank)


def printed_argument_removed(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(a, b)` → `print(b)`, and so for any argument but the last of any call."""
    if len(node.args) < 2:
        return
    for index, argument in enumerate(node.args[:-1]):
        start, end = context.source.span(argument)[0], context.source.span(node.args[index + 1])[0]
        if "(" not in context.source.text[context.source.span(argument)[1] : end]:
            says = f"has `{context.code(argument)}` too many"
            yield Proposal(edits=(context.edit_span(start, end, ""),), says=says)


def call_added(context: Context, node: ast.Name | ast.Attribute) -> Iterator[Proposal]:
    """`a.method` → `a.method()` and `f` → `f()` where a function is used as a value."""
    parent = context.source.parent(node)
    if not isinstance(node.ctx, ast.Load) or isinstance(parent, ast.Attribute | ast.keyword):
        return
    if isinstance(parent, ast.Call) and (parent.func is node or _takes_functions(parent)):
        return
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    shown = any(part in raised.message for raised in context.failure.raised for part in ("method", "function"))
    if name in _functions(context.source) or (shown and isinstance(node, ast.Attribute)):
        end = context.source.span(node)[1]
        yield Proposal(edits=(context.edit_span(end, end, "()"),), says="is never called")


@fact
def _functions(source: Source) -> frozenset[str]:
    return frozenset(each.name for each in source.nodes(source.tree, ast.FunctionDef))


def _takes_functions(node: ast.Call) -> bool:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name in ("map", "filter", "reduce", "Thread", "partial", "sorted", "min", "max", "defaultdict")


def await_added(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """In a coroutine: a call of another coroutine of the program is awaited."""
    inside = context.source.function(node)
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    parent = context.source.parent(node)
    if not isinstance(inside, ast.AsyncFunctionDef) or not isinstance(parent, ast.stmt | ast.BinOp):
        return
    if any(each.name == name for each in context.source.nodes(context.source.tree, ast.AsyncFunctionDef)):
        text = f"(await {context.code(node)})" if isinstance(parent, ast.BinOp) else f"await {context.code(node)}"
        yield Proposal(edits=(context.edit(node, text),), says="is not awaited")


def _prints(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "print"
