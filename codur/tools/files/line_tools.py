"""Tools that read several files, and that replace or add lines by their numbers."""

from typing import Annotated

from codur.tools.files.data_tools import require_readable
from codur.tools.files.file_tools import lines_of
from codur.tools.flow.outputs import Edit, FileContent, FileContents, edited, unchanged
from codur.tools.output_bounds import bounded
from codur.tools.tool import WRITING_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError

_MAX_FILES = 50
_MAX_TEXT = 180_000


@tool(FileContents)
def read_files(
    context: ToolContext, paths: Annotated[tuple[str, ...], Arg("Files to read, relative to the workspace.", "path")]
) -> ToolResult:
    """Read several text files at once.

    Each file's text under its name; one that cannot be read is told in its place, unless none can be.
    """
    wanted = list(dict.fromkeys(context.workspace.relative(path) for path in paths))
    if not 1 <= len(wanted) <= _MAX_FILES:
        raise ToolError("invalid", f"give 1 to {_MAX_FILES} files")
    share = _MAX_TEXT // len(wanted)
    files: list[FileContent] = []
    problems: dict[str, FileError] = {}
    parts: list[str] = []
    for path in wanted:
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


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def replace_lines(
    context: ToolContext,
    path: Annotated[str, Arg("File to edit, relative to the workspace.", "path")],
    start_line: Annotated[int, Arg("First line to replace, counted from 1.", "line")],
    end_line: Annotated[int, Arg("Last line to replace, included.")],
    content: Annotated[str, Arg("New lines in their place; empty to delete them.")],
) -> ToolResult:
    """Replace lines of a file by their numbers."""
    path, lines = _read(context, path)
    if not 1 <= start_line <= end_line <= len(lines):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give start_line and end_line among them")
    return _write(context, path, lines, (start_line, end_line), content)


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def inject_lines(
    context: ToolContext,
    path: Annotated[str, Arg("File to edit, relative to the workspace.", "path")],
    after_line: Annotated[int, Arg("Line after which they are put; 0 for the beginning of the file.", "line")],
    content: Annotated[str, Arg("The new lines.")],
) -> ToolResult:
    """Put new lines into a file after a line."""
    path, lines = _read(context, path)
    if not 0 <= after_line <= len(lines):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give after_line among them, or 0")
    if not content:
        raise ToolError("invalid", "content is empty; give the new lines")
    return _write(context, path, lines, (after_line + 1, after_line), content)


def _read(context: ToolContext, given_path: str) -> tuple[str, list[str]]:
    path = context.workspace.relative(given_path)
    return path, lines_of(context.workspace.read_text(path).text)


def _write(context: ToolContext, path: str, lines: list[str], place: tuple[int, int], content: str) -> ToolResult:
    """Put new lines in the place of those from the first to the last; of none if the last is before the first."""
    start, end = place
    new = lines_of(content.replace("\r\n", "\n"))
    above, below = lines[: start - 1], lines[end:]
    if new and not new[-1].endswith("\n") and (below or not lines or lines[-1].endswith("\n")):
        new[-1] += "\n"
    if new and above and not above[-1].endswith("\n"):
        above[-1] += "\n"
        new[-1] = new[-1].removesuffix("\n")
    before, after = "".join(lines), "".join([*above, *new, *below])
    if before == after:
        return unchanged(path, "these lines")
    require_readable(path, before, after)
    context.write(path, after)
    what = f"replaced lines {start}-{end} of" if end >= start else f"put {len(new)} lines after line {end} of"
    return edited(f"{what} {path}", Edit(path=path, action="changed", start_line=start, end_line=end))


TOOLS = (read_files, replace_lines, inject_lines)
