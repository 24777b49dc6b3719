"""The names of all tools, so that an agent's file can be checked without loading one."""

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
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
    "git.git_commits": "git_stage_files git_commit git_switch git_continue",
    "web_tools": "fetch_webpage duckduckgo_search",
    "meta_tools": "ask_user list_tools",
}
"""The tools of each module of `codur.tools`."""
TOOL_NAMES = frozenset(name for names in MODULES.values() for name in names.split())

RENAMED: Mapping[str, str] = {
    **dict.fromkeys(("read_json", "read_yaml", "read_toml", "read_ini"), "read_data"),
    **dict.fromkeys(("python_ast_dependencies_multifile", "python_ast_graph"), "python_ast_dependencies"),
    "tool_help": "list_tools",
    "validate_python_syntax": "lint_python",
}
"""Earlier names, under which a tool can still be called."""
GONE: Mapping[str, str] = {
    **dict.fromkeys(("write_json", "write_yaml", "write_ini"), "Use write_file."),
    **dict.fromkeys(("set_json_value", "set_yaml_value", "set_ini_value"), "Use replace_in_file."),
}
"""Tools that there are no more, and what to do without."""
