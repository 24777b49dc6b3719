"""What the `conftest.py` files of a workspace allow: to be loaded once, and tests to be called one by one."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping

NAME = "conftest.py"
_ONCE = {
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_ignore_collect",
    "pytest_report_header",
    "pytest_terminal_summary",
    "pytest_unconfigure",
}
"""Hooks that are called before the tests or after them, with what is the same for all candidates."""


class Conftests:
    """The `conftest.py` files of a workspace.

    Args:
        files: its Python files by absolute path.
        root: the workspace.

    Attributes:
        load_once: whether they import nothing of the workspace, so that a candidate does not change what they do.
        load_later: whether, if they do import something, they can be loaded after the settings: they have no hooks.
        are_quiet: whether they have no hook that takes part in the run of a test.
    """

    def __init__(self, files: Mapping[str, bytes], root: str) -> None:
        # By single parts of the names and not by whole modules, as a source root may lie anywhere on the path.
        own = {part.removesuffix(".py") for path in files for part in path[len(root) + 1 :].split("/")}
        self.trees: dict[str, ast.Module] = {}
        self.load_once = True
        hooks: set[str] = set()
        for path, data in files.items():
            if os.path.basename(path) == NAME:
                try:
                    tree = self.trees[path] = ast.parse(data)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    self.load_once = False
                    hooks.add("pytest_plugins")  # of one that cannot be read the worst is taken
                    continue
                self.load_once = self.load_once and not any(name in own for name in _imported(tree))
                hooks.update(_hooks(tree))
        self.are_quiet = hooks <= _ONCE
        self.load_later = not self.load_once and not hooks

    def __bool__(self) -> bool:
        return bool(self.trees)


def _imported(tree: ast.Module) -> Iterator[str]:
    """Parts of the names of what is imported, and what stands for other ways to load something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from each.name.split(".")
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "conftest").split(".")
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Name) and node.id in {"__import__", "importlib", "exec", "pytest_plugins"}:
            yield "conftest"


def _hooks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else getattr(node, "name", None)
        if isinstance(name, str) and name.startswith("pytest_"):
            yield name
