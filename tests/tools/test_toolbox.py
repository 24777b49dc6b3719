"""Names, arguments, permission, schemas and output bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codur.config.settings import Settings, ToolSettings
from codur.config.tool_names import TOOL_NAMES
from codur.parsing.bounded_text import bounded
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult, ToolSpec
from tests.tools.conftest import toolbox_on

NAMES = tuple(
    sorted(
        """
    append_file apply_patch ask_user call_mcp_tool copy_file delete_file duckduckgo_search fetch_webpage file_tree
    find_definition find_usages git_blame
    git_commit git_continue git_diff git_log git_show git_stage_files git_status git_switch grep_files inject_function
    inject_lines
    lint_python list_dirs list_files list_mcp_resources list_mcp_tools list_tools move_file python_ast_dependencies
    python_ast_outline read_data read_file read_files
    read_mcp_resource rename_symbol replace_class replace_file_content replace_function
    replace_in_file replace_lines replace_method run_check run_command run_pytest run_python_file search_files
    write_file
    """.split()
    )
)


def test_names(toolbox: Toolbox) -> None:
    assert toolbox.names() == NAMES
    assert set(NAMES) == TOOL_NAMES, "the names by which agents' files are checked; list it in config/tool_names.py"
    assert toolbox.get("nothing") is None


def test_default_agents_have_their_tools(toolbox: Toolbox) -> None:
    for agent in Settings().agents.configs.values():
        assert set(agent.tools) <= set(toolbox.names())


def test_spec(toolbox: Toolbox) -> None:
    assert toolbox.spec("read_file") == ToolSpec(
        name="read_file",
        description="Read a text file, or some of its lines.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File to read, relative to the workspace."},
                "start_line": {
                    "type": ["integer", "null"],
                    "description": "First line, counted from 1; the whole file if left out.",
                },
                "end_line": {"type": ["integer", "null"], "description": "Last line, included."},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    )


def test_every_schema_is_valid_and_described(toolbox: Toolbox) -> None:
    for spec in toolbox.specs(toolbox.names()):
        jsonschema.Draft202012Validator.check_schema(spec.parameters)
        assert spec.parameters["additionalProperties"] is False
        assert all(item["description"].endswith(".") for item in spec.parameters["properties"].values())
        assert spec.description.endswith(".")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("read_fil", {}, "there is no tool read_fil; did you mean read_file?"),
    ("read_file", {}, "read_file needs the argument path; it takes path, start_line, end_line"),
    ("read_file", {"path": None}, "read_file: path: Expected `str`, got `null`"),
    ("read_file", {"path": 1}, "read_file: path: Expected `str`, got `int`"),
    ("read_file", {"colour": "a"}, "read_file has no argument colour; it takes path, start_line, end_line"),
    ("read_file", {"path": "a", "start_line": "x"}, "read_file: start_line: Expected `int`, got `str`"),
    ("read_file", {"path": "a", "start_line": True}, "read_file: start_line: Expected `int`, got `bool`"),
    ("read_file", {"path": "a", "start_line": 1.5}, "read_file: start_line: Expected `int`, got `float`"),
    (
        "read_file",
        {"path": "a", "start_line": "9" * 5000},
        "read_file: start_line: Integer value out of range",
    ),
    ("read_file", {"path": "a", "start_line": "--5"}, "read_file: start_line: Expected `int`, got `str`"),
    (
        "read_file",
        {"path": "a", "start_line": 10**5000},
        "read_file: start_line: Expected `int` <= 999999999999999999",
    ),
    ("read_file", {"path": "a", "start_line": [1]}, "read_file: start_line: Expected `int`, got `array`"),
    ("read_file", {"path": {"a": 1}}, "read_file: path: Expected `str`, got `object`"),
    ("read_file", {"path": "a\ud800"}, "read_file: path holds what is no character"),
    (
        "run_python_file",
        {"path": "a", "stdin": "\udcff"},
        "run_python_file: stdin holds what is no character",
    ),
    ("\ud800", {}, bounded(f"there is no tool ?; there are {', '.join(NAMES)}", 1000)),
    ("git_status", {"\ud800" + "x" * 200: 1}, f"git_status has no argument ?{'x' * 79}; it takes none"),
    ("run_pytest", {"paths": 3}, "run_pytest: paths: Expected `array`, got `int`"),
    ("run_pytest", {"paths": [3]}, "run_pytest: paths: Expected `str`, got `int` - at `$[0]`"),
    ("git_diff", {"staged": "yes"}, "git_diff: staged: Expected `bool`, got `str`"),
    ("git_status", {"x": 1}, "git_status has no argument x; it takes none"),
]


@pytest.mark.parametrize(("name", "arguments", "text"), REFUSED)
def test_bad_calls(toolbox: Toolbox, name: str, arguments: Mapping[str, Any], text: str) -> None:
    assert toolbox.call(name, arguments) == ToolResult(code="invalid", text=text)
    assert toolbox.check(name, arguments) == ToolResult(code="invalid", text=text)


def test_what_models_write_is_understood(toolbox: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    for start in ("2", 2.0, 2):
        result = toolbox.call("read_file", {"path": "a.txt", "start_line": start, "end_line": None})
        assert result == ToolResult(
            text="2\n3\n", data={"path": "a.txt", "start_line": 2, "end_line": 3, "total_lines": 3}
        )
    (tmp_path / "a.py").write_text("")
    assert toolbox.call("python_ast_dependencies_multifile", {"paths": "a.py"}).text == "a.py depends on nothing"


@pytest.mark.parametrize(
    ("settings", "name", "arguments", "text"),
    [
        (
            ToolSettings(allow_write=False),
            "write_file",
            {"path": "x", "content": "y"},
            "write_file changes files, which tools.allow_write forbids",
        ),
        (
            ToolSettings(allow_run=False),
            "run_python_file",
            {"path": "x"},
            "run_python_file starts a program, which tools.allow_run forbids",
        ),
    ],
)
def test_permission(tmp_path: Path, settings: ToolSettings, name: str, arguments: Mapping[str, Any], text: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    toolbox = toolbox_on(tmp_path, settings)
    assert toolbox.call(name, arguments) == ToolResult(code="refused", text=text)
    assert toolbox.check(name, arguments) == ToolResult(code="refused", text=text)
    assert toolbox.call("read_file", {"path": "a.txt"}).ok
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_long_output_is_cut(toolbox: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{number}\n" for number in range(100_000)))
    text = toolbox.call("read_file", {"path": "a.txt"}).text
    assert len(text) <= 200_000
    assert text.startswith("0\n1\n")
    assert text.endswith("99998\n99999\n")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 0, ""),
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("x" * 100, 60, "x" * 19 + "\n… [71 characters left out] …\n" + "x" * 10),
        (
            "".join(f"line {n}\n" for n in range(30)),
            100,
            "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n… [22 lines left out] …\nline 28\nline 29\n",
        ),
    ],
)
def test_bounded(text: str, limit: int, expected: str) -> None:
    result = bounded(text, limit)
    assert len(result) <= limit
    assert result == expected
