"""What tools declare: kinds of output, what feeds what, and that results keep to it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import jsonschema
import pytest

from codur.config.settings import ToolSettings
from codur.config.tool_names import TOOL_NAMES
from codur.structs import convert, is_data, replace
from codur.tools.arguments import schema
from codur.tools.catalogue import all_tools
from codur.tools.flow import code_outputs, outputs
from codur.tools.flow.io_kinds import PATHS, Value, can_feed, fits, gives, values_in
from codur.tools.flow.outputs import Edit, Matches, Place, to_json
from codur.tools.tool import Arg, Tool, ToolContext, tool
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult, Verdict
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import git

KINDS = {kind for module in (outputs, code_outputs) for kind in vars(module).values() if isinstance(kind, type)}


@pytest.mark.parametrize("row", all_tools(), ids=lambda row: row.name)
def test_every_tool_declares_itself(row: Tool) -> None:
    assert row.output in KINDS
    assert is_data(row.output)
    assert row.description.endswith(".")
    assert len(row.description) < 200
    assert row.task_types
    for item in row.arguments.values():
        assert item.doc.endswith(".")
        assert set(item.accepts) <= set(get_args(Value))
    assert set(gives(row.output).values()) <= set(get_args(Value))
    jsonschema.Draft202012Validator.check_schema(schema(row.arguments))


def test_the_catalogue_names_every_row_of_a_module() -> None:
    modules = {sys.modules[row.function.__module__] for row in all_tools()}
    rows = [row.name for module in modules for row in module.TOOLS]
    assert sorted(rows) == sorted(row.name for row in all_tools())
    assert set(rows) == TOOL_NAMES


def test_what_an_output_gives() -> None:
    assert gives(Matches) == {"matches[].path": "path", "matches[].line": "line"}
    found = Matches(matches=(Place(path="a.py", line=3, text="x"), Place(path="a.py", line=9, text="y")), complete=True)
    assert values_in(Matches, to_json(found)) == {"path": ("a.py",), "line": (3, 9)}
    assert values_in(Edit, to_json(Edit(path="a", action="made"))) == {"path": ("a",)}
    assert values_in(Edit, None) == {}


@pytest.mark.parametrize(
    ("given", "taken", "expected"),
    [
        ("path", "path", True),
        ("path", "python_path", True),
        ("python_path", "path", True),
        ("python_path", "data_path", False),
        ("directory", "path", False),
        ("line", "symbol", False),
    ],
)
def test_what_can_feed_what(given: Value, taken: Value, expected: bool) -> None:
    assert can_feed(given, taken) is expected


def test_a_narrower_path_needs_its_suffix() -> None:
    assert [kind for kind in PATHS if fits(kind, "a/b.yml")] == ["data_path"]
    assert [fits("path", value) for value in ("a", 3, None)] == [True, False, False]
    assert [fits("line", value) for value in (3, "3", True)] == [True, False, False]


@tool(outputs.Text)
def shout(context: ToolContext, text: Annotated[str, Arg("What to shout.", "text")]) -> ToolResult:
    """Say it loudly.

    A tool that is made here, as CONTRIBUTING.md says.
    """
    return ToolResult(text=text.upper())


def test_a_new_tool_is_one_function(tmp_path: Path, toolbox: Toolbox) -> None:
    own = Toolbox(toolbox._context, {"shout": shout})
    assert own.call("shout", {"text": "hey"}) == ToolResult(text="HEY")
    assert (own.spec("shout").description, own.spec("shout").parameters["required"]) == ("Say it loudly.", ["text"])


FILES = {
    "a.py": "import os\n\n\ndef f(x):\n    return x\n\n\nclass K:\n    def m(self):\n        return f(1)\n",
    "notes.txt": "one\ntwo\n",
    "d.json": '{"a": [1, {"b": null}]}\n',
    "sub/b.txt": "x\n",
    "test_a.py": "def test_a():\n    pass\n",
}
CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": "a.py"},
    "read_files": {"paths": ["a.py", "absent"]},
    "write_file": {"path": "n.txt", "content": "x"},
    "append_file": {"path": "notes.txt", "content": "x"},
    "delete_file": {"path": "notes.txt"},
    "copy_file": {"source": "notes.txt", "target": "n.txt"},
    "move_file": {"source": "notes.txt", "target": "n.txt"},
    "replace_in_file": {"path": "notes.txt", "old": "one", "new": "1"},
    "replace_lines": {"path": "notes.txt", "start_line": 1, "end_line": 1, "content": "1"},
    "inject_lines": {"path": "notes.txt", "after_line": 0, "content": "0"},
    "list_files": {},
    "list_dirs": {},
    "search_files": {"query": "a"},
    "file_tree": {},
    "grep_files": {"pattern": "def"},
    "read_data": {"path": "d.json"},
    "python_ast_outline": {"path": "a.py"},
    "python_ast_dependencies": {"paths": ["a.py"]},
    "find_definition": {"name": "f"},
    "replace_function": {"path": "a.py", "name": "f", "code": "def f(x):\n    return 2\n"},
    "replace_class": {"path": "a.py", "name": "K", "code": "class K:\n    pass\n"},
    "replace_method": {"path": "a.py", "class_name": "K", "method_name": "m", "code": "def m(self):\n    pass\n"},
    "inject_function": {"path": "a.py", "name": "g", "code": "def g():\n    pass\n"},
    "replace_file_content": {"path": "a.py", "content": "x = 1\n"},
    "run_python_file": {"path": "a.py"},
    "run_pytest": {"paths": ["test_a.py"]},
    "run_command": {"command": "true"},
    "run_check": {},
    "find_usages": {"path": "a.py", "name": "f"},
    "rename_symbol": {"path": "a.py", "name": "f", "new_name": "g"},
    "lint_python": {},
    "apply_patch": {"patch": "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-one\n+1\n"},
    "ask_user": {"question": "Why?"},
    "list_tools": {},
    "git_status": {},
    "git_diff": {},
    "git_log": {},
    "git_show": {},
    "git_blame": {"path": "notes.txt"},
    "git_stage_files": {"paths": ["notes.txt"]},
    "git_commit": {"message": "x"},
    "git_switch": {"branch": "side", "new": True},
    "git_continue": {},
}


ELSEWHERE = {
    *("list_mcp_tools", "call_mcp_tool", "list_mcp_resources", "read_mcp_resource"),
    *("fetch_webpage", "duckduckgo_search"),
}
"""What asks servers, which the tests of these tools start."""


def test_every_tool_is_called_below() -> None:
    assert {row.name for row in all_tools()} == set(CALLS) | ELSEWHERE


@pytest.mark.parametrize("name", CALLS)
def test_results_keep_to_the_declared_output(tmp_path: Path, name: str) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    for command in (["init", "-q"], ["add", "notes.txt"], ["commit", "-q", "-m", "x"], ["add", "a.py"]):
        git(tmp_path, *command)
    git(tmp_path, "config", "user.name", "Ann")
    git(tmp_path, "config", "user.email", "ann@example.org")
    if name == "git_continue":
        git(tmp_path, "commit", "-q", "-m", "y")
        git(tmp_path, "revert", "--no-commit", "HEAD")
    context = toolbox_on(tmp_path, ToolSettings(allow_git_write=True))._context
    passed = Verdict(status="passed", check="true")
    toolbox = Toolbox(replace(context, ask=lambda question, options: "x", check=lambda: passed))
    row = toolbox.get(name)
    assert row is not None
    result = toolbox.call(name, CALLS[name])
    assert result.ok, result.text
    assert to_json(convert(result.data, row.output)) == result.data
    ast.literal_eval(repr(result.data))
