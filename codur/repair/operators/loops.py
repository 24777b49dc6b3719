"""Operators on loops: where they begin and end, what goes through them, and the update or the exit that they lack.

What a loop tests or reads tells what it may have forgotten to change: a tested membership wants an `add`, a chain that
is walked wants its next link, a number that is compared wants a step.
"""

import ast
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import JUMPS, called, called_plainly, integer, is_called, is_pure
from codur.repair.code.source_edits import Proposal
from codur.repair.operators.arithmetic import shifted
from codur.repair.operators.guards import defaults

_MOST_STEPS, _MOST_UPDATES = 4, 6


def range_bound(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`range(a, b)` → `range(a, b + 1)`, `range(a, b - 1)`, `range(a ± 1, b)`; `range(b)` → `range(1, b)`."""
    if called_plainly(node) != "range" or not node.args or any(isinstance(each, ast.Starred) for each in node.args):
        return
    stop = node.args[:2][-1]
    bound = context.code(stop)
    for amount, says, weight in ((1, "stops one short of", 1.0), (-1, "goes one beyond", 0.8)):
        yield context.replace(stop, shifted(context, stop, amount), says=f"{says} `{bound}`", weight=weight)
    if len(node.args) == 1:
        yield context.replace(stop, f"1, {bound}", says="should start at 1", weight=0.5)
        beyond = shifted(context, stop, 1)
        yield context.replace(stop, f"1, {beyond}", says=f"should go from 1 to `{bound}`", weight=0.3)
        return
    start, from_one = node.args[0], integer(node.args[0]) == 1
    up = 1.2 if _runs_above(context, node, start) else 0.5 if from_one else 0.6
    for amount, weight in ((1, up), (-1, 0.7 if from_one else 0.5)):
        new = shifted(context, start, amount)
        yield context.replace(start, new, says=f"should start at `{new}`", weight=weight)


def _runs_above(context: Context, node: ast.Call, start: ast.expr) -> bool:
    """Whether a range starts at the variable of a loop around it: pairs of one item with itself are seldom meant."""
    return isinstance(start, ast.Name) and any(
        isinstance(above, ast.For) and any(getattr(each, "id", "") == start.id for each in ast.walk(above.target))
        for above in context.source.ancestors(node)
    )


def step_inserted(context: Context, node: ast.For | ast.While) -> Iterator[Proposal]:
    """A loop's body ends with `v += 1` or `v -= 1` for a number that its test or body uses."""
    used, last = context.source.names(node), node.body[-1]
    numbers = [each for each in context.variables(node.body[0], "number") if each in used]
    for rank, name in enumerate(numbers[:_MOST_STEPS] if not isinstance(last, JUMPS) else ()):
        for symbol in ("+", "-"):
            says = f"does not step `{name}`"
            yield from context.after(last, f"{name} {symbol}= 1", says=says, weight=0.85**rank)


def seen_guarded(context: Context, node: ast.Expr | ast.Assign) -> Iterator[Proposal]:
    """Before `seen.add(x)` or `seen[x] = …`: `if x in seen: continue`, or a return."""
    source = context.source
    looped = source.in_loop(node)
    exits = ["continue"] if looped else []
    if source.function(node):
        exits += [f"return {value}" for value in defaults(context, node)[:3]] + ([] if looped else ["return"])
    for item, owner in _put(node):
        if is_pure(item):
            test = f"{_item(context, item)} in {context.code(owner)}"
            yield from context.exits(node, test, exits, 0.8, says=f"does not ask whether `{test}` already")


def _item(context: Context, node: ast.expr) -> str:
    text = context.code(node)
    return f"({text})" if isinstance(node, ast.Tuple) and not text.startswith("(") else text


def _put(node: ast.Expr | ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement puts into which collection, by `add`, by `setdefault` or under a key."""
    value = node.value if isinstance(node, ast.Expr) else node.targets[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args:
        if called(value) in ("add", "get", "setdefault"):
            yield value.args[0], value.func.value
    elif isinstance(value, ast.Subscript) and isinstance(node, ast.Assign) and not isinstance(value.slice, ast.Slice):
        yield value.slice, value.value


def update_inserted(context: Context, node: ast.For | ast.While | ast.If) -> Iterator[Proposal]:
    """What a loop lacks at the end of a block: `seen.add(x)` for an `x in seen` that it asks, `x = x.next`."""
    source = context.source
    loop = next((each for each in (node, *source.ancestors(node)) if isinstance(each, ast.For | ast.While)), None)
    if loop is None:
        return
    for block in filter(None, (node.body, node.orelse)):
        present = {context.code(each) for each in block}
        updates = [each for each in _updates(context, loop, block[-1]) if each not in present]
        for rank, text in enumerate(updates[:_MOST_UPDATES]):
            yield from context.after(block[-1], text, weight=0.9**rank)


def _updates(context: Context, loop: ast.For | ast.While, last: ast.stmt) -> Iterator[str]:
    """A mark for each membership that the loop tests, and a step for each number it takes apart or chain it walks."""
    source = context.source
    known = {*context.scopes.variables(last), *source.stored(last)}
    for test in source.nodes(loop, ast.Compare):
        item, owner = test.left, test.comparators[0]
        asks = isinstance(test.ops[0], ast.In | ast.NotIn) and isinstance(owner, ast.Name) and is_pure(item)
        if asks and source.names(item) <= known:
            kind = context.kinds.of(owner)
            if kind in ("set", "list", None):
                method = "append" if kind == "list" else "add"
                yield f"{context.code(owner)}.{method}({_item(context, item)})"
    tested = source.names(loop.test) if isinstance(loop, ast.While) else frozenset()
    for rest in source.nodes(loop, ast.BinOp):
        if isinstance(rest.op, ast.Mod) and isinstance(rest.left, ast.Name) and rest.left.id in tested:
            yield f"{rest.left.id} //= {context.code(rest.right)}"
    for each in source.nodes(source.scope(loop), ast.Attribute):
        if isinstance(each.value, ast.Name) and each.value.id in tested and not is_called(source.parent(each), each):
            yield f"{each.value.id} = {context.code(each)}"
