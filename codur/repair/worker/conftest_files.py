"""Whether the `conftest.py` files of a workspace can be loaded once for all candidates."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping

NAME = "conftest.py"


class Conftests:
    """The `conftest.py` files of a workspace.

    Args:
        files: its Python files by absolute path.
        root: the workspace.

    Attributes:
        load_once: whether they import nothing of the workspace, so that a candidate does not change what they do.
        load_later: whether, if they do import something, they can be loaded after the settings: they have no hooks.
    """

    def __init__(self, files: Mapping[str, bytes], root: str) -> None:
        # By single parts of the names and not by whole modules, as a source root may lie anywhere on the path.
        own = {os.path.splitext(part)[0] for path in files for part in path[len(root) + 1 :].split("/")}
        self.trees: dict[str, ast.Module] = {}
        self.load_once = True
        hooks = False
        for path, data in files.items():
            if os.path.basename(path) == NAME:
                try:
                    tree = self.trees[path] = ast.parse(data)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    self.load_once, hooks = False, True  # of one that cannot be read the worst is taken
                    continue
                self.load_once = self.load_once and not any(name in own for name in _imported(tree))
                hooks = hooks or _has_hooks(tree)
        self.load_later = not self.load_once and not hooks


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


def _has_hooks(tree: ast.Module) -> bool:
    names = (node.id if isinstance(node, ast.Name) else getattr(node, "name", None) for node in ast.walk(tree))
    return any(isinstance(name, str) and name.startswith("pytest_") for name in names)
