"""Operators that guard a condition against what it cannot ask, and that compute a truth which was written down.

`a[i]` asks for `i < len(a)`, `a.b` for `a is not None`, `a.pop()` for `a`, a marked item for `x not in seen`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source, fact, stored
from codur.repair.operators.statements.guards import is_pure
from codur.repair.operators.statements.loop_updates import members

_MOST = 8
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_RAISED = ("IndexError", "KeyError", "AttributeError", "TypeError", "ValueError")
Tested = ast.If | ast.While | ast.IfExp


def condition_guarded(context: Context, node: Tested | ast.Return) -> Iterator[Proposal]:
    """`if C` → `if A and C`, → `if not A or C`, with an `A` without which `C` may fail."""
    test = node.value if isinstance(node, ast.Return) else node.test
    if test is None or (isinstance(node, ast.Return) and not isinstance(test, ast.Compare | ast.BoolOp)):
        return
    last = test.end_lineno or test.lineno
    likely = 2.0 if context.failure.at(context.source.path, test.lineno, last, *_RAISED) else 0.5
    code = context.code(test)
    asked = {context.code(each) for each in context.source.nodes(test, ast.expr) if _is_asked(context, each)}
    loose = isinstance(test, ast.IfExp | ast.Lambda | ast.NamedExpr)
    for rank, (guard, opposite) in enumerate(_needs(context, test).items()):
        if guard in asked:
            continue
        weight = likely * 0.9**rank
        first = f"({code})" if loose or (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)) else code
        edit = context.edit(test, f"{guard} and {first}")
        yield Proposal(edits=(edit,), says=f"needs `{guard} and` before it", weight=weight)
        second = f"({code})" if loose else code
        edit = context.edit(test, f"{opposite} or {second}")
        yield Proposal(edits=(edit,), says=f"needs `{opposite} or` before it", weight=0.8 * weight)


def _is_asked(context: Context, node: ast.expr) -> bool:
    """Whether the node is a condition by itself."""
    return isinstance(context.source.parent(node), ast.BoolOp | ast.If | ast.While | ast.IfExp | ast.Return)


def _needs(context: Context, test: ast.expr) -> dict[str, str]:
    """Conditions without which the test may raise, with their opposites, in the order of the text."""
    found: dict[str, str] = {}
    none = bool(context.failure.at(context.source.path, test.lineno, test.end_lineno or test.lineno, "TypeError"))
    for each in context.source.nodes(test, ast.Subscript, ast.Attribute, ast.Compare):
        if isinstance(each, ast.Subscript) and is_pure(each) and not isinstance(each.slice, ast.Slice):
            found |= _within(context, each)
        elif isinstance(each, ast.Attribute):
            owner = context.code(each.value)
            if isinstance(context.source.parent(each), ast.Call) and context.source.parent(each).func is each:  # type: ignore[union-attr]
                if each.attr in ("pop", "popleft"):
                    found |= {owner: f"not {owner}"}
            elif owner not in ("self", "cls") and is_pure(each.value):
                found |= {f"{owner} is not None": f"{owner} is None"}
        elif none and isinstance(each, ast.Compare):
            found |= _not_none(context, each)
    return dict(list(found.items())[:_MOST])


def _within(context: Context, node: ast.Subscript) -> dict[str, str]:
    owner, index = context.code(node.value), context.code(node.slice)
    if context.kinds.of(node.value) == "dict":
        return {f"{index} in {owner}": f"{index} not in {owner}"}
    if isinstance(node.slice, ast.Constant | ast.UnaryOp):
        return {owner: f"not {owner}"}
    return {
        f"{index} < len({owner})": f"{index} >= len({owner})",
        f"{index} >= 0": f"{index} < 0",
    }


def _not_none(context: Context, node: ast.Compare) -> dict[str, str]:
    """For an ordering: neither side is None."""
    found: dict[str, str] = {}
    if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Name | ast.Subscript | ast.Attribute) and is_pure(side):
                code = context.code(side)
                found[f"{code} is not None"] = f"{code} is None"
    return found


def condition_reused(context: Context, node: Tested) -> Iterator[Proposal]:
    """`if C` → `if C and A`, → `if C or A`, with a comparison or a membership that the function knows already."""
    test = node.test
    if isinstance(test, ast.Constant):
        return
    code = context.code(test)
    loose = isinstance(test, ast.IfExp | ast.Lambda | ast.NamedExpr)
    for rank, text in enumerate(_known(context, node, code)[:_MOST]):
        for symbol, other, weight in (("and", ast.Or, 1.0), ("or", ast.And, 0.5)):
            old = f"({code})" if loose or (isinstance(test, ast.BoolOp) and isinstance(test.op, other)) else code
            edit = context.edit(test, f"{old} {symbol} {text}")
            yield Proposal(edits=(edit,), says=f"needs `{symbol} {text}`", weight=weight * 0.92**rank)


def _known(context: Context, node: Tested, code: str) -> list[str]:
    here = context.source.statement(node)
    names = set(context.scopes.variables(node))
    if isinstance(here, ast.If | ast.While):
        names |= set(context.scopes.variables(here.body[0]))
    found: dict[str, None] = {}
    source = context.source
    for member in members(source, source.scope(node)):
        if member.names <= names:
            found |= {f"{member.item} not in {member.owner}": None, f"{member.item} in {member.owner}": None}
    for each in _comparisons(source, source.scope(node)):
        if source.names(each) - {"len", "abs"} <= names:
            found.setdefault(context.code(each), None)
        if source.nodes(each, ast.Subscript):
            found |= dict.fromkeys(_renamed(context, node.test, each))
    return [text for text in found if text not in code and "\n" not in text]


@fact
def _comparisons(source: Source, scope: ast.AST) -> tuple[ast.Compare, ...]:
    return tuple(each for each in source.nodes(scope, ast.Compare) if is_pure(each))


def _renamed(context: Context, test: ast.expr, other: ast.Compare) -> list[str]:
    """A comparison with the names it uses as indices replaced, in their order, by those that were set near the test."""
    indices = [each.slice for each in context.source.nodes(other, ast.Subscript)]
    old = sorted({each.id for each in indices if isinstance(each, ast.Name)}, key=context.code(other).find)
    statement = context.source.statement(test)
    around = context.source.parent(statement) if statement else None
    close = stored(context.source, around) if around else ()
    read = context.source.nodes(test, ast.Name)
    numbers = [each for each in read if context.kinds.of(each) in ("number", None)]
    used = dict.fromkeys(each.id for each in sorted(numbers, key=lambda each: (each.lineno, each.col_offset)))
    new = [name for name in used if name in close and name not in old]
    if not old or len(new) < len(old):
        return []
    names = dict(zip(old, new, strict=False))
    return [_NAME.sub(lambda found: names.get(found[0], found[0]), context.code(other))]


def truth_computed(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`return True` → `return not a`, `return a == b` for what the function holds or compares."""
    parent = context.source.parent(node)
    if not isinstance(node.value, bool) or not isinstance(parent, ast.Return):
        return
    names = list(context.scopes.variables(node))
    holders = [each for each in names if context.kinds.named(node, each) in ("list", "set", "dict", "text")]
    texts = [text for name in holders[:_MOST] for text in (f"not {name}", f"bool({name})")]
    numbers = [each for each in names if context.kinds.named(node, each) == "number"][:4]
    texts += [f"{name} == 0" for name in numbers]
    texts += [f"{a} == {b}" for index, a in enumerate(numbers) for b in numbers[index + 1 :]]
    for rank, text in enumerate(texts[: 2 * _MOST]):
        yield context.replace(node, text, weight=0.92**rank)
