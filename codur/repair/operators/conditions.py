"""Operators on conditions and branches. New ones are made from what is in scope, as Nopol (2017) and SPR (2015) do."""

import ast
from collections.abc import Iterable, Iterator

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import (
    has_multiline_text,
    is_pure,
    is_read,
    last_line,
)
from codur.repair.code.source_edits import Proposal
from codur.repair.operators.constants import constants
from codur.structs import Struct

_MAX_TERMS, _MAX_CONDITIONS = 9, 8
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)
_HOLDERS = ("list", "text", "dict", "set")
Tested = ast.If | ast.While | ast.IfExp
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class _Term(Struct):
    """An expression that conditions are made of: its text, its kind, and how near it is."""

    text: str
    kind: str | None
    near: float


def condition_extended(context: Context, node: Tested) -> Iterator[Proposal]:
    """`if C` → `if C and A`, → `if C or A`."""
    test = node.test
    if isinstance(test, ast.Constant) or not is_pure(test):
        return
    for symbol in ("and", "or"):
        for text, weight in _conditions(context, test):
            new = f"{_bracketed(test, context.code(test), symbol)} {symbol} {text}"
            yield context.whole(test, new, f"needs `{symbol} {text}`", weight)


def _bracketed(test: ast.expr, code: str, symbol: str) -> str:
    """A condition as it can stand beside `and` or `or`."""
    other = ast.Or if symbol == "and" else ast.And
    loose = isinstance(test, ast.IfExp | ast.Lambda | ast.NamedExpr)
    return f"({code})" if loose or (isinstance(test, ast.BoolOp) and isinstance(test.op, other)) else code


def statement_guarded(context: Context, node: ast.stmt) -> Iterator[Proposal]:
    """A statement moves into `if A:`."""
    source = context.source
    indent = source.indent(node)
    if not isinstance(node, _SIMPLE) or not indent or has_multiline_text(node):
        return
    first, last = node.lineno, last_line(node)
    lines = "\n".join(source.indent_unit + line if line.strip() else line for line in source.lines[first - 1 : last])
    for text, weight in _conditions(context, node):
        new = f"{indent}if {text}:\n{lines}"
        yield context.span(source.line_start(first), source.line_end(last), new, f"should run only if `{text}`", weight)


def filter_added(context: Context, node: Comprehension) -> Iterator[Proposal]:
    """A comprehension's `for x in a` → `for x in a if A`, with a condition on its variables."""
    for generator in node.generators:
        names = [each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)]
        last, word = (generator.ifs[-1], "and") if generator.ifs else (generator.iter, "if")
        code = context.fit(last, context.code(last)) if generator.ifs else context.code(last)
        for name in names[:2]:
            kind = context.kinds.named(generator, name)
            for rank, text in enumerate(_alone(_Term(text=name, kind=kind, near=1.0))):
                yield context.whole(last, f"{code} {word} {text}", f"needs `{word} {text}`", 0.85**rank)


# --- branches ---------------------------------------------------------------------------------------------------------


def else_added(context: Context, node: ast.If) -> Iterator[Proposal]:
    """`if` without `else`: the opposite jump, or the return of the opposite truth, in an `else`."""
    indent, last = context.source.indent(node), node.body[-1]
    inner = context.source.indent(last)
    if node.orelse or indent is None or inner is None:
        return
    texts = ["break", "continue"] if context.source.in_loop(node) else []
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add | ast.Sub):
        other = "-" if isinstance(last.op, ast.Add) else "+"
        texts.insert(0, f"{context.code(last.target)} {other}= {context.code(last.value)}")
    if isinstance(last, ast.Assign) and len(last.targets) == 1:
        texts.insert(0, f"{context.code(last.targets[0])} = 0")
    end = context.source.line_end(last_line(last))
    for rank, text in enumerate(texts):
        yield context.insert(end, f"\n{indent}else:\n{inner}{text}", f"needs `{text}` otherwise", 0.8**rank)


# --- what conditions are made of --------------------------------------------------------------------------------------


def _conditions(context: Context, node: ast.expr | ast.stmt) -> list[tuple[str, float]]:
    """The likeliest conditions, with their weights."""
    made = _made(_terms(context, node), _numbers(context, node))
    return sorted(made, key=lambda each: -each[1])[:_MAX_CONDITIONS]


def _terms(context: Context, node: ast.expr | ast.stmt) -> list[_Term]:
    """Variables in scope, and the subscripts that the statement already uses."""
    statement = context.source.statement(node)
    close = context.source.names(statement or node)
    found = {
        name: _Term(text=name, kind=context.kinds.named(node, name), near=1.0 if name in close else 0.5)
        for name in context.scopes.variables(node)
    }
    for each in context.source.nodes(statement, ast.Subscript) if statement else ():
        if is_read(each) and is_pure(each) and not isinstance(each.slice, ast.Slice):
            text = context.code(each)
            found.setdefault(text, _Term(text=text, kind=context.kinds.of(each), near=0.8))
    return sorted(found.values(), key=lambda term: -term.near)[:_MAX_TERMS]


def _numbers(context: Context, node: ast.expr | ast.stmt) -> list[str]:
    """Whole numbers that the function holds."""
    found = constants(context.source, context.source.scope(node))
    return list(dict.fromkeys(str(each) for each in found if type(each) is int))[:4]


def _made(terms: list[_Term], numbers: list[str]) -> Iterable[tuple[str, float]]:
    for term in terms:
        for rank, text in enumerate(_alone(term)):
            yield text, term.near * 0.9**rank
        if term.kind in (None, "number"):
            for number in numbers:
                yield f"{term.text} == {number}", 0.4 * term.near
    for index, left in enumerate(terms):
        for right in terms[index + 1 :]:
            if left.text in right.text or right.text in left.text:
                continue  # a sequence and its own item
            for rank, text in enumerate(_pair(left, right)):
                yield text, 0.8 * min(left.near, right.near) * 0.92**rank


def _alone(term: _Term) -> tuple[str, ...]:
    """Conditions on one value, by its kind."""
    text = term.text
    number = tuple(f"{text} {rest}" for rest in ("> 0", "% 2 == 1", "% 2 == 0", "!= 0", "== 0", "< 0", "> 1"))
    if term.kind == "number":
        return number
    truths = (text, f"not {text}")
    if term.kind in _HOLDERS:
        return (*truths, f"len({text}) > 1", f"len({text}) == 1")
    return truths if term.kind == "bool" else (*truths, f"{text} is not None", *number[:5])


def _pair(left: _Term, right: _Term) -> tuple[str, ...]:
    """Conditions on two values, where their kinds allow it."""
    for holder, item in ((left, right), (right, left)):
        if holder.kind in _HOLDERS and item.kind not in ("list", "dict", "set", holder.kind):
            return (f"{item.text} in {holder.text}", f"{item.text} not in {holder.text}")
    if None not in (left.kind, right.kind) and left.kind != right.kind:
        return ()
    symbols = ("!=", "==", "<", ">", "<=", ">=")
    orders = left.kind in (None, "number", "text")
    return tuple(f"{left.text} {symbol} {right.text}" for symbol in (symbols if orders else symbols[:2]))
