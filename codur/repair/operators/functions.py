"""Operators on whole functions: what they return, yield, begin and end with, and what they leave to others."""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called, called_plainly, defaulted
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode
from codur.repair.operators.guards import first_statement

_CALLS_FOR_EFFECT = frozenset(
    {"print", "append", "extend", "add", "update", "sort", "insert", "remove", "write", "setdefault", "exit"}
)
_INITIAL = ("0", "[]", '""', "{}", "None", "1")
_EMPTY = ("[]", "0", '""', "()")
_MOST = 4


def mutable_default(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """`def f(a=[])` → `def f(a=None)` with `if a is None: a = []` at the start of the body."""
    first = first_statement(node)
    for argument, default in defaulted(node.args):
        if first is not None and _is_mutable(default):
            says = f"shares the default of `{argument.arg}` between calls"
            made = f"{argument.arg} = {context.code(default)}"
            for each in context.before(first, f"if {argument.arg} is None:", inside=made):
                yield Proposal(edits=(context.edit(default, "None"), *each.edits), says=says)


def _is_mutable(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_plainly(node) in ("list", "dict", "set") and not node.args
    return isinstance(node, ast.List | ast.Dict | ast.Set)


def return_added(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """A function that returns nothing: its last expression, or a variable it computed, is returned."""
    last, source = node.body[-1], context.source
    if node.name == "__init__" or isinstance(last, ast.Return | ast.Raise) or source.indent(last) is None:
        return
    if source.nodes(node, ast.Yield, ast.YieldFrom):
        return
    for_effect = isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant | ast.Await)
    if isinstance(last, ast.Expr) and not for_effect and called(last.value) not in _CALLS_FOR_EFFECT:
        yield context.insert(source.span(last)[0], "return ", "computes a value and drops it")
        return
    for rank, name in enumerate(_assigned(context, node)[:_MOST]):
        yield from context.after(last, f"return {name}", says=f"does not return `{name}`", weight=0.7**rank)


def _assigned(context: Context, node: FunctionNode) -> list[str]:
    """Variables that the function's own top-level statements assign, the last first."""
    found: dict[str, None] = {}
    for statement in reversed(node.body):
        for each in statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]:
            if isinstance(each, ast.Name) and not isinstance(statement, ast.For | ast.AsyncFor):
                found[each.id] = None
    return list(found) or list(context.scopes.variables(node.body[-1]))[:2]


def initialised(context: Context, node: FunctionNode) -> Iterator[Proposal]:
    """UnboundLocalError or NameError: the variable gets a first value, or is declared `global`."""
    first = first_statement(node)
    stored = {each.id for each in context.source.nodes(node, ast.Name) if isinstance(each.ctx, ast.Store)}
    for raised in context.raised(node, "UnboundLocalError", "NameError") if first else ():
        name = raised.message.split("'")[1] if raised.message.count("'") >= 2 else ""
        if first is None or name not in stored:
            continue
        if raised.kind == "UnboundLocalError":
            yield from context.before(first, f"global {name}", says=f"changes a `{name}` of its own", weight=1.2)
        for rank, value in enumerate(_INITIAL):
            says = f"uses `{name}` before it has a value"
            yield from context.before(first, f"{name} = {value}", says=says, weight=0.85**rank)


def result_used(context: Context, node: ast.Expr) -> Iterator[Proposal]:
    """A bare call of one of the program's functions: `f(a)` → `yield from f(a)`, `return f(a)`, `a = f(a)`."""
    call, function, start = node.value, context.source.function(node), context.source.span(node)[0]
    functions = {each.name: each for each in context.source.functions()}
    name = called(call)
    if not isinstance(call, ast.Call) or name not in functions or name == "__init__":
        return
    if _yields(functions[name]):
        yield context.insert(start, "yield from ", "makes values and drops them", 2.0)
        yield context.insert(start, "return ", "drops the result", 0.5)
        return
    for argument in [each for each in call.args if isinstance(each, ast.Name)][:_MOST]:
        yield context.insert(start, f"{argument.id} = ", "drops the result")
    if function is not None:
        yield context.insert(start, "return ", "drops the result", 1.2 if function.name == name else 0.6)


def yield_swapped(context: Context, node: ast.Return | ast.Expr) -> Iterator[Proposal]:
    """`return a` ↔ `yield a`, `yield a` ↔ `yield from a`, `yield` → `yield []` in a generator."""
    function, start, value = context.source.function(node), context.source.span(node)[0], node.value
    inner = value.value if isinstance(value, ast.Yield | ast.YieldFrom) else value
    after = context.source.span(inner)[0] if inner is not None else start
    if isinstance(node, ast.Return):
        if function is not None and value is not None and _yields(function):
            yield context.span(start, after, "yield ", "ends the generator where it should yield")
    elif isinstance(value, ast.YieldFrom):
        yield context.span(start, after, "yield ", "should yield the whole, not its items")
    elif isinstance(value, ast.Yield) and inner is None:
        for rank, text in enumerate(_EMPTY):
            yield context.whole(value, f"yield {text}", f"should yield `{text}`", 0.8**rank)
    elif isinstance(value, ast.Yield) and inner is not None:
        if context.kinds.of(inner) not in ("number", "bool"):
            yield context.span(start, after, "yield from ", "should yield the items, not the whole", 0.8)
        yield context.span(start, after, "return ", "should return, not yield", 0.5)


def _yields(function: FunctionNode) -> bool:
    """Whether the function itself is a generator."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
            queue += ast.iter_child_nodes(node)
    return False
