"""Tools that list files and directories, and find them by name."""

from __future__ import annotations

from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.flow.outputs import DirectoryList, FileList, Tree
from codur.tools.tool import ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_LISTED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    path: str = argument("Directory to list; the workspace if left out.", "", accepts="directory")
    pattern: str | None = argument("Glob such as *.py or src/**/*.txt.", None)


@tool(ListFiles, FileList, "List the files below a directory; what .gitignore names is left out.")
def list_files(context: ToolContext, given: ListFiles) -> ToolResult:
    """The files below a directory."""
    found = context.workspace.list_files(given.path, pattern=given.pattern, limit=_MAX_LISTED + 1)
    return _listing(found, f"no files{f' match {given.pattern}' if given.pattern else ''} in {given.path or '.'}")


def _listing(found: list[str], nothing: str) -> ToolResult:
    shown = found[:_MAX_LISTED]
    more = [f"… more than {_MAX_LISTED} files; give a narrower path or pattern"] if len(found) > len(shown) else []
    return ToolResult(text="\n".join([*shown, *more]) or nothing, data=FileList(files=tuple(shown), complete=not more))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDirs:
    path: str = argument("Directory to list; the workspace if left out.", "", accepts="directory")
    depth: int | None = argument("Levels to go down; all if left out.", None)


@tool(ListDirs, DirectoryList, "List the directories below a directory; what .gitignore names is left out.")
def list_dirs(context: ToolContext, given: ListDirs) -> ToolResult:
    """The directories below a directory."""
    if given.depth is not None and given.depth < 1:
        raise ToolError("invalid", "depth must be 1 or more")
    base = context.workspace.relative(given.path)
    deepest = (base.count("/") + 1 if base else 0) + (given.depth or 10_000)
    every = context.workspace.list_directories(base, limit=200_000)
    found = [path for path in every if path.count("/") < deepest]
    shown = found[:_MAX_LISTED]
    more = [f"… more than {_MAX_LISTED} directories; give a path or a depth"] if len(found) > len(shown) else []
    return ToolResult(
        text="\n".join([*shown, *more]) or f"no directories in {base or '.'}",
        data=DirectoryList(directories=tuple(shown), complete=not more),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFiles:
    query: str = argument("Part of the file's name in any letter case, or a glob.")
    path: str = argument("Directory to search; the workspace if left out.", "", accepts="directory")


@tool(SearchFiles, FileList, "Find files by name.")
def search_files(context: ToolContext, given: SearchFiles) -> ToolResult:
    """Files whose name matches."""
    if not given.query.strip():
        raise ToolError("invalid", "query is empty; give a part of the name")
    query = given.query.strip()
    if any(char in query for char in "*?["):
        found = context.workspace.list_files(given.path, pattern=query, limit=_MAX_LISTED + 1)
    else:
        part = query.casefold()
        everything = context.workspace.list_files(given.path, limit=200_000)
        found = [path for path in everything if part in (path if "/" in part else path.rpartition("/")[2]).casefold()]
    return _listing(found, f"no file's name matches {query}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTree:
    path: str = argument("Directory to show; the workspace if left out.", "", accepts="directory")
    depth: int = argument("Levels of directories to show.", 3)


@tool(FileTree, Tree, "Show directories and files as a tree.")
def file_tree(context: ToolContext, given: FileTree) -> ToolResult:
    """Directories and files as an indented tree."""
    if given.depth < 1:
        raise ToolError("invalid", "depth must be 1 or more")
    base = context.workspace.relative(given.path)
    prefix = f"{base}/" if base else ""
    entries: dict[str, bool] = {}
    for path in context.workspace.list_files(base, limit=200_000):
        parts = path[len(prefix) :].split("/")
        for level in range(1, min(len(parts), given.depth) + 1):
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
