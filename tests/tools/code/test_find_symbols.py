"""Names followed through files: uses, renaming, the graph, and linting."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import ToolSettings
from codur.sandbox.launcher import Launcher
from codur.tools.toolbox import Toolbox, ToolContext
from codur.workspace.workspace import Workspace
from tests.tools.conftest import toolbox_on

CORE = """\
import os


LIMIT = 3


class Base:
    def area(self):
        return LIMIT


class Square(Base):
    def area(self):
        return helper(2)  # helper in a comment


def helper(x):
    return x * LIMIT
"""
MAIN = """\
from pkg.core import Square, helper as h
from pkg import core

# helper stays here
print(h(1), core.helper(2), "helper", Square().area())


def use(thing):
    return thing.area()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "core.py").write_text(CORE)
    (tmp_path / "main.py").write_bytes(MAIN.replace("\n", "\r\n").encode())
    (tmp_path / "broken.py").write_text("def (\n")
    (tmp_path / "data.txt").write_text("helper\n")
    return tmp_path


def test_usages(root: Path, toolbox: Toolbox) -> None:
    result = toolbox.call("find_usages", {"path": "pkg/core.py", "name": "helper"})
    assert result.text.split("\n") == [
        "main.py:1: from pkg.core import Square, helper as h",
        'main.py:5: print(h(1), core.helper(2), "helper", Square().area())',
        "pkg/core.py:14: return helper(2)  # helper in a comment",
        "pkg/core.py:17: def helper(x):",
    ]
    assert [place["kind"] for place in result.data["places"]] == ["usage", "usage", "usage", "definition"]


def test_rename_a_function(root: Path, toolbox: Toolbox) -> None:
    (root / "pkg" / "core.pyi").write_text("def helper(x: int) -> int: ...\n")
    result = toolbox.call("rename_symbol", {"path": "pkg/core.py", "name": "helper", "new_name": "aid"})
    assert result.text.split("\n") == [
        "renamed helper to aid in main.py, pkg/core.py, pkg/core.pyi",
        "left as it is where it may mean something else: data.txt:1, main.py:4, main.py:5, pkg/core.py:14",
    ]
    assert result.changed_files == ("main.py", "pkg/core.py", "pkg/core.pyi")
    assert (root / "pkg" / "core.pyi").read_text() == "def aid(x: int) -> int: ...\n"
    changed = MAIN.replace("helper as h", "aid as h").replace("core.helper", "core.aid")
    assert (root / "main.py").read_bytes() == changed.replace("\n", "\r\n").encode()
    assert (root / "pkg" / "core.py").read_text() == CORE.replace("helper(2)", "aid(2)").replace(
        "def helper", "def aid"
    )
    assert (root / "data.txt").read_text() == "helper\n"


def test_rename_a_method_in_its_hierarchy_and_a_variable(root: Path, toolbox: Toolbox) -> None:
    result = toolbox.call("rename_symbol", {"path": "pkg/core.py", "name": "Base.area", "new_name": "size"})
    assert result.text.split("\n") == [
        "renamed Base.area to size in main.py, pkg/core.py",
        "left as it is where it may mean something else: main.py:9",
    ]
    assert toolbox.call("rename_symbol", {"path": "pkg/core.py", "name": "LIMIT", "new_name": "MOST"}).ok
    after = CORE.replace("area", "size").replace("LIMIT", "MOST")
    assert (root / "pkg" / "core.py").read_text() == after


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ({"new_name": "x y"}, "invalid", "'x y' is no Python name"),
        ({"new_name": "class"}, "invalid", "'class' is no Python name"),
        ({"new_name": "helper"}, "invalid", "helper has this name already"),
        ({"new_name": "Base"}, "invalid", "pkg/core.py defines Base already"),
        (
            {"name": "none"},
            "not_found",
            "pkg/core.py does not define none; it has: Base, Base.area, Square, Square.area, helper",
        ),
        ({"path": "no.py"}, "not_found", "there is no file no.py"),
        ({"path": "data.txt"}, "invalid", "data.txt is not among the workspace's Python files"),
        ({"path": "broken.py"}, "syntax_error", "broken.py line 1: invalid syntax: def ("),
        ({"path": "twice.py", "name": "f"}, "many_matches", "twice.py defines f 2 times (lines 1, 3); give the line"),
    ],
)
def test_what_cannot_be_renamed_stays(
    root: Path, toolbox: Toolbox, arguments: dict[str, Any], code: str, text: str
) -> None:
    (root / "twice.py").write_text("def f():\n    pass\ndef f():\n    pass\n")
    before = {path: path.read_bytes() for path in root.rglob("*.py")}
    given = {"path": "pkg/core.py", "name": "helper", "new_name": "aid", **arguments}
    result = toolbox.call("rename_symbol", given)
    assert (result.code, result.text) == (code, text)
    assert {path: path.read_bytes() for path in root.rglob("*.py")} == before


