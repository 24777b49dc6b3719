"""A source file in parts that are shown or left out as wholes: functions, methods, heads of classes, the rest."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from codur.structs import Struct, replace
from codur.tools.code.definitions import Defined, definitions_in
from codur.tools.code.syntax_trees import grammar_of

MAX_PARTS = 2_000
SPLIT_LINES = 40
"""A class with more lines is shown method by method."""
_LINE_END = re.compile(r"\r\n?|\n")


class Part(Struct, kw_only=False):
    """A definition (or the code between two), as 0-based half-open lines.

    Attributes:
        head: the line that introduces it.
    """

    name: str
    start: int
    end: int
    head: int = -1


def lines_of(text: str) -> list[str]:
    """The lines as Python's parser counts them."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def parts_of(path: str, text: str) -> list[Part]:
    """The file's parts; between them are empty lines at most.

    Nothing if its language is not known, or it has so many that it is a table rather than a program.
    """
    parts = _parts_of_python(text) if grammar_of(path) is None else _parts_of_syntax(path, text)
    return parts if len(parts) <= MAX_PARTS else []


def _parts_of_syntax(path: str, text: str) -> list[Part]:
    lines = lines_of(text)
    found = definitions_in(path, text)
    parts: list[Part] = []
    for part in _between(found, "", range(len(lines))):
        if parts and part.start < parts[-1].end:  # two definitions on one line
            parts[-1] = replace(parts[-1], end=max(parts[-1].end, part.end))
        elif any(map(str.strip, lines[part.start : part.end])):
            parts.append(part)
    return parts


def _between(found: Sequence[Defined], around: str, lines: range) -> Iterator[Part]:
    """The parts of some lines: the definitions that begin there, and what is between them, named as what is around."""
    position = lines.start
    for number, item in enumerate(found):
        start, end = item.start - 1, min(item.end, lines.stop)
        if start < position or start >= lines.stop:
            continue
        yield Part(around, position, start)
        is_long = item.kind in {"class", "module"} and end - start > SPLIT_LINES
        inner = [other for other in found[number + 1 :] if is_long and other.end <= item.end]
        if inner:
            first, *others = _between(inner, item.qualname, range(start, end))
            yield replace(first, head=item.line - 1)
            yield from others
        else:
            yield Part(item.qualname, start, end, item.line - 1)
        position = end
    yield Part(around, position, lines.stop)


def _parts_of_python(text: str) -> list[Part]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of code that is only looked at
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = lines_of(text)
    parts: list[Part] = []
    for part in (_with_comments(part, lines) for part in _parts(body, "")):
        if parts and not part.name and not parts[-1].name:
            parts[-1] = replace(parts[-1], end=part.end)
        elif parts and part.start < parts[-1].end:  # two statements on one line
            parts[-1] = replace(parts[-1], end=max(parts[-1].end, part.end))
        else:
            parts.append(part)
    return [replace(part, end=min(part.end, len(lines))) for part in parts]


def _with_comments(part: Part, lines: list[str]) -> Part:
    """A definition with the indented comments at its end, which the parser leaves out."""
    end = part.end
    if part.name and end < len(lines) and end > part.start:
        outer = len(lines[part.start]) - len(lines[part.start].lstrip())
        for number in range(end, len(lines)):
            code = lines[number].lstrip()
            if code and not (code.startswith("#") and len(lines[number]) - len(code) > outer):
                break
            end = number + 1 if code else end
    return replace(part, end=end)


def _parts(body: list[ast.stmt], prefix: str) -> Iterator[Part]:
    for node in body:
        start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
        end = node.end_lineno or node.lineno
        name = getattr(node, "name", "")
        named = f"{prefix}{name}" if name else prefix.rstrip(".")
        inner = next((item for item in getattr(node, "body", []) if _is_function(item)), None)
        if isinstance(node, ast.ClassDef) and inner is not None and end - start > SPLIT_LINES:
            first = min([inner.lineno, *(item.lineno for item in inner.decorator_list)]) - 1
            if first > start:
                yield Part(named, start, first, node.lineno - 1)
                yield from _parts(node.body[node.body.index(inner) :], f"{named}.")
                continue
        yield Part(named, start, end, node.lineno - 1)


def _is_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
