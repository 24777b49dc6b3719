"""Operators on what is shown: how `print` separates and ends, formats, digits, a missing f-prefix."""

import ast
from collections.abc import Iterator

from codur.lazy import regex
from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called_plainly
from codur.repair.code.source_edits import Proposal

_SEPARATORS = ('""', '" "', '", "', '"\\n"')
_ENDS = ('""', '" "', '"\\n"')
_FIELD = regex(r"\{([A-Za-z_]\w*)[^{}]*\}")
_DIGITS = regex(r"\.(\d)(?=[fge%])")
_FORMAT = regex(r"\.\d([f%])(?=[}\"'\s])")
_DATE_CODE = regex(r"%([mMdjyYHIbBaA])")
_OTHER_CODE = dict(zip("mMdjyYHIbBaA", "MmjdYyIHBbAa", strict=True))


def spread(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(a)` ↔ `print(*a)`, also with another separator."""
    end = context.source.span(node)[1] - 1
    separated = len(node.args) > 1 or any(each.arg == "sep" for each in node.keywords)
    for argument in node.args if called_plainly(node) == "print" else ():
        if isinstance(argument, ast.Starred):
            yield context.whole(argument, context.code(argument.value), "should print the whole, not its items", 0.6)
            continue
        kind, start = context.kinds.of(argument), context.source.span(argument)[0]
        if kind in ("number", "bool") or isinstance(argument, ast.Constant | ast.JoinedStr | ast.GeneratorExp):
            continue
        weight = 1.0 if kind == "list" else 0.5
        yield context.insert(start, "*", "should print the items, not the whole", weight)
        for rank, text in enumerate(() if separated else ('""', '"\\n"')):
            edits = (context.edit_span(start, start, "*"), context.edit_span(end, end, f", sep={text}"))
            yield Proposal(edits=edits, says=f"should print the items, `sep={text}`", weight=0.6 * weight * 0.8**rank)


def ended(context: Context, node: ast.Call) -> Iterator[Proposal]:
    """`print(…)` gets a separator or an end, loses it, or has another one."""
    if called_plainly(node) != "print":
        return
    given = {each.arg: each.value for each in node.keywords}
    many = len(node.args) > 1 or any(isinstance(each, ast.Starred) for each in node.args)
    for name, texts, usual in (("sep", _SEPARATORS, '" "'), ("end", _ENDS, '"\\n"')):
        if name in given:
            for rank, text in enumerate(texts):
                if text != context.code(given[name]).replace("'", '"'):
                    yield context.whole(given[name], text, f"needs `{name}={text}`", 0.85**rank)
        elif node.args and (name == "end" or many):
            for rank, text in enumerate(text for text in texts if text != usual):
                yield context.last_argument(node, f"{name}={text}", f"needs `{name}={text}`", 0.8 * 0.85**rank)


def prefix_missing(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`"hello {name}"` → `f"hello {name}"` if every field starts with a name in scope."""
    parent = context.source.parent(node)
    formats = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.left is node
    if not isinstance(node.value, str) or formats or isinstance(parent, ast.Expr | ast.Attribute | ast.JoinedStr):
        return
    names, code = _FIELD.findall(node.value), context.code(node)
    if names and {*names} <= {*context.scopes.visible(node), "self"} and code[0] in "\"'rR" and _has_field(f"f{code}"):
        yield context.insert(context.source.span(node)[0], "f", "lacks its `f` prefix")


def _has_field(code: str) -> bool:
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(tree, ast.JoinedStr) and any(isinstance(value, ast.FormattedValue) for value in tree.values)


def digits_shifted(context: Context, node: ast.Constant | ast.JoinedStr) -> Iterator[Proposal]:
    """`"%.2f"`, `f"{x:.2f}"`: one digit more or less behind the point."""
    start, text = written(context, node)
    for found in _DIGITS.finditer(text):
        for digits in (int(found[1]) + 1, int(found[1]) - 1):
            if digits >= 0:
                at = start + found.start(1), start + found.end(1)
                yield context.span(*at, str(digits), f"should show {digits} digits")


def format_swapped(context: Context, node: ast.Constant | ast.JoinedStr) -> Iterator[Proposal]:
    """`f"{x:.1f}"` ↔ `f"{x:.1%}"`, and one code of a date's format: `%m` ↔ `%M`."""
    start, text = written(context, node)
    for found in _FORMAT.finditer(text):
        other = "%" if found[1] == "f" else "f"
        says = f"needs the format `{other}` in place of `{found[1]}`"
        yield context.span(start + found.start(1), start + found.end(1), other, says)
    codes = list(_DATE_CODE.finditer(text))
    for found in codes if len(codes) > 1 else ():
        other = _OTHER_CODE[found[1]]
        says = f"needs `%{other}` in place of `%{found[1]}`"
        yield context.span(start + found.start(1), start + found.end(1), other, says)


def written(context: Context, node: ast.Constant | ast.JoinedStr) -> tuple[int, str]:
    """Where a whole text literal starts, and how it is written; empty for its parts, docstrings and other constants."""
    within = isinstance(context.source.parent(node), ast.JoinedStr | ast.FormattedValue | ast.Expr)
    if within or (isinstance(node, ast.Constant) and not isinstance(node.value, str)):
        return 0, ""
    return context.source.span(node)[0], context.code(node)
