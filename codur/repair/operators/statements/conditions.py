"""Operators that synthesise conditions from what is in scope, as Nopol (Xuan et al. 2017) and SPR (2015) do.

Conditions that are equally true in every recorded environment of a line are one condition, and one that would change
nothing there is none: both are told apart by evaluating them on the recorded values, without running the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codur.repair.code.evaluate import UNKNOWN, outcomes
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode
from codur.repair.evidence.observed_values import Environment
from codur.repair.operators.expressions.constants import constants
from codur.repair.operators.statements.guards import defaults, is_pure
from codur.repair.operators.statements.statements import has_multiline_text

_MAX_TERMS = 9
_MAX_CONDITIONS = 30
_UNSEEN_CONDITIONS = 8
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Term:
    """An expression that conditions are made of: its text, its kind, and how near it is."""

    text: str
    kind: str | None
    near: float


def condition_extended(context: Context, node: ast.If | ast.While | ast.IfExp) -> Iterator[Proposal]:
    """`if C` → `if C and A`, → `if C or A`."""
    test = node.test
    if isinstance(test, ast.Constant) or not is_pure(test):
        return
    code, environments = context.code(test), context.observed.environments(test.lineno)
    loose = isinstance(test, ast.IfExp | ast.Lambda | ast.NamedExpr)
    for symbol, held, other in (("and", "F", ast.Or), ("or", "T", ast.And)):
        open_ones = _left(environments, outcomes(code, environments), held)
        old = f"({code})" if loose or (isinstance(test, ast.BoolOp) and isinstance(test.op, other)) else code
        for text, weight in _conditions(context, test, open_ones, idle="T" if symbol == "and" else "F"):
            says = f"needs `{symbol} {text}`"
            yield Proposal(edits=(context.edit(test, f"{old} {symbol} {text}"),), says=says, weight=weight)


def condition_replaced(context: Context, node: ast.If | ast.While | ast.IfExp) -> Iterator[Proposal]:
    """`if a` → `if a > 0`, `if a is not None`: the truth of a value becomes a comparison."""
    test = node.test
    if isinstance(test, ast.Name | ast.Subscript | ast.Attribute) and is_pure(test):
        code = context.code(test)
        for rank, rest in enumerate(("is not None", "> 0", ">= 0", "!= 0", "is None", "== 0", "< 0", "> 1", "== 1")):
            yield context.replace(test, f"{code} {rest}", weight=0.8**rank)


def statement_guarded(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """A statement moves into `if A:`."""
    source = context.source
    indent = source.indent(node)
    if not isinstance(node, _SIMPLE) or not indent or has_multiline_text(node):
        return
    first, last = node.lineno, node.end_lineno or node.lineno
    lines = [source.indent_unit + line if line.strip() else line for line in source.lines[first - 1 : last]]
    environments = context.observed.environments(node.lineno)
    for text, weight in _conditions(context, node, environments, idle="T"):
        new = f"{indent}if {text}:\n" + "\n".join(lines)
        edit = context.edit_span(source.line_start(first), source.line_end(last), new)
        yield Proposal(edits=(edit,), says=f"should run only if `{text}`", weight=weight)


def exit_inserted(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """`if A: return …`, `continue` or `break` before a statement."""
    source = context.source
    indent = source.indent(node)
    if indent is None or isinstance(node, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass):
        return
    if source.lines[node.lineno - 1].lstrip().startswith("elif") or source.block(node)[0] is not node:
        return
    exits = ["continue", "break"] if source.in_loop(node) else []
    if source.function(node) is not None:
        exits += [f"return {value}" for value in defaults(context, node)[:3]]
    start = source.line_start(node.lineno)
    environments = context.observed.environments(node.lineno)
    for text, weight in _conditions(context, node, environments, idle="F"):
        for rank, leave in enumerate(exits):
            new = f"{indent}if {text}:\n{indent}{source.indent_unit}{leave}\n"
            says = f"needs a `{leave}` before it if `{text}`"
            yield Proposal(edits=(context.edit_span(start, start, new),), says=says, weight=weight * 0.7**rank)


def else_conditioned(context: Context, node: ast.If) -> Iterator[Proposal]:
    """`else:` → `elif A:`."""
    if not node.orelse or (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
        return
    source = context.source
    start, end = source.span(node.body[-1])[1], source.span(node.orelse[0])[0]
    at = source.text.find("else", start, end)
    colon = source.text.find(":", at, end)
    if at < 0 or "#" in source.text[start:at] or source.text[at + 4 : colon].strip():
        return
    environments = context.observed.environments(node.orelse[0].lineno)
    for text, weight in _conditions(context, node.orelse[0], environments, idle="T"):
        edit = context.edit_span(at, colon, f"elif {text}")
        yield Proposal(edits=(edit,), says=f"needs `elif {text}` in place of `else`", weight=weight)


def filter_added(
    context: Context, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> Iterator[Proposal]:
    """A comprehension's `for x in a` → `for x in a if A`, with a condition on its variables."""
    for generator in node.generators:
        yield from _filters(context, generator)


