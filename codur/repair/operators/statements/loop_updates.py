"""Operators that insert an update which a loop or a recursion lacks: a mark, a step along a chain, an item kept.

What a block tests or reads tells what it may have forgotten to change: a tested membership wants an `add`, a chain that
is walked wants its next link, a value that is worked out wants to be kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codur.repair.code.node_context import Context
from codur.repair.code.scopes import nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact, stored
from codur.repair.operators.statements.guards import defaults, is_pure
from codur.repair.operators.statements.statements import body_start

_MOST = 14
_MOST_NAMES = 4
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
Block = ast.For | ast.While | ast.If | FunctionNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A value that the function looks up in, or puts into, a collection: their texts and the names they use."""

    item: str
    owner: str
    names: frozenset[str]


def update_inserted(context: Context, node: Block) -> Iterator[Proposal]:
    """`seen.add(x)`, `x = x.next`, `x = y`, `total += 1`, `found.append(x)` at the start or the end of a block."""
    loop = _round(context, node)
    if loop is None:
        return
    for block in (node.body, getattr(node, "orelse", [])):
        if not block or (isinstance(block[0], ast.If) and block is not node.body):
            continue
        texts = _updates(context, loop, block)
        for rank, (text, weight) in enumerate(sorted(texts.items(), key=lambda pair: -pair[1])[:_MOST]):
            yield from _inserted(context, node, block, text, weight * 0.97**rank)


def _inserted(context: Context, node: Block, block: list[ast.stmt], text: str, weight: float) -> Iterator[Proposal]:
    """The statement behind the block's last one (before it, if that is a jump), and before its first one."""
    source, last = context.source, block[-1]
    indent = source.indent(last)
    if indent is None:
        return
    says = f"lacks `{text}`"
    if not isinstance(last, _JUMPS):
        end = source.line_end(last.end_lineno or last.lineno)
        yield Proposal(edits=(context.edit_span(end, end, f"\n{indent}{text}"),), says=says, weight=weight)
    else:
        at = source.line_start(last.lineno)
        yield Proposal(edits=(context.edit_span(at, at, f"{indent}{text}\n"),), says=says, weight=weight)
    first = body_start(source, node) if isinstance(node, FunctionNode) else (source.line_start(block[0].lineno), indent)
    if first and (len(block) > 1 or not isinstance(last, _JUMPS)):
        edit = context.edit_span(first[0], first[0], f"{first[1]}{text}\n")
        yield Proposal(edits=(edit,), says=says, weight=0.8 * weight)


def _round(context: Context, node: Block) -> ast.For | ast.While | FunctionNode | None:
    """The innermost loop that the node is or stands in, or the function if that calls itself."""
    for each in (node, *context.source.ancestors(node)):
        if isinstance(each, ast.For | ast.While):
            return each
        if isinstance(each, FunctionNode):
            calls = (call.func for call in context.source.nodes(each, ast.Call))
            own = any(each.name in (getattr(call, "id", ""), getattr(call, "attr", "")) for call in calls)
            return each if own else None
    return None


def _updates(context: Context, loop: ast.For | ast.While | FunctionNode, block: list[ast.stmt]) -> dict[str, float]:
    """Statements that the block may lack, with their weights."""
    here = block[-1]
    source = context.source
    known = {*context.scopes.variables(here), *(name for each in block for name in stored(source, each))}
    found: dict[str, float] = {}
    for member in members(source, source.scope(here)):
        if member.names <= known:
            found |= {text: weight for text, weight in _kept(context, here, member) if text not in found}
    if not isinstance(loop, FunctionNode):
        found |= {text: weight for text, weight in _steps(context, loop, known) if text not in found}
    for name in [each for each in sorted(known) if context.kinds.named(here, each) in ("list", "set")][:_MOST_NAMES]:
        method = "append" if context.kinds.named(here, name) == "list" else "add"
        for item in sorted(_made(source, loop) & known)[:_MOST_NAMES]:
            found.setdefault(f"{name}.{method}({item})", 0.45)
    present = {context.code(each) for each in block}
    return {text: weight for text, weight in found.items() if text not in present}


def _kept(context: Context, here: ast.stmt, member: Member) -> Iterator[tuple[str, float]]:
    """What puts a member into its collection, by the collection's kind."""
    owner = member.owner
    values = _values_of(context, here, owner)
    kind = "dict" if values else context.kinds.named(here, owner) if owner.isidentifier() else None
    if kind in ("set", None):
        yield f"{owner}.add({member.item})", 1.0 if kind else 0.6
    if kind in ("list", None):
        yield f"{owner}.append({member.item})", 0.7
    if kind in ("dict", None):
        for value in values or ["True"]:
            yield f"{owner}[{member.item}] = {value}", 0.7


def _values_of(context: Context, here: ast.stmt, owner: str) -> list[str]:
    """What the function stores in a mapping, and the number after each number that it stores."""
    found: dict[str, None] = {}
    for each in context.source.nodes(context.source.scope(here), ast.Assign):
        if _held_by(context, each.targets[0], owner) and is_pure(each.value):
            found[context.code(each.value)] = None
            if isinstance(each.value, ast.Constant) and type(each.value.value) is int:
                found[str(each.value.value + 1)] = None
    loop = next((each for each in context.source.ancestors(here) if isinstance(each, ast.For)), None)
    if found and loop is not None:
        found |= dict.fromkeys(stored(context.source, loop))
    return list(found)[:_MOST_NAMES]


