"""All tools. A new one is a row in its module's `TOOLS` and a name here; a new module is a row here.

A module is loaded when one of its tools is asked for: together they take a tenth of the start of a run that calls one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codur.lazy import Made, loaded
from codur.tools.tool import Tool

if TYPE_CHECKING:
    from codur.tools import meta_tools, run_tools, server_tools, web_tools
    from codur.tools.code import edit_tools, find_symbols, lint, python_outline
    from codur.tools.files import apply_patch, data_tools, file_tools, grep, list_tools
    from codur.tools.git import git_commits, git_reading

    __all__ = ["apply_patch", "data_tools", "edit_tools", "file_tools", "find_symbols", "git_commits", "git_reading"]
    __all__ += ["grep", "lint", "list_tools", "meta_tools", "python_outline", "run_tools"]
    __all__ += ["server_tools", "web_tools"]

_MODULES: Mapping[str, str] = {
    "files.file_tools": "read_file write_file append_file delete_file copy_file move_file replace_in_file"
    " read_files replace_lines inject_lines",
    "files.list_tools": "list_files list_dirs search_files file_tree",
    "files.grep": "grep_files",
    "files.data_tools": "read_data",
    "code.python_outline": "python_ast_outline python_ast_dependencies find_definition",
    "code.find_symbols": "find_usages rename_symbol",
    "code.lint": "lint_python",
    "code.edit_tools": "replace_function replace_class replace_method inject_function replace_file_content",
    "files.apply_patch": "apply_patch",
    "run_tools": "run_python_file run_pytest run_command run_check",
    "git.git_reading": "git_status git_diff git_log git_show git_blame",
    "server_tools": "list_mcp_tools call_mcp_tool list_mcp_resources read_mcp_resource",
    "git.git_commits": "git_stage_files git_commit",
    "web_tools": "fetch_webpage duckduckgo_search",
    "meta_tools": "ask_user list_tools",
}
_PLACES = {name: f"codur.tools.{module}" for module, names in _MODULES.items() for name in names.split()}


def _tool(name: str) -> Tool:
    found: Tool = next(tool for tool in loaded(_PLACES[name]).TOOLS if tool.name == name)
    return found


BY_NAME: Mapping[str, Tool] = Made(_PLACES, _tool)


def all_tools() -> tuple[Tool, ...]:
    """Each of them, in the order of the table; loads all of their modules."""
    return tuple(BY_NAME.values())
