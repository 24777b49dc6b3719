"""A source file in parts that are shown or left out as wholes: functions, methods, heads of classes, the rest."""

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from codur.lazy import regex
from codur.structs import Struct, replace
from codur.tools.code.definitions import Defined, definitions_in, parse
from codur.tools.code.syntax_trees import grammar_of
from codur.tools.tool import ToolError

MAX_PARTS = 2_000
SPLIT_LINES = 40
"""A class with more lines is shown method by method."""
SPLIT_FUNCTION_LINES = 120
"""So is a function with more: one that makes an object out of functions within it."""
_LINE_END = regex(r"\r\n?|\n")


class Part(Struct, kw_only=False):
    """A definition (or the code between two), as 0-based half-open lines."""

    name: str
    start: int
    end: int
    head: int = -1  # the line that introduces it


def lines_of(text: str) -> list[str]:
    """The lines as Python's parser counts them."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def parts_of(path: str, text: str) -> list[Part]:
    """The file's parts; between them are empty lines at most.

    Nothing if its language is not known, or it has so many that it is a table rather than a program.
    """
    try:
        found = definitions_in(path, text)
    except ToolError:
        return []
    lines = lines_of(text)
    is_python = grammar_of(path) is None
    if is_python:  # what is defined in an `if` or a `try` stays with it
        blocks = [range(item.start, item.end + 1) for item in found if item.top and lines[item.start - 1][:1].isspace()]
        found = [item for item in found if not any(item.start in block for block in blocks)]
    found = [replace(item, start=_commented(lines, item.start - 1, python=is_python) + 1) for item in found]
    marks = ("#",) if is_python else ("//", "/*", "*")
    parts: list[Part] = []
    for part in _between(found, "", range(len(lines))):
        filled = [n for n in range(max(part.start, parts[-1].end if parts else 0), part.end) if lines[n].strip()]
        code = filled if part.head >= 0 else [n for n in filled if not lines[n].lstrip().startswith(marks)]
        # An empty line alone makes no part, nor does a comment, but one above a definition.
        if code:
            start, end = (code[0], code[-1] + 1) if is_python else (filled[0], filled[-1] + 1)
            if is_python and part.head >= 0:
                end = _with_comments(lines, start, end)
            parts.append(replace(part, start=start, end=end))
    return parts if len(parts) <= MAX_PARTS else []


def used_statements(text: str, names: Collection[str]) -> Iterator[range]:
    """The lines (0-based, half-open) of a Python module's imports, and of what defines one of these names by itself.

    What a module says of itself, lists for others or keeps for functions that are not shown is not among them.
    """
    for node in _tree(text).body:
        inside = list(ast.walk(node)) if isinstance(node, ast.Assign | ast.AnnAssign | ast.If | ast.Try) else [node]
        stored = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        imports = any(isinstance(each, ast.Import | ast.ImportFrom) for each in inside)
        if imports or not stored.isdisjoint(names):
            yield range(node.lineno - 1, node.end_lineno or node.lineno)


def docstring_lines(text: str, part: Part) -> range:
    """The lines (0-based, half-open) of a Python function's docstring but its first one; none if it has none."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno - 1 == part.head:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None and first is not node.body[-1]:
                return range(first.lineno, first.end_lineno or first.lineno)
    return range(0)


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    return parse("", text)


def _between(found: Sequence[Defined], around: str, lines: range) -> Iterator[Part]:
    """The parts of some lines: the definitions that begin there, and what is between them, named as what is around."""
    position = lines.start
    for number, item in enumerate(found):
        start, end = item.start - 1, min(item.end, lines.stop)
        if start < position or start >= lines.stop:
            continue
        yield Part(around, position, start)
        is_long = end - start > (SPLIT_LINES if item.kind in {"class", "module"} else SPLIT_FUNCTION_LINES)
        inner = [other for other in found[number + 1 :] if is_long and other.end <= item.end]
        if inner:
            first, *others = _between(inner, item.qualname, range(start, end))
            yield replace(first, head=item.line - 1)
            yield from others
        else:
            yield Part(item.qualname, start, end, item.line - 1)
        position = end
    yield Part(around, position, lines.stop)


def _commented(lines: Sequence[str], start: int, *, python: bool) -> int:
    """Where a definition begins with the comment that is its own, which no parser counts to it.

    That is one of Python directly above it, or `/** … */` with an empty line below, unless the file begins with it.
    """
    first = start
    if python:
        indent = len(lines[start]) - len(lines[start].lstrip())
        while first and lines[first - 1].startswith(lines[start][:indent] + "#"):
            first -= 1
    elif start > 1 and not lines[start - 1].strip() and lines[start - 2].rstrip().endswith("*/"):
        begin = next((n for n in range(start - 2, 0, -1) if lines[n].lstrip().startswith("/*")), 0)
        first = begin if lines[begin].lstrip().startswith("/**") and begin else start
    return first


def _with_comments(lines: Sequence[str], start: int, end: int) -> int:
    """The end of a definition of Python with the indented comments after it, which the parser leaves out."""
    outer = len(lines[start]) - len(lines[start].lstrip())
    for number in range(end, len(lines)):
        code = lines[number].lstrip()
        if code and not (code.startswith("#") and len(lines[number]) - len(code) > outer):
            break
        end = number + 1 if code else end
    return end
