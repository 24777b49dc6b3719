"""Functions and classes that the task or a failing test names: who asks often knows where the fault is."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from codur.lazy import regex
from codur.repair.code.source_file import FunctionNode, Source, parse_source
from codur.repair.evidence.tracing import Line

_NAMED = regex(r"\b(?:def|class)\s+(\w+)")
_ASSIGNED = regex(r"^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_WORD = regex(r"[^\W\d]\w{2,}")


def named_lines(texts: Mapping[str, str], task: str) -> frozenset[Line]:
    """The lines of the functions and classes whose names stand in the task, as whole words in the same letter case."""
    words = frozenset(_WORD.findall(task))
    found: set[Line] = set()
    for path, text in texts.items() if words else ():
        source = None if words.isdisjoint(_NAMED.findall(text)) else parse_source(path, text)
        for node in _named(source, words) if source is not None else ():
            found.update((path, line) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def _named(source: Source, words: frozenset[str]) -> list[FunctionNode | ast.ClassDef]:
    nodes = source.walk(source.tree)
    return [each for each in nodes if isinstance(each, FunctionNode | ast.ClassDef) and each.name in words]


def named_tables(texts: Mapping[str, str], task: str) -> frozenset[Line]:
    """The lines of assignments outside of functions: to names in the task, or in the functions there that it names.

    Tables, patterns and settings run when they are imported, so no test's own run tells of them.
    """
    words = frozenset(_WORD.findall(task))
    found: set[Line] = set()
    for path, text in texts.items():
        none = words.isdisjoint([*_NAMED.findall(text), *_ASSIGNED.findall(text)])
        source = None if none else parse_source(path, text)
        if source is None:
            continue
        read = words.union(*map(_names, _named(source, words)))
        for node in source.nodes(source.tree, ast.Assign, ast.AnnAssign):
            if source.function(node) is None and not read.isdisjoint(_names(node, ast.Store)):
                found.update((path, line) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def names_in_tests(texts: Mapping[str, str], tests: Iterable[str]) -> str:
    """What failing tests name, for `named_lines`: in their bodies and in the helpers of the same file that they use.

    Args:
        texts: the test files, by path.
        tests: node ids as pytest names them (`tests/test_x.py::TestY::test_z[0]`).
    """
    sources = {path: source for path, text in texts.items() if (source := parse_source(path, text))}
    found: set[str] = set()
    for path, *names in {tuple(test.partition("[")[0].split("::")) for test in tests}:
        if names and path in sources:
            found |= _called_in(sources[path], names[-1])
    return " ".join(sorted(found))


def _called_in(source: Source, name: str) -> set[str]:
    """Names in a function and in its helpers in the same file, as they are where they were imported from."""
    nodes = list(ast.walk(source.tree))
    functions = {node.name: node for node in nodes if isinstance(node, FunctionNode)}
    imports = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    imported = {alias.asname: alias.name for alias in imports if alias.asname}
    names = set(_names(functions[name])) if name in functions else set()
    names |= {inner for helper in names & functions.keys() for inner in _names(functions[helper])}
    return {imported.get(each, each) for each in names - functions.keys()}


def _names(top: ast.AST, use: type[ast.expr_context] = ast.expr_context) -> Iterator[str]:
    for node in ast.walk(top):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, use):
            yield node.id if isinstance(node, ast.Name) else node.attr
