"""Tools that list files and directories, and find them by name."""

from typing import Annotated

from codur.tools.flow.outputs import DirectoryList, FileList, Tree
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_LISTED = 2_000


@tool(FileList)
def list_files(
    context: ToolContext,
    path: Annotated[str, Arg("Directory to list; the workspace if left out.", "directory")] = "",
    pattern: Annotated[str | None, Arg("Glob such as *.py or src/**/*.txt.")] = None,
) -> ToolResult:
    """List the files below a directory; what .gitignore names is left out."""
    found = context.workspace.list_files(path, pattern=pattern, limit=_MAX_LISTED + 1)
    return _files(found, f"no files{f' match {pattern}' if pattern else ''} in {path or '.'}")


def _files(found: list[str], nothing: str) -> ToolResult:
    shown, text, complete = _shown(found, "files; give a narrower path or pattern")
    return ToolResult(text=text or nothing, data=FileList(files=shown, complete=complete))


def _shown(found: list[str], rest: str) -> tuple[tuple[str, ...], str, bool]:
    """As many as are shown, their text with what is said of the others, and whether there are no others."""
    shown, complete = found[:_MAX_LISTED], len(found) <= _MAX_LISTED
    text = "\n".join(shown if complete else [*shown, f"… more than {_MAX_LISTED} {rest}"])
    return tuple(shown), text, complete


@tool(DirectoryList)
def list_dirs(
    context: ToolContext,
    path: Annotated[str, Arg("Directory to list; the workspace if left out.", "directory")] = "",
    depth: Annotated[int | None, Arg("Levels to go down; all if left out.")] = None,
) -> ToolResult:
    """List the directories below a directory; what .gitignore names is left out."""
    if depth is not None and depth < 1:
        raise ToolError("invalid", "depth must be 1 or more")
    base = context.workspace.relative(path)
    deepest = (base.count("/") + 1 if base else 0) + (depth or 10_000)
    found = [below for below in context.workspace.list_directories(base, limit=200_000) if below.count("/") < deepest]
    shown, text, complete = _shown(found, "directories; give a path or a depth")
    return ToolResult(
        text=text or f"no directories in {base or '.'}", data=DirectoryList(directories=shown, complete=complete)
    )


@tool(FileList)
def search_files(
    context: ToolContext,
    query: Annotated[str, Arg("Part of the file's name in any letter case, or a glob.")],
    path: Annotated[str, Arg("Directory to search; the workspace if left out.", "directory")] = "",
) -> ToolResult:
    """Find files by name."""
    if not query.strip():
        raise ToolError("invalid", "query is empty; give a part of the name")
    query = query.strip()
    if any(char in query for char in "*?["):
        found = context.workspace.list_files(path, pattern=query, limit=_MAX_LISTED + 1)
    else:
        part = query.casefold()
        everything = context.workspace.list_files(path, limit=200_000)
        found = [file for file in everything if part in (file if "/" in part else file.rpartition("/")[2]).casefold()]
    return _files(found, f"no file's name matches {query}")


@tool(Tree)
def file_tree(
    context: ToolContext,
    path: Annotated[str, Arg("Directory to show; the workspace if left out.", "directory")] = "",
    depth: Annotated[int, Arg("Levels of directories to show.")] = 3,
) -> ToolResult:
    """Show directories and files as a tree."""
    if depth < 1:
        raise ToolError("invalid", "depth must be 1 or more")
    base = context.workspace.relative(path)
    prefix = f"{base}/" if base else ""
    entries: dict[str, bool] = {}
    for file in context.workspace.list_files(base, limit=200_000):
        parts = file[len(prefix) :].split("/")
        for level in range(1, min(len(parts), depth) + 1):
            entries["/".join(parts[:level]) + ("/" if level < len(parts) else "")] = level < len(parts)
    shown = list(entries)[:_MAX_LISTED]
    lines = [f"{base or '.'}/", *(_tree_line(entry) for entry in shown)]
    if len(entries) > len(shown):
        lines.append(f"… more than {_MAX_LISTED} entries; give a path or a smaller depth")
    return ToolResult(
        text="\n".join(lines), data=Tree(path=base, entries=tuple(shown), complete=len(shown) == len(entries))
    )


def _tree_line(entry: str) -> str:
    parts = entry.rstrip("/").split("/")
    return "  " * len(parts) + parts[-1] + ("/" if entry.endswith("/") else "")


TOOLS = (list_files, list_dirs, search_files, file_tree)
