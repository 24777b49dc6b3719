"""Operators on what a call gives back and what a function hands out: kept, returned, yielded, listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact

_MOST = 4
_EMPTY = ("[]", "0", '""', "()")


def result_used(context: Context, node: ast.Expr) -> Iterator[Proposal]:
    """A bare call of one of the program's functions: `f(a)` → `yield from f(a)`, `return f(a)`, `a = f(a)`."""
    call = node.value
    name = _name(call.func) if isinstance(call, ast.Call) else ""
    functions = functions_by_name(context.source)
    function = context.source.function(node)
    if not isinstance(call, ast.Call) or name not in functions or name == "__init__":
        return
    start = context.source.span(node)[0]

    def led(text: str, says: str, weight: float) -> Proposal:
        return Proposal(edits=(context.edit_span(start, start, text),), says=says, weight=weight)

    if _yields(functions[name]):
        yield led("yield from ", "makes values and drops them", 2.0)
        yield led("return ", "drops the result", 0.5)
        return
    recursive = function is not None and function.name == name
    for argument in [each for each in call.args if isinstance(each, ast.Name)][:_MOST]:
        yield led(f"{argument.id} = ", "drops the result", 1.0)
    if function is not None:
        yield led("return ", "drops the result", 1.2 if recursive else 0.6)


@fact
def functions_by_name(source: Source) -> dict[str, FunctionNode]:
    """The functions and methods of a module, by name; of several the last in the order of `ast.walk`."""
    return {each.name: each for each in source.functions()}


def yield_swapped(context: Context, node: ast.Return | ast.Expr) -> Iterator[Proposal]:
    """`return a` ↔ `yield a`, `yield a` ↔ `yield from a`, `yield` → `yield []` in a generator."""
    function = context.source.function(node)
    value = node.value
    start = context.source.span(node)[0]
    if isinstance(node, ast.Return):
        if function is not None and value is not None and _yields(function):
            edit = context.edit_span(start, context.source.span(value)[0], "yield ")
            yield Proposal(edits=(edit,), says="ends the generator where it should yield")
        return
    if isinstance(value, ast.YieldFrom):
        edit = context.edit_span(start, context.source.span(value.value)[0], "yield ")
        yield Proposal(edits=(edit,), says="should yield the whole, not its items")
    if not isinstance(value, ast.Yield):
        return
    if value.value is None:
        for rank, text in enumerate(_EMPTY):
            yield Proposal(
                edits=(context.edit(value, f"yield {text}"),), says=f"should yield `{text}`", weight=0.8**rank
            )
        return
    inner = context.source.span(value.value)[0]
    if context.kinds.of(value.value) not in ("number", "bool"):
        edit = context.edit_span(start, inner, "yield from ")
        yield Proposal(edits=(edit,), says="should yield the items, not the whole", weight=0.8)
    yield Proposal(edits=(context.edit_span(start, inner, "return "),), says="should return, not yield", weight=0.5)


def listed(context: Context, node: ast.expr) -> Iterator[Proposal]:
    """`a` → `[a]` where a value is returned, yielded, kept or put beside a list; `[a]` → `a`."""
    parent = context.source.parent(node)
    if isinstance(node, ast.List):
        if len(node.elts) == 1 and isinstance(node.ctx, ast.Load) and not isinstance(node.elts[0], ast.Starred):
            yield context.replace(node, context.code(node.elts[0]), says="needs no list around it")
        return
    added = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add) and _beside_list(context, parent, node)
    kept = isinstance(parent, ast.Call) and node in parent.args and _name(parent.func) in ("append", "extend", "deque")
    if isinstance(node, ast.Constant) and not added:
        return
    if added or kept or isinstance(parent, ast.Return | ast.Yield):
        yield context.replace(
            node, f"[{context.code(node)}]", says="needs a list around it", weight=2.0 if added else 1.0
        )


def _beside_list(context: Context, parent: ast.BinOp, node: ast.expr) -> bool:
    other = parent.right if node is parent.left else parent.left
    return context.kinds.of(other) == "list" and context.kinds.of(node) != "list"


def sequence_joined(context: Context, node: ast.Name | ast.Call | ast.Subscript) -> Iterator[Proposal]:
    """`a` → `[b] + a`, `a + [b]`, `a + b` where a list is returned, yielded, given or kept."""
    parent = context.source.parent(node)
    given = isinstance(parent, ast.Call) and node in parent.args and _name(parent.func) in ("append", "extend")
    if not given and not isinstance(parent, ast.Return | ast.Yield | ast.YieldFrom | ast.Assign):
        return
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or context.kinds.of(node) not in ("list", None):
        return
    if context.kinds.of(node) is None and not isinstance(node, ast.Name | ast.Call):
        return
    code, sure = context.code(node), 1.0 if context.kinds.of(node) == "list" else 0.4
    names = [each for each in context.scopes.variables(node) if each != code]
    for rank, name in enumerate(reversed(names[-2 * _MOST :])):
        items = (name,) if context.kinds.named(node, name) == "list" else (f"[{name}]",)
        for item in items:
            yield context.replace(node, f"{item} + {code}", weight=sure * 0.9**rank)
            yield context.replace(node, f"{code} + {item}", weight=sure * 0.9**rank)


def stride_added(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`range(a, b)` → `range(a, b, k)` for the numbers in scope, or backwards."""
    if _name(node.func) != "range" or len(node.args) != 2:
        return
    end = context.source.span(node)[1] - 1
    given = {context.code(each) for each in node.args}
    numbers = [each for each in context.scopes.variables(node) if context.kinds.named(node, each) == "number"]
    for rank, text in enumerate(["-1", "2", *[each for each in numbers if each not in given][:_MOST]]):
        edit = context.edit_span(end, end, f", {text}")
        yield Proposal(edits=(edit,), says=f"should go in steps of `{text}`", weight=0.85**rank)


def sign_added(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`1` → `-1`, for numbers other than 0."""
    parent = context.source.parent(node)
    places = (ast.Tuple, ast.List, ast.Compare, ast.Return, ast.Assign, ast.Call, ast.Subscript, ast.IfExp)
    if type(node.value) in (int, float) and node.value and isinstance(parent, places):
        yield context.replace(node, f"-{context.code(node)}", says="has the wrong sign")


def index_computed(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """`a[i]` → `a[j - i]`, `a[i - j]`, `a[i + j]`, `a[-i]`, `a[len(a) - 1 - i]` for the numbers in scope."""
    parent = context.source.parent(node)
    if not isinstance(parent, ast.Subscript | ast.Slice) or not isinstance(node.ctx, ast.Load):
        return
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return
    numbers = [each for each in context.scopes.variables(node) if context.kinds.named(node, each) == "number"]
    for rank, name in enumerate([each for each in numbers if each != node.id][:_MOST]):
        for text in (f"{name} - {node.id}", f"{node.id} - {name}", f"{node.id} + {name}"):
            yield context.replace(node, text, weight=0.85**rank)
    if isinstance(parent, ast.Subscript):
        owner = context.code(parent.value)
        yield context.replace(node, f"len({owner}) - 1 - {node.id}", weight=0.5)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


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
