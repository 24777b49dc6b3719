"""Questions about Python files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox
from codur.types import ToolResult

MAIN = '''"""Doc."""
import os, sys.path
from pkg import helper
from pkg.core import run as go
from . import sibling
import requests

LIMIT: int = 3
a, (b, c) = 1, (2, 3)


@decorated
async def fetch(url: str, *, retries: int = 2) -> bytes:
    """Fetch it.

    More.
    """
    return go(url)


class Shop(Base, metaclass=Meta):
    def total(self):
        return self.price() + tax()

    def price(self):
        def inner():
            return tax()

        return inner()


if LIMIT:
    def tax():
        return "\\d"
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "sibling.py").write_text("import main\n")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .core import run\nfrom .. import main\nfrom ... import x\n")
    (tmp_path / "pkg" / "core.py").write_text("def run(x):\n    return x\n")
    (tmp_path / "broken.py").write_text("def f(:\n    pass\n")
    (tmp_path / "outside.py").write_text("return 1\n")
    (tmp_path / "deep.py").write_text("(" * 300 + ")" * 300)
    return tmp_path


def test_outline(root: Path, toolbox: Toolbox) -> None:
    result = toolbox.call("python_ast_outline", {"path": "main.py"})
    assert result.text == (
        "async def fetch(url: str, *, retries: int=2) -> bytes  (lines 12-18)\n"
        "class Shop(Base, metaclass=Meta)  (lines 21-29)\n"
        "  def total(self)  (lines 22-23)\n"
        "  def price(self)  (lines 25-29)\n"
        "    def inner()  (lines 26-27)\n"
        "def tax()  (lines 33-34)"
    )
    assert [item["name"] for item in result.data["definitions"]] == [
        "fetch",
        "Shop",
        "Shop.total",
        "Shop.price",
        "Shop.price.inner",
        "tax",
    ]
    assert result.data["definitions"][0] == {
        "name": "fetch",
        "kind": "function",
        "start_line": 12,
        "end_line": 18,
        "signature": "async def fetch(url: str, *, retries: int=2) -> bytes",
        "doc": "Fetch it.",
    }


def test_dependencies(root: Path, toolbox: Toolbox) -> None:
    result = toolbox.call("python_ast_dependencies", {"path": "main.py"})
    assert result.text == (
        "main.py\n"
        "  imports from the workspace: pkg → pkg/__init__.py, pkg.core → pkg/core.py, . → sibling.py\n"
        "  standard library: os, sys.path\n"
        "  packages: requests\n"
        "  Shop.total calls Shop.price, tax\n"
        "  Shop.price calls Shop.price.inner, tax\n"
        "  Shop.price.inner calls tax"
    )
    assert result.data["files"][0]["imports"][0] == {
        "module": "os",
        "names": [],
        "line": 2,
        "kind": "stdlib",
        "path": None,
    }


def test_dependencies_of_several_files(root: Path, toolbox: Toolbox) -> None:
    result = toolbox.call("python_ast_dependencies_multifile", {"paths": ["sibling.py", "pkg/__init__.py"]})
    assert result.text == (
        "sibling.py\n  imports from the workspace: main → main.py\n\n"
        "pkg/__init__.py\n  imports from the workspace: .core → pkg/core.py, .. → main.py, ..."
    )
    assert [facts["path"] for facts in result.data["files"]] == ["sibling.py", "pkg/__init__.py"]
    many = toolbox.call("python_ast_dependencies_multifile", {"paths": ["main.py"] * 21})
    assert (many.code, many.text) == ("invalid", "give 1 to 20 files or directories")


def test_dependencies_below_a_directory(root: Path, toolbox: Toolbox) -> None:
    """What cannot be parsed is left out; an earlier name does."""
    whole = toolbox.call("python_ast_graph", {"path": "."})
    assert {facts["path"] for facts in whole.data["files"]} >= {"main.py", "sibling.py", "pkg/core.py"}
    assert "broken.py" not in whole.text
    (root / "empty").mkdir()
    assert toolbox.call("python_ast_dependencies", {"paths": ["empty"]}).code == "not_found"
    assert toolbox.call("python_ast_dependencies", {"paths": ["broken.py"]}).code == "syntax_error"


CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("find_definition", {"name": "run"}, "ok", "pkg/core.py:1: def run(x):"),
    ("find_definition", {"name": "Shop.total"}, "ok", "main.py:22: def total(self):"),
    ("find_definition", {"name": "LIMIT"}, "ok", "main.py:8: LIMIT: int = 3"),
    ("find_definition", {"name": "c", "path": "main.py"}, "ok", "main.py:9: a, (b, c) = 1, (2, 3)"),
    ("find_definition", {"name": "zzz"}, "not_found", "no definition of zzz in the workspace"),
    ("find_definition", {"name": "a b"}, "invalid", "'a b' is no name"),
    ("python_ast_outline", {"path": "broken.py"}, "syntax_error", "broken.py line 1: invalid syntax: def f(:"),
    ("python_ast_outline", {"path": "sibling.py"}, "ok", "sibling.py defines nothing"),
]


@pytest.mark.parametrize(("name", "arguments", "code", "text"), CALLS)
def test_call(root: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], code: str, text: str) -> None:
    result = toolbox.call(name, arguments)
    assert (result.code, result.text) == (code, text)
    if result.code != "ok":
        assert result == ToolResult(code=result.code, text=text)