def test_a_file_that_cannot_be_written_keeps_all(root: Path, toolbox: Toolbox) -> None:
    before = (root / "main.py").read_bytes()
    toolbox._context.workspace.protect(["pkg/core.py"])
    result = toolbox.call("rename_symbol", {"path": "pkg/core.py", "name": "helper", "new_name": "aid"})
    assert result.code == "refused"
    assert (root / "main.py").read_bytes() == before
    assert (root / "pkg" / "core.py").read_text() == CORE


def test_nothing_of_the_workspace_is_run(root: Path, toolbox: Toolbox) -> None:
    (root / ".ropeproject").mkdir()
    (root / ".ropeproject" / "config.py").write_text(f"open({str(root / 'PWN')!r}, 'w')\n")
    (root / "side.py").write_text(f"open({str(root / 'PWN')!r}, 'w')\nfrom pkg.core import helper\n")
    assert toolbox.call("find_usages", {"path": "pkg/core.py", "name": "helper"}).ok
    assert not (root / "PWN").exists()


def without_ruff(root: Path, folder: Path) -> Toolbox:
    """A toolbox whose launcher finds no ruff, as on a machine that has none."""

    class Bare(Launcher):
        def find(self, name: str, *, outside: Path) -> str | None:
            return None

    return Toolbox(
        ToolContext(
            workspace=Workspace.open(root),
            launcher=Bare(os.environ),
            find_python=lambda: sys.executable,
            settings=ToolSettings(),
            timeout_s=20,
        )
    )


def test_lint_without_ruff_checks_the_syntax(root: Path, tmp_path: Path) -> None:
    result = without_ruff(root, tmp_path).call("lint_python", {})
    assert result.text.split("\n") == [
        "broken.py:1:5: syntax invalid syntax",
        "ruff is not installed, so only the syntax was checked",
    ]
    assert result.data["by"] == "python"
    fine = without_ruff(root, tmp_path).call("lint_python", {"path": "pkg"})
    assert fine.text.startswith("no error of syntax in 2 files\n")
    assert without_ruff(root, tmp_path).call("lint_python", {"path": "absent"}).code == "not_found"


@pytest.mark.skipif(
    shutil.which("ruff", path=f"{os.environ['PATH']}:{Path(sys.executable).parent}") is None, reason="needs ruff"
)
def test_lint_with_ruff(root: Path) -> None:
    result = toolbox_on(root).call("lint_python", {"path": "pkg"})
    assert "pkg/core.py:1:8: F401 `os` imported but unused" in result.text.split("\n")
    assert {"path": "pkg/core.py", "line": 1, "code": "F401"}.items() <= result.data["findings"][-1].items()
    (root / "good.py").write_text("X = 1\n")
    assert toolbox_on(root).call("lint_python", {"path": "good.py"}).text == "nothing found in 1 file"
    (root / "ruff.toml").write_text("[lint\n")
    failed = toolbox_on(root).call("lint_python", {"path": "pkg"})
    assert (failed.code, failed.text[:30]) == ("failed", "ruff could not check the files")
