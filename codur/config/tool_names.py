"""The names of all tools, so that an agent's file can be checked without loading one; a test compares them."""

from collections.abc import Mapping

TOOL_NAMES: frozenset[str] = frozenset(
    """
    append_file apply_patch ask_user call_mcp_tool copy_file delete_file duckduckgo_search fetch_webpage file_tree
    find_definition find_usages git_blame git_commit git_diff git_log git_show git_stage_files git_status grep_files
    inject_function inject_lines lint_python list_dirs list_files list_mcp_resources list_mcp_tools list_tools
    move_file python_ast_dependencies python_ast_outline
    read_data read_file read_files read_mcp_resource rename_symbol replace_class
    replace_file_content replace_function replace_in_file replace_lines replace_method run_check run_command
    run_pytest run_python_file search_files write_file
    """.split()
)

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
