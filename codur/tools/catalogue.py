"""All tools. A new one is a row in its module's `TOOLS`; a new module is a row here."""

from __future__ import annotations

from codur.tools import edits, files, git, mcp, python_ast, run, search
from codur.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    *files.TOOLS,
    *search.TOOLS,
    *python_ast.TOOLS,
    *edits.TOOLS,
    *run.TOOLS,
    *git.TOOLS,
    *mcp.TOOLS,
)
