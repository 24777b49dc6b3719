"""All tools. A new one is a row in its module's `TOOLS`; a new module is a row here."""

from codur.tools import meta_tools, run_tools, server_tools, web_tools
from codur.tools.code import edit_tools, find_symbols, lint, python_outline
from codur.tools.files import apply_patch, data_tools, file_tools, grep, line_tools, list_tools
from codur.tools.git import git_reading, git_writing
from codur.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    *file_tools.TOOLS,
    *line_tools.TOOLS,
    *list_tools.TOOLS,
    *grep.TOOLS,
    *data_tools.TOOLS,
    *python_outline.TOOLS,
    *find_symbols.TOOLS,
    *lint.TOOLS,
    *edit_tools.TOOLS,
    *apply_patch.TOOLS,
    *run_tools.TOOLS,
    *git_reading.TOOLS,
    *server_tools.TOOLS,
    *git_writing.TOOLS,
    *web_tools.TOOLS,
    *meta_tools.TOOLS,
)