def _held_by(context: Context, node: ast.expr, owner: str) -> bool:
    return isinstance(node, ast.Subscript) and context.code(node.value) == owner


def _steps(context: Context, loop: ast.For | ast.While, known: set[str]) -> Iterator[tuple[str, float]]:
    """Steps of a loop: along a chain, to a value worked out, down by a divisor, or one up."""
    source = context.source
    tested = source.names(loop.test) if isinstance(loop, ast.While) else frozenset()
    made = _made(source, loop)
    walked = _walked(source)
    for name, link in _links(context, loop):
        if name in known:
            weight = 1.0 if name in tested else 0.8
            yield f"{name} = {name}.{link}", weight if link in walked else 0.4 * weight
    used = {each.id for each in source.nodes(loop, ast.Name) if isinstance(each.ctx, ast.Load)}
    called = {each.func.id for each in source.nodes(loop, ast.Call) if isinstance(each.func, ast.Name)}
    before = set(context.scopes.variables(loop)) - source.names(loop.iter if isinstance(loop, ast.For) else None)
    for name in sorted((used & before & known) - called):
        for value in sorted(made & known - {name}):
            if context.kinds.named(loop, name) in (None, context.kinds.named(loop, value)):
                yield f"{name} = {value}", 0.8 if name in tested and name not in made else 0.4
    for each in source.nodes(loop, ast.BinOp):
        if isinstance(each.op, ast.Mod) and isinstance(each.left, ast.Name):
            yield f"{each.left.id} //= {context.code(each.right)}", 0.7
    for name in sorted(before & known - used):
        if context.kinds.named(loop, name) == "number":
            yield f"{name} += 1", 0.5


def _links(context: Context, loop: ast.For | ast.While) -> list[tuple[str, str]]:
    """Variables of a loop whose attributes it reads, with attributes of the program that are values."""
    source = context.source
    names = dict.fromkeys(each.attr for each in _values(source, source.tree))
    owners = dict.fromkeys(each.value.id for each in _values(source, loop) if isinstance(each.value, ast.Name))
    most = 2 * _MOST_NAMES
    return [
        (owner, name)
        for owner in owners
        if owner != "self"
        for name in nearest(source, loop, owner, list(names), most)[:most]
    ]


@fact
def _values(source: Source, scope: ast.AST) -> tuple[ast.Attribute, ...]:
    """Attributes that are not called."""
    called = {each.func for each in source.nodes(scope, ast.Call)}
    return tuple(each for each in source.nodes(scope, ast.Attribute) if each not in called)


@fact
def _walked(source: Source) -> frozenset[str]:
    """Attributes by which the program goes from one object to the next: `a = b.next`."""
    assigned = (each.value for each in source.nodes(source.tree, ast.Assign))
    found = (each for each in assigned if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
    return frozenset(each.attr for each in found)


def _made(source: Source, loop: ast.AST) -> set[str]:
    """Names that a loop, or a function's body and parameters, gives a value."""
    if isinstance(loop, FunctionNode):
        return {each.arg for each in loop.args.args} - {"self", "cls"}
    return set(stored(source, loop))


@fact
def members(source: Source, scope: ast.AST) -> list[Member]:
    """What a scope tests for membership, adds, and looks up by key, in the order of its text."""
    found: dict[tuple[str, str], Member] = {}
    for each in source.nodes(scope, ast.Compare, ast.Call, ast.Subscript):
        for item, owner in _pairs(each):
            if is_pure(item) and is_pure(owner) and isinstance(owner, ast.Name | ast.Attribute):
                texts = _item(source, item), source.code(owner)
                names = (source.names(item) | source.names(owner)) - {"self"}
                found.setdefault(texts, Member(item=texts[0], owner=texts[1], names=names))
    return list(found.values())


def _item(source: Source, node: ast.expr) -> str:
    text = source.code(node)
    return f"({text})" if isinstance(node, ast.Tuple) and not text.startswith("(") else text


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        yield node.left, node.comparators[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) >= 1:
        if node.func.attr in ("add", "get", "setdefault"):
            yield node.args[0], node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and not isinstance(node.slice, ast.Slice):
        yield node.slice, node.value


def seen_guarded(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """Before `seen.add(x)` or `seen[x] = …`: `if x in seen: continue`, or a return."""
    source = context.source
    indent = source.indent(node)
    inner = node.value if isinstance(node, ast.Expr) else node.targets[0] if isinstance(node, ast.Assign) else None
    if indent is None or inner is None:
        return
    start = source.line_start(node.lineno)
    exits = ["continue"] if source.in_loop(node) else []
    exits += [f"return {value}" for value in defaults(context, node)[:3]] if source.function(node) else []
    exits += ["return"] if source.function(node) and not source.in_loop(node) else []
    for item, owner in _pairs(inner):
        if is_pure(item):
            test = f"{_item(source, item)} in {context.code(owner)}"
            for rank, leave in enumerate(exits):
                text = f"{indent}if {test}:\n{indent}{source.indent_unit}{leave}\n"
                says = f"does not ask whether `{test}` already"
                yield Proposal(edits=(context.edit_span(start, start, text),), says=says, weight=0.8**rank)
