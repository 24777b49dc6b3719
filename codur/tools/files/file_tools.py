"""Tools that read and change single files."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.flow.outputs import Edit, Edits, FileContent
from codur.tools.tool import WRITING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult

_COPY = "; read the file and copy from it"
_SAME_LINES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    path: str = argument("File to read, relative to the workspace.", accepts="path")
    start_line: int | None = argument("First line, counted from 1; the whole file if left out.", None, accepts="line")
    end_line: int | None = argument("Last line, included.", None)


@tool(ReadFile, FileContent, "Read a text file, or some of its lines.")
def read_file(context: ToolContext, given: ReadFile) -> ToolResult:
    """The file's text, or some of its lines."""
    path = context.workspace.relative(given.path)
    lines = lines_of(context.workspace.read_text(path).text)
    start, end = given.start_line or 1, min(given.end_line or len(lines), len(lines))
    if start < 1 or (lines and start > len(lines)) or (given.end_line is not None and given.end_line < start):
        raise ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give start_line and end_line among them")
    return ToolResult(
        text="".join(lines[start - 1 : end]),
        data=FileContent(path=path, start_line=start, end_line=end, total_lines=len(lines)),
    )


def lines_of(text: str) -> list[str]:
    """The lines with their ends; the last one may have none."""
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFile:
    path: str = argument("File to write, relative to the workspace; it is made or replaced.", accepts="path")
    content: str = argument("The whole new text.")


@tool(WriteFile, Edit, "Make a file or replace its whole text.", side_effect="write", task_types=WRITING_TASKS)
def write_file(context: ToolContext, given: WriteFile) -> ToolResult:
    """Make a file or replace its text."""
    return _write(context, given.path, given.content, "wrote")


def _write(context: ToolContext, path: str, text: str, verb: str) -> ToolResult:
    workspace = context.workspace
    relative = workspace.relative(path)
    before = workspace.read_bytes(relative) if workspace.exists(relative) else None
    context.write(relative, text)
    if before is not None and before == workspace.read_bytes(relative):
        return ToolResult(text=f"{relative} has this text already", data=Edit(path=relative, action="none", count=0))
    return ToolResult(
        text=f"{verb} {relative} ({len(lines_of(text))} lines)",
        data=Edit(path=relative, action="made" if before is None else "changed"),
        changed_files=(relative,),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFile:
    path: str = argument("File to add to; it is made if it is absent.", accepts="path")
    content: str = argument("Text to put at the end, on its own lines.")


@tool(AppendFile, Edit, "Add text at the end of a file.", side_effect="write", task_types=WRITING_TASKS)
def append_file(context: ToolContext, given: AppendFile) -> ToolResult:
    """Add text at the end of a file."""
    workspace = context.workspace
    old = workspace.read_text(given.path).text if workspace.exists(given.path) else ""
    joint = "" if not old or old.endswith("\n") else "\n"
    return _write(context, given.path, old + joint + given.content, "added to")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile:
    path: str = argument("File to delete, relative to the workspace.", accepts="path")


@tool(DeleteFile, Edit, "Delete a file.", side_effect="write", task_types=WRITING_TASKS)
def delete_file(context: ToolContext, given: DeleteFile) -> ToolResult:
    """Delete a file."""
    path = context.workspace.relative(given.path)
    context.workspace.delete(path)
    return ToolResult(text=f"deleted {path}", data=Edit(path=path, action="deleted"), changed_files=(path,))


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFile:
    source: str = argument("File to copy, relative to the workspace.", accepts="path")
    target: str = argument("New path; nothing may be there yet.")


@tool(CopyFile, Edit, "Copy a file to a new path.", side_effect="write", task_types=WRITING_TASKS)
def copy_file(context: ToolContext, given: CopyFile) -> ToolResult:
    """Copy a file within the workspace."""
    source, target = _ends(context, given.source, given.target)
    context.workspace.copy(source, target)
    return ToolResult(
        text=f"copied {source} to {target}", data=Edit(path=target, action="made"), changed_files=(target,)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFile:
    source: str = argument("File to move or rename, relative to the workspace.", accepts="path")
    target: str = argument("New path; nothing may be there yet.")


@tool(MoveFile, Edits, "Move or rename a file.", side_effect="write", task_types=WRITING_TASKS)
def move_file(context: ToolContext, given: MoveFile) -> ToolResult:
    """Move or rename a file within the workspace."""
    source, target = _ends(context, given.source, given.target)
    context.workspace.move(source, target)
    done = (Edit(path=source, action="deleted"), Edit(path=target, action="made"))
    return ToolResult(text=f"moved {source} to {target}", data=Edits(edits=done), changed_files=(source, target))


def _ends(context: ToolContext, source: str, target: str) -> tuple[str, str]:
    """Both paths; a target that is a directory takes the file under its own name."""
    workspace = context.workspace
    start, end = workspace.relative(source), workspace.relative(target)
    if workspace.is_dir(end):
        end = workspace.relative(f"{end or '.'}/{start.rpartition('/')[2]}")
    return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceInFile:
    path: str = argument("File to edit, relative to the workspace.", accepts="path")
    old: str = argument("Text to replace, exactly as it is in the file, with enough around it to be unique.")
    new: str = argument("Text to put in its place.")
    all: bool = argument("Replace every occurrence instead of exactly one.", default=False)


@tool(
    ReplaceInFile,
    Edit,
    "Replace a piece of text in a file; it must occur exactly once, unless all is true.",
    side_effect="write",
    task_types=WRITING_TASKS,
)
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
        return ToolResult(text=f"{path} has this text already", data=Edit(path=path, action="none", count=0))
    return ToolResult(
        text=f"replaced {count} {'place' if count == 1 else 'places'} in {path}",
        data=Edit(path=path, action="changed", count=count, start_line=_line_numbers(text, old)[0]),
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
    """A hint at the line that is most like the beginning of what was looked for."""
    line = nearest_line(text, old)
    return f"; the nearest is line {line}: {text.split(chr(10))[line - 1].strip():.120}" if line else _COPY


def nearest_line(text: str, old: str) -> int:
    """The line (1-based) of `text` where something most like `old` begins; 0 if nothing is like it.

    That is where the most lines of `old` are found in their places, white space aside, else a line like its first one.
    """
    places = defaultdict[str, list[int]](list)
    for number, line in enumerate(text.split("\n"), start=1):
        places[line.strip()].append(number)
    wanted = [(number, line.strip()) for number, line in enumerate(old.strip("\n").split("\n")) if line.strip()]
    votes = Counter(place - number for number, line in wanted for place in places.get(line, ())[:_SAME_LINES])
    if votes:
        return max(1, max(votes, key=lambda start: (votes[start], -start)))
    near = difflib.get_close_matches(wanted[0][1], list(places)[:5000], n=1, cutoff=0.6) if wanted else ()
    return places[near[0]][0] if near else 0


TOOLS = (
    read_file,
    write_file,
    append_file,
    delete_file,
    copy_file,
    move_file,
    replace_in_file,
)
