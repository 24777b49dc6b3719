"""Tools that list files and search in them."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.tool import READING_TASKS, Tool, ToolContext, ToolError
from codur.types import ToolResult
from codur.workspace.problems import FileError

_MAX_LISTED = 2_000
_MAX_MATCHES = 1_000
_MAX_LINE = 300
_MAX_SEARCHED_CHARS = 20_000_000
_REGEX_TIMEOUT_S = 5.0
_REGEX_PROGRAM = """
import json, re, sys
task = json.load(sys.stdin)
pattern = re.compile(task["pattern"], task["flags"])
found = []
for path, text in task["files"]:
    for number, line in enumerate(text.split("\\n"), 1):
        if pattern.search(line):
            found.append([path, number, line[:task["width"]]])
            if len(found) >= task["limit"]:
                break
    if len(found) >= task["limit"]:
        break
json.dump(found, sys.stdout)
"""
"""Runs in a process of its own, because a search in this one cannot be stopped when a pattern takes for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    path: str = argument("Directory to list; the workspace if left out.", "")
    pattern: str | None = argument("Glob such as *.py or src/**/*.txt.", None)


def list_files(context: ToolContext, given: ListFiles) -> ToolResult:
    """The files below a directory."""
    found = context.workspace.list_files(given.path, pattern=given.pattern, limit=_MAX_LISTED + 1)
    return _listing(found, f"no files{f' match {given.pattern}' if given.pattern else ''} in {given.path or '.'}")


def _listing(found: list[str], nothing: str) -> ToolResult:
    shown = found[:_MAX_LISTED]
    more = [f"… more than {_MAX_LISTED} files; give a narrower path or pattern"] if len(found) > len(shown) else []
    return ToolResult(text="\n".join([*shown, *more]) or nothing, data={"files": shown, "complete": not more})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFiles:
    query: str = argument("Part of the file's name in any letter case, or a glob.")
    path: str = argument("Directory to search; the workspace if left out.", "")


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
    path: str = argument("Directory to show; the workspace if left out.", "")
    depth: int = argument("Levels of directories to show.", 3)


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
    return ToolResult(text="\n".join(lines), data={"entries": shown, "complete": len(shown) == len(entries)})


def _tree_line(entry: str) -> str:
    parts = entry.rstrip("/").split("/")
    return "  " * len(parts) + parts[-1] + ("/" if entry.endswith("/") else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrepFiles:
    pattern: str = argument("Text to find, or a Python regular expression if regex is true.")
    path: str = argument("File or directory to search; the workspace if left out.", "")
    glob: str | None = argument("Only files that match this glob, such as *.py.", None)
    regex: bool = argument("Read pattern as a regular expression.", default=False)
    ignore_case: bool = argument("Letter case makes no difference.", default=False)
    limit: int = argument("Matches at most.", 100)


def grep_files(context: ToolContext, given: GrepFiles) -> ToolResult:
    """Lines that match, as path:line: text."""
    if not given.pattern or "\n" in given.pattern:
        raise ToolError("invalid", "pattern must be one line of text that is not empty")
    limit = max(1, min(given.limit, _MAX_MATCHES))
    search = _regex_matches if given.regex else _literal_matches
    skipped: list[str] = []
    matches = search(context, given, limit + 1, skipped)
    shown = matches[:limit]
    lines = [f"{path}:{number}: {line}" for path, number, line in shown]
    if len(matches) > limit:
        lines.append(f"… more than {limit} matches; narrow the pattern or the path")
    if not lines:
        lines.append(f"no line matches {given.pattern}")
    if skipped:
        more = f" and {len(skipped) - 3} more" if len(skipped) > 3 else ""
        lines.append(f"not searched, too large or not readable: {', '.join(skipped[:3])}{more}")
    return ToolResult(
        text="\n".join(lines),
        data={
            "matches": [{"path": path, "line": number, "text": line} for path, number, line in shown],
            "complete": len(matches) <= limit and not skipped,
        },
    )


def _literal_matches(
    context: ToolContext, given: GrepFiles, limit: int, skipped: list[str]
) -> list[tuple[str, int, str]]:
    wanted = given.pattern.casefold() if given.ignore_case else given.pattern
    found: list[tuple[str, int, str]] = []
    for path, text in _texts(context, given, skipped):
        if wanted not in (text.casefold() if given.ignore_case else text):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if wanted in (line.casefold() if given.ignore_case else line):
                found.append((path, number, line[:_MAX_LINE]))
                if len(found) >= limit:
                    return found
    return found


def _regex_matches(
    context: ToolContext, given: GrepFiles, limit: int, skipped: list[str]
) -> list[tuple[str, int, str]]:
    flags = re.IGNORECASE if given.ignore_case else re.NOFLAG
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(given.pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError("invalid", f"the pattern is no regular expression: {error}") from error
    task = {
        "pattern": given.pattern,
        "flags": int(flags),
        "files": list(_texts(context, given, skipped)),
        "width": _MAX_LINE,
        "limit": limit,
    }
    outcome = context.launcher.run(
        [sys.executable, "-I", "-S", "-c", _REGEX_PROGRAM],
        cwd=context.workspace.root,
        stdin=json.dumps(task).encode(),
        timeout_s=min(_REGEX_TIMEOUT_S, context.timeout_s),
    )
    if outcome.timed_out:
        raise ToolError("timeout", "the search took too long; use a simpler pattern or a narrower path")
    if outcome.exit_status != 0 or outcome.truncated:
        raise ToolError("failed", "the search could not be finished; use a narrower pattern or path")
    return [(path, number, line) for path, number, line in json.loads(outcome.stdout)]


def _texts(context: ToolContext, given: GrepFiles, skipped: list[str]) -> Iterator[tuple[str, str]]:
    """Path and text of each file to search, up to 20 million characters.

    Binary files are passed over; others that cannot be read are added to `skipped`.
    """
    workspace = context.workspace
    single = workspace.is_file(given.path)
    names = [workspace.relative(given.path)] if single else workspace.list_files(given.path, pattern=given.glob)
    left = _MAX_SEARCHED_CHARS
    for name in names:
        try:
            text = workspace.peek_text(name)
        except FileError as error:
            if single:
                raise
            if error.code != "binary":
                skipped.append(name)
            continue
        left -= len(text)
        if left < 0:
            raise ToolError("too_large", "there is too much text to search; give a narrower path or glob")
        yield name, text


TOOLS = (
    Tool(
        name="list_files",
        description="List the files below a directory; what .gitignore names is left out.",
        input=ListFiles,
        run=list_files,
        side_effect="read",
        task_types=READING_TASKS,
    ),
    Tool(
        name="file_tree",
        description="Show directories and files as a tree.",
        input=FileTree,
        run=file_tree,
        side_effect="read",
        task_types=READING_TASKS,
    ),
    Tool(
        name="search_files",
        description="Find files by name.",
        input=SearchFiles,
        run=search_files,
        side_effect="read",
        task_types=READING_TASKS,
    ),
    Tool(
        name="grep_files",
        description="Find lines in files by text or regular expression.",
        input=GrepFiles,
        run=grep_files,
        side_effect="read",
        task_types=READING_TASKS,
    ),
)
