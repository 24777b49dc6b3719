"""All tools. A new one is a row in its module's `TOOLS` and a name in `config/tool_names`.

A module is loaded when one of its tools is asked for: together they take a tenth of the start of a run that calls one.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codur.config.tool_names import MODULES
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

_PLACES = {name: f"codur.tools.{module}" for module, names in MODULES.items() for name in names.split()}


def _tool(name: str) -> Tool:
    found: Tool = next(tool for tool in loaded(_PLACES[name]).TOOLS if tool.name == name)
    return found


BY_NAME: Mapping[str, Tool] = Made(_PLACES, _tool)


def all_tools() -> tuple[Tool, ...]:
    """Each of them, in the order of the table; loads all of their modules."""
    return tuple(BY_NAME.values())
