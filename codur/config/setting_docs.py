"""What the settings mean: the docstrings of the classes and fields of `settings`, read from its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache

from codur.config import settings


@cache
def meanings() -> Mapping[str, str]:
    """One line each, by `Class` and `Class.field`."""
    found = {}
    for node in ast.parse(inspect.getsource(settings)).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = _one_line(ast.get_docstring(node) or "")
            found.update(_fields(node))
    return found


def _fields(node: ast.ClassDef) -> Mapping[str, str]:
    found = {}
    for item, after in zip(node.body, node.body[1:], strict=False):
        match item, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[f"{node.name}.{name}"] = _one_line(text)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
