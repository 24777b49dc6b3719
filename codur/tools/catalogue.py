"""All tools. A new one is a row in its module's `TOOLS`; a new module is a row here."""

from __future__ import annotations

from codur.tools import (
    apply_patch,
    data_ini,
    data_json,
    data_yaml,
    edits,
    files,
    git,
    git_write,
    grep,
    lines,
    lint,
    listing,
    mcp,
    meta,
    python_ast,
    python_graph,
    run,
    symbols,
    web,
)
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
    *python_graph.TOOLS,
    *symbols.TOOLS,
    *lint.TOOLS,
    *edits.TOOLS,
    *apply_patch.TOOLS,
    *run.TOOLS,
    *git.TOOLS,
    *mcp.TOOLS,
    *git_write.TOOLS,
    *web.TOOLS,
    *meta.TOOLS,
)
