"""Functions and classes that the task names: who asks often knows where the fault is."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from codur.repair.source import parse_source
from codur.repair.tracing import Line

_NAMED = re.compile(r"\b(?:def|class)\s+(\w+)")
_WORD = re.compile(r"[^\W\d]\w{2,}")


def named_lines(texts: Mapping[str, str], task: str) -> frozenset[Line]:
    """The lines of the functions and classes whose names stand in the task, as whole words in the same letter case."""
    words = frozenset(_WORD.findall(task))
    found: set[Line] = set()
    for path, text in texts.items() if words else ():
        source = None if words.isdisjoint(_NAMED.findall(text)) else parse_source(path, text)
        for node in source.walk(source.tree) if source is not None else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in words:
                found.update((path, line) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)
