"""Every tool that works on a named file, on files that it cannot work on: a code, one sentence, nothing changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.tools.catalogue import all_tools
from tests.tools.conftest import toolbox_on

DEF = "def f():\n    return 1\n"
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "read_file": {},
    "write_file": {"content": "x"},
    "append_file": {"content": "x"},
    "delete_file": {},
    "copy_file": {"target": "copy"},
    "move_file": {"target": "moved"},
    "replace_in_file": {"old": "a", "new": "b"},
    "replace_lines": {"start_line": 1, "end_line": 1, "content": "x"},
    "inject_lines": {"after_line": 0, "content": "x"},
    "grep_files": {"pattern": "needle"},
    "read_data": {},
    "python_ast_outline": {},
    "python_ast_dependencies": {},
    "lint_python": {},
    "find_usages": {"name": "f"},
    "rename_symbol": {"name": "f", "new_name": "g"},
    "replace_function": {"name": "f", "code": DEF},
    "replace_class": {"name": "K", "code": "class K:\n    pass\n"},
    "replace_method": {"class_name": "K", "method_name": "f", "code": DEF},
    "inject_function": {"name": "f", "code": DEF},
    "replace_file_content": {"content": "x = 1\n"},
    "apply_patch": {},
    "run_python_file": {},
}
MAKES_FILES = {"write_file", "append_file", "replace_file_content"}
MAKES_VALUES = {"inject_function"}
"""An absent file becomes one with the function alone."""
NEEDS_NO_TEXT = {"delete_file", "copy_file", "move_file", "write_file"}
"""These do not look into the file; what they do with a binary one is right, and can be taken back."""
PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
CODES = {
    "absent": "not_found",
    "directory": "not_a_file",
    "binary": "binary",
    "huge": "too_large",
    "broken": "syntax_error",
}
PARSING = {
    "data.json": {"read_data"},
    "data.yaml": {"read_data"},
    "data.ini": {"read_data"},
    "data.toml": {"read_data"},
    "code.py": {
        "python_ast_outline",
        "python_ast_dependencies",
        "replace_function",
        "replace_class",
        "replace_method",
        "inject_function",
    },
}
BROKEN = {
    "data.json": '{"a": 1,\n "b": }\n',
    "data.yaml": "a: [1\nb: 2\n",
    "data.ini": "k = v\n",
    "data.toml": "a = 1\nb = = 2\n",
    "code.py": "x = 1\ndef f(:\n    pass\n",
}


def image(root: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


def refused(root: Path, name: str, path: str, code: str) -> str:
    """The one sentence that the call gives, after which all files are as they were."""
    before = image(root)
    first = "source" if name in {"copy_file", "move_file"} else "path"
    given = {"patch": PATCH.format(path)} if name == "apply_patch" else {first: path, **ARGUMENTS[name]}
    result = toolbox_on(root).call(name, given)
    assert result.code == code
    assert result.text
    assert "\n" not in result.text
    assert "Traceback" not in result.text
    assert result.changed_files == ()
    assert image(root) == before
    return result.text


def test_every_tool_with_a_file_is_here() -> None:
    required = {
        tool.name for tool in all_tools() if {"path", "source"} & {*tool.arguments} and tool.side_effect != "network"
    }
    optional = {"list_files", "list_dirs", "search_files", "file_tree", "find_definition"}
    of_git = {"git_diff", "git_log", "git_show", "git_blame"}
    assert required - optional - of_git <= set(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - MAKES_FILES - MAKES_VALUES))
def test_an_absent_file(tmp_path: Path, name: str) -> None:
    refused(tmp_path, name, "absent.py", CODES["absent"])


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - {"grep_files", "lint_python", "python_ast_dependencies"}))
def test_a_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "folder.py" / "a.txt").write_text("a\n")
    refused(tmp_path, name, "folder.py", CODES["directory"])


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - NEEDS_NO_TEXT - {"run_python_file", "lint_python"}))
@pytest.mark.parametrize("kind", ["binary", "huge"])
def test_a_file_that_is_no_text_or_too_large(tmp_path: Path, kind: str, name: str) -> None:
    if (kind, name) == ("huge", "read_file"):
        pytest.skip("it reads the first lines: test_file_tools.py")
    (tmp_path / "bad.py").write_bytes(b"a\0needle\n" if kind == "binary" else b"a = 'needle'\n" * 200_000)
    refused(tmp_path, name, "bad.py", CODES[kind])


@pytest.mark.parametrize(("path", "name"), [(path, name) for path in PARSING for name in sorted(PARSING[path])])
def test_a_file_with_a_syntax_error(tmp_path: Path, path: str, name: str) -> None:
    (tmp_path / path).write_text(BROKEN[path])
    assert "line" in refused(tmp_path, name, path, CODES["broken"])


@pytest.mark.parametrize("name", ["grep_files", "lint_python"])
def test_a_place_that_is_absent_or_outside(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, name, "absent", "not_found") == "there is no file or directory absent"
    assert "outside" in refused(tmp_path, name, "../absent", "refused")
