"""All tools. A new one is a row in its module's `TOOLS`; a new module is a row here."""

from __future__ import annotations

from codur.tools import data_ini, data_json, data_yaml, edits, files, git, grep, lines, listing, python_ast, run
from codur.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    *files.TOOLS,
    *lines.TOOLS,
    *listing.TOOLS,
    *grep.TOOLS,
    *data_json.TOOLS,
    *data_yaml.TOOLS,
    *data_ini.TOOLS,
    *python_ast.TOOLS,
    *edits.TOOLS,
    *run.TOOLS,
    *git.TOOLS,
)
