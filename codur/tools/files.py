"""Tools that read and change single files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.tool import READING_TASKS, Tool, ToolContext, ToolError
from codur.types import CODE_TASKS, TaskType, ToolResult

_WRITING_TASKS: frozenset[TaskType] = CODE_TASKS | {"file_operation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    path: str = argument("File to read, relative to the workspace.")
    start_line: int | None = argument("First line, counted from 1; the whole file if left out.", None)
    end_line: int | None = argument("Last line, included.", None)


def read_file(context: ToolContext, given: ReadFile) -> ToolResult:
    """The file's text, or some of its lines."""
    path = context.workspace.relative(given.path)
    lines = _lines(context.workspace.read_text(path).text)
    start, end = given.start_line or 1, min(given.end_line or len(lines), len(lines))
    if start < 1 or (lines and start > len(lines)) or (given.end_line is not None and given.end_line < start):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give start_line and end_line among them")
    return ToolResult(
        text="".join(lines[start - 1 : end]),
        data={"path": path, "start_line": start, "end_line": end, "total_lines": len(lines)},
    )


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFile:
    path: str = argument("File to write, relative to the workspace; it is made or replaced.")
    content: str = argument("The whole new text.")


def write_file(context: ToolContext, given: WriteFile) -> ToolResult:
    """Make a file or replace its text."""
    return _write(context, given.path, given.content, "wrote")


def _write(context: ToolContext, path: str, text: str, verb: str) -> ToolResult:
    workspace = context.workspace
    relative = workspace.relative(path)
    before = workspace.read_bytes(relative) if workspace.exists(relative) else None
    context.write(relative, text)
    if before is not None and before == workspace.read_bytes(relative):
        return ToolResult(text=f"{relative} has this text already")
    return ToolResult(text=f"{verb} {relative} ({len(_lines(text))} lines)", changed_files=(relative,))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFile:
    path: str = argument("File to add to; it is made if it is absent.")
    content: str = argument("Text to put at the end, on its own lines.")


def append_file(context: ToolContext, given: AppendFile) -> ToolResult:
    """Add text at the end of a file."""
    workspace = context.workspace
    old = workspace.read_text(given.path).text if workspace.exists(given.path) else ""
    joint = "" if not old or old.endswith("\n") else "\n"
    return _write(context, given.path, old + joint + given.content, "added to")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile:
    path: str = argument("File to delete, relative to the workspace.")


def delete_file(context: ToolContext, given: DeleteFile) -> ToolResult:
    """Delete a file."""
    path = context.workspace.relative(given.path)
    context.workspace.delete(path)
    return ToolResult(text=f"deleted {path}", changed_files=(path,))


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFile:
    source: str = argument("File to copy, relative to the workspace.")
    target: str = argument("New path; nothing may be there yet.")


def copy_file(context: ToolContext, given: CopyFile) -> ToolResult:
    """Copy a file within the workspace."""
    source, target = _ends(context, given.source, given.target)
    context.workspace.copy(source, target)
    return ToolResult(text=f"copied {source} to {target}", changed_files=(target,))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFile:
    source: str = argument("File to move or rename, relative to the workspace.")
    target: str = argument("New path; nothing may be there yet.")


def move_file(context: ToolContext, given: MoveFile) -> ToolResult:
    """Move or rename a file within the workspace."""
    source, target = _ends(context, given.source, given.target)
    context.workspace.move(source, target)
    return ToolResult(text=f"moved {source} to {target}", changed_files=(source, target))


def _ends(context: ToolContext, source: str, target: str) -> tuple[str, str]:
    """Both paths; a target that is a directory takes the file under its own name."""
    workspace = context.workspace
    start, end = workspace.relative(source), workspace.relative(target)
    if workspace.is_dir(end):
        end = workspace.relative(f"{end or '.'}/{start.rpartition('/')[2]}")
    return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceInFile:
    path: str = argument("File to edit, relative to the workspace.")
    old: str = argument("Text to replace, exactly as it is in the file, with enough around it to be unique.")
    new: str = argument("Text to put in its place.")
    all: bool = argument("Replace every occurrence instead of exactly one.", default=False)


def replace_in_file(context: ToolContext, given: ReplaceInFile) -> ToolResult:
    """Replace a piece of text in a file."""
    path = context.workspace.relative(given.path)
    text = context.workspace.read_text(path).text
    old, new = (part.replace("\r\n", "\n") for part in (given.old, given.new))
    if not old:
        raise ToolError("invalid", "old is empty; give the text to replace")
    count = text.count(old)
    if count == 0:
        raise ToolError("no_match", f"{path} has no such text{_nearest(text, old)}")
    if count > 1 and not given.all:
        places = ", ".join(str(line) for line in _line_numbers(text, old))
        raise ToolError(
            "many_matches", f"{path} has this text {count} times (lines {places}); give more around it, or all"
        )
    limit = context.workspace.max_file_bytes
    if len(text) + count * (len(new) - len(old)) > limit:
        # Refused before it is made: the text could be larger than the memory.
        raise ToolError("too_large", f"{path} would be larger than {limit // 1024} KiB")
    context.write(path, text.replace(old, new))
    if old == new:
        return ToolResult(text=f"{path} has this text already")
    return ToolResult(
        text=f"replaced {count} {'place' if count == 1 else 'places'} in {path}",
        data={"path": path, "count": count, "lines": _line_numbers(text, old)},
        changed_files=(path,),
    )


def _line_numbers(text: str, piece: str, limit: int = 20) -> list[int]:
    found: list[int] = []
    at = text.find(piece)
    while at >= 0 and len(found) < limit:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(piece, at + len(piece))
    return found


def _nearest(text: str, old: str) -> str:
    """A hint at the line that is most like the first line of what was looked for."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = {line.strip(): number for number, line in reversed(list(enumerate(text.split("\n"), start=1)))}
    near = difflib.get_close_matches(wanted, list(lines)[:5000], n=1, cutoff=0.6)
    return f"; the nearest is line {lines[near[0]]}: {near[0]:.120}" if near else "; read the file and copy from it"


TOOLS = (
    Tool(
        name="read_file",
        description="Read a text file, or some of its lines.",
        input=ReadFile,
        run=read_file,
        side_effect="read",
        task_types=READING_TASKS,
    ),
    Tool(
        name="write_file",
        description="Make a file or replace its whole text.",
        input=WriteFile,
        run=write_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
    Tool(
        name="append_file",
        description="Add text at the end of a file.",
        input=AppendFile,
        run=append_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
    Tool(
        name="delete_file",
        description="Delete a file.",
        input=DeleteFile,
        run=delete_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
    Tool(
        name="copy_file",
        description="Copy a file to a new path.",
        input=CopyFile,
        run=copy_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
    Tool(
        name="move_file",
        description="Move or rename a file.",
        input=MoveFile,
        run=move_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
    Tool(
        name="replace_in_file",
        description="Replace a piece of text in a file; it must occur exactly once, unless all is true.",
        input=ReplaceInFile,
        run=replace_in_file,
        side_effect="write",
        task_types=_WRITING_TASKS,
    ),
)
