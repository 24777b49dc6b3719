"""The tool that shows how Python files and their definitions are connected."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Annotated

from codur.tools.code.definitions import definitions, parse
from codur.tools.code.python_outline import dependencies_of
from codur.tools.flow.code_outputs import Edge, SymbolGraph
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError

_MAX_FILES = 300
_MAX_EDGES = 2_000


@tool(SymbolGraph)
def python_ast_graph(
    context: ToolContext,
    path: Annotated[str, Arg("Python file or directory; the workspace if left out.", "python_path", "directory")] = "",
) -> ToolResult:
    """Show which Python files and definitions contain, import, call and inherit which."""
    workspace = context.workspace
    single = workspace.is_file(path)
    paths = [workspace.relative(path)] if single else workspace.list_files(path, pattern="*.py")
    if not paths:
        raise ToolError("not_found", f"there are no Python files in {path or 'the workspace'}")
    edges: list[Edge] = []
    symbols: list[str] = []
    files: list[str] = []
    for path in paths[:_MAX_FILES]:
        try:
            found = list(_edges(context, path))
        except (FileError, ToolError):
            if single:
                raise
            continue
        files.append(path)
        edges += found
        symbols += [edge.target for edge in found if edge.kind == "contains"]
    complete = len(files) == len(paths) and len(edges) <= _MAX_EDGES
    shown = edges[:_MAX_EDGES]
    lines = [f"{edge.source} {edge.kind} {edge.target}" for edge in shown]
    if len(edges) > len(shown):
        lines.append(f"… {len(edges) - len(shown)} more; give a file or a directory")
    if len(files) < len(paths):
        lines.append(f"{len(paths) - len(files)} files are too many or cannot be parsed")
    return ToolResult(
        text="\n".join(lines) or "no definitions and no imports",
        data=SymbolGraph(
            files=tuple(files), symbols=tuple(symbols[:_MAX_EDGES]), edges=tuple(shown), complete=complete
        ),
    )


def _edges(context: ToolContext, path: str) -> Iterator[Edge]:
    facts = dependencies_of(context.workspace, path)
    known = set(facts.definitions)
    for name in dict.fromkeys(facts.definitions):
        around = name.rpartition(".")[0]
        yield Edge(source=f"{path}::{around}" if around else path, target=f"{path}::{name}", kind="contains")
    for target in dict.fromkeys(item.path or item.module for item in facts.imports):
        yield Edge(source=path, target=target, kind="imports")
    for name, called in facts.calls.items():
        for other in called:
            yield Edge(source=f"{path}::{name}", target=f"{path}::{other}", kind="calls")
    for item in definitions(parse(path, context.workspace.peek_text(path))):
        for base in item.node.bases if isinstance(item.node, ast.ClassDef) else ():
            written = ast.unparse(base)
            yield Edge(
                source=f"{path}::{item.qualname}",
                target=f"{path}::{written}" if written in known else written,
                kind="inherits",
            )


TOOLS = (python_ast_graph,)
