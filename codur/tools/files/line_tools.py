"""Tools that read several files, and that replace or add lines by their numbers."""

from __future__ import annotations

from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.files.file_tools import lines_of
from codur.tools.flow.outputs import Edit, FileContent, FileContents
from codur.tools.output_bounds import bounded
from codur.tools.tool import WRITING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError

_MAX_FILES = 50
_MAX_TEXT = 180_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    paths: tuple[str, ...] = argument("Files to read, relative to the workspace.", accepts="path")


@tool(ReadFiles, FileContents, "Read several text files at once.")
def read_files(context: ToolContext, given: ReadFiles) -> ToolResult:
    """Each file's text under its name; one that cannot be read is told in its place, unless none can be."""
    paths = list(dict.fromkeys(context.workspace.relative(path) for path in given.paths))
    if not 1 <= len(paths) <= _MAX_FILES:
        raise ToolError("invalid", f"give 1 to {_MAX_FILES} files")
    share = _MAX_TEXT // len(paths)
    files: list[FileContent] = []
    problems: dict[str, FileError] = {}
    parts: list[str] = []
    for path in paths:
        try:
            text = context.workspace.read_text(path).text
        except FileError as error:
            problems[path] = error
            parts.append(f"=== {path} ===\n({error.message})\n")
            continue
        count = len(lines_of(text))
        files.append(FileContent(path=path, start_line=1, end_line=count, total_lines=count))
        parts.append(f"=== {path} ===\n{bounded(text, share)}{'' if text.endswith(chr(10)) or not text else chr(10)}")
    if not files:
        raise next(iter(problems.values()))
    failed = {path: error.code for path, error in problems.items()}
    return ToolResult(text="\n".join(parts), data=FileContents(files=tuple(files), failed=failed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceLines:
    path: str = argument("File to edit, relative to the workspace.", accepts="path")
    start_line: int = argument("First line to replace, counted from 1.", accepts="line")
    end_line: int = argument("Last line to replace, included.")
    content: str = argument("New lines in their place; empty to delete them.")


@tool(ReplaceLines, Edit, "Replace lines of a file by their numbers.", side_effect="write", task_types=WRITING_TASKS)
def replace_lines(context: ToolContext, given: ReplaceLines) -> ToolResult:
    """Exchange whole lines."""
    path, lines = _read(context, given.path)
    start, end = given.start_line, given.end_line
    if not 1 <= start <= end <= len(lines):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give start_line and end_line among them")
    return _write(context, path, lines, start, end, given.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectLines:
    path: str = argument("File to edit, relative to the workspace.", accepts="path")
    after_line: int = argument("Line after which they are put; 0 for the beginning of the file.", accepts="line")
    content: str = argument("The new lines.")


@tool(InjectLines, Edit, "Put new lines into a file after a line.", side_effect="write", task_types=WRITING_TASKS)
def inject_lines(context: ToolContext, given: InjectLines) -> ToolResult:
    """Add lines; nothing that is there is changed."""
    path, lines = _read(context, given.path)
    if not 0 <= given.after_line <= len(lines):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give after_line among them, or 0")
    if not given.content:
        raise ToolError("invalid", "content is empty; give the new lines")
    return _write(context, path, lines, given.after_line + 1, given.after_line, given.content)


def _read(context: ToolContext, given_path: str) -> tuple[str, list[str]]:
    path = context.workspace.relative(given_path)
    return path, lines_of(context.workspace.read_text(path).text)


def _write(context: ToolContext, path: str, lines: list[str], start: int, end: int, content: str) -> ToolResult:
    new = lines_of(content.replace("\r\n", "\n"))
    above, below = lines[: start - 1], lines[end:]
    if new and not new[-1].endswith("\n") and (below or not lines or lines[-1].endswith("\n")):
        new[-1] += "\n"
    if new and above and not above[-1].endswith("\n"):
        above[-1] += "\n"
        new[-1] = new[-1].removesuffix("\n")
    before, after = "".join(lines), "".join([*above, *new, *below])
    if before == after:
        data = Edit(path=path, action="none", count=0)
        return ToolResult(text=f"{path} has these lines already", data=data)
    context.write(path, after)
    what = f"replaced lines {start}-{end} of" if end >= start else f"put {len(new)} lines after line {end} of"
    return ToolResult(
        text=f"{what} {path}",
        data=Edit(path=path, action="changed", start_line=start, end_line=end),
        changed_files=(path,),
    )


TOOLS = (read_files, replace_lines, inject_lines)