def _filters(context: Context, node: ast.comprehension) -> Iterator[Proposal]:
    names = [each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)]
    last = node.ifs[-1] if node.ifs else node.iter
    for name in names[:2]:
        for rank, text in enumerate(_alone(_Term(text=name, kind=context.kinds.named(node, name), near=1.0))):
            if node.ifs:
                new = f"{context.fit(last, context.code(last))} and {text}"
            else:
                new = f"{context.code(last)} if {text}"
            says = f"needs `{'and' if node.ifs else 'if'} {text}`"
            yield Proposal(edits=(context.edit(last, new),), says=says, weight=0.85**rank)


def _left(environments: list[Environment], truths: tuple[str, ...], held: str) -> list[Environment]:
    """The environments in which the condition is not already settled."""
    if not truths:
        return environments
    return [each for each, truth in zip(environments, truths, strict=True) if truth != held]


def _conditions(
    context: Context, node: ast.expr | ast.stmt, environments: list[Environment], *, idle: str
) -> Iterator[tuple[str, float]]:
    """Conditions that differ in the environments, likely ones first; one that is always `idle` would change nothing."""
    terms = _terms(context, node)
    made = sorted(_made(terms, _constants(context, node)), key=lambda each: -each[1])
    seen: set[tuple[str, ...]] = set()
    given = unseen = 0
    for text, weight in made:
        truths = outcomes(text, environments)
        if not truths or UNKNOWN in truths:
            unseen += 1
            if unseen > _UNSEEN_CONDITIONS:
                continue
        elif truths in seen or set(truths) == {idle}:
            continue
        seen.add(truths)
        given += 1
        if given > _MAX_CONDITIONS:
            return
        yield text, weight


def _terms(context: Context, node: ast.expr | ast.stmt) -> list[_Term]:
    """Variables in scope, and subscripts and lengths that the function's conditions already use."""
    statement = context.source.statement(node)
    close = context.source.names(statement or node)
    found = {
        name: _Term(text=name, kind=context.kinds.named(node, name), near=1.0 if name in close else 0.5)
        for name in context.scopes.variables(node)
    }
    for each in context.source.nodes(statement, ast.Subscript) if statement else ():
        if isinstance(each.ctx, ast.Load) and is_pure(each):
            text = context.code(each)
            if not isinstance(each.slice, ast.Slice):
                found.setdefault(text, _Term(text=text, kind=context.kinds.of(each), near=0.8))
    return sorted(found.values(), key=lambda term: -term.near)[:_MAX_TERMS]


def _constants(context: Context, node: ast.expr | ast.stmt) -> list[str]:
    """Numbers of the function's comparisons and arithmetic."""
    found = constants(context.source, context.source.scope(node))
    return list(dict.fromkeys(str(each) for each in found if type(each) is int))[:4]


def _made(terms: list[_Term], constants: list[str]) -> Iterable[tuple[str, float]]:
    for term in terms:
        for rank, text in enumerate(_alone(term)):
            yield text, term.near * 0.9**rank
        if term.kind in (None, "number"):
            for constant in constants:
                yield f"{term.text} == {constant}", 0.4 * term.near
    for index, left in enumerate(terms):
        for right in terms[index + 1 :]:
            if left.text in right.text or right.text in left.text:
                continue  # a sequence and its own item
            near = min(left.near, right.near)
            for rank, text in enumerate(_pair(left, right)):
                yield text, 0.8 * near * 0.92**rank


def _alone(term: _Term) -> tuple[str, ...]:
    """Conditions on one value, by its kind."""
    text = term.text
    number = (
        f"{text} > 0",
        f"{text} % 2 == 1",
        f"{text} % 2 == 0",
        f"{text} != 0",
        f"{text} == 0",
        f"{text} < 0",
        f"{text} > 1",
    )
    if term.kind == "number":
        return number
    if term.kind in ("list", "text", "dict", "set", "bool"):
        more = (f"len({text}) > 1", f"len({text}) == 1") if term.kind != "bool" else ()
        return (text, f"not {text}", *more)
    return (text, f"not {text}", f"{text} is not None", *number[:5])


def _pair(left: _Term, right: _Term) -> tuple[str, ...]:
    """Conditions on two values, where their kinds allow it."""
    first, second = left.text, right.text
    holders = ("list", "text", "dict", "set")
    if left.kind in holders and right.kind not in ("list", "dict", "set", left.kind):
        return (f"{second} in {first}", f"{second} not in {first}")
    if right.kind in holders and left.kind not in ("list", "dict", "set", right.kind):
        return (f"{first} in {second}", f"{first} not in {second}")
    if None not in (left.kind, right.kind) and left.kind != right.kind:
        return ()
    same = (f"{first} != {second}", f"{first} == {second}")
    order = (f"{first} < {second}", f"{first} > {second}", f"{first} <= {second}", f"{first} >= {second}")
    return (*same, *order) if left.kind in (None, "number", "text") else same
