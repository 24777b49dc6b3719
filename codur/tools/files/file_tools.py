"""Tools that read files, and change single ones: whole, by a piece of text or by line numbers."""

import io
import posixpath
import re
from collections import Counter, defaultdict
from typing import Annotated

from codur.lazy import late
from codur.parsing.bounded_text import bounded, listed
from codur.tools import files
from codur.tools.files.data_tools import require_readable
from codur.tools.flow.outputs import Edit, Edits, FileContent, FileContents, Matches, Place, edited, unchanged
from codur.tools.tool import WRITING_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError
from codur.workspace.workspace import Workspace

difflib = late("difflib")

_COPY = "; read the file and copy from it"
_SAME_LINES = 50
_MAX_PLACES = 20
_MAX_MOVED = 400  # lines of a piece whose indentation is looked for
_MAX_FILES = 50
_MAX_TEXT = 180_000
_BEGINNING = 64 * 1024  # bytes of a file that is too large to be read whole


@tool(FileContent)
def read_file(
    context: ToolContext,
    path: Annotated[str, Arg("File to read, relative to the workspace.", "path")],
    start_line: Annotated[int | None, Arg("First line, counted from 1; the whole file if left out.", "line")] = None,
    end_line: Annotated[int | None, Arg("Last line, included.")] = None,
) -> ToolResult:
    """Read a text file, or some of its lines."""
    path = context.workspace.relative(path)
    lines, more = _lines_and_more(context.workspace, path)
    start, end = start_line or 1, min(end_line or len(lines), len(lines))
    if start < 1 or (lines and start > len(lines)) or (end_line is not None and end_line < start):
        if more:
            raise ToolError("too_large", f"of {path} only the first {len(lines)} lines can be read")
        raise _outside(path, lines, "start_line and end_line among them")
    return ToolResult(
        text="".join(lines[start - 1 : end]) + more,
        data=FileContent(path=path, start_line=start, end_line=end, total_lines=len(lines)),
    )


def _lines_and_more(workspace: Workspace, path: str) -> tuple[list[str], str]:
    """The lines of a file, of one that is too large those at its beginning, and what is said of that."""
    try:
        return lines_of(workspace.read_text(path).text), ""
    except FileError as error:
        if error.code != "too_large":
            raise
        text, size = workspace.read_beginning(path, limit=_BEGINNING)
        lines = lines_of(text)
        if not lines:
            raise
        return lines, f"… {path} has {size // 1024} KiB, of which these {len(lines)} lines can be read\n"


def _outside(path: str, lines: list[str], wanted: str) -> ToolError:
    return ToolError("invalid", f"{path} has lines 1 to {len(lines)}; give {wanted}")


def lines_of(text: str) -> list[str]:
    """The lines with their ends; the last one may have none."""
    return io.StringIO(text).readlines()


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
def write_file(
    context: ToolContext,
    path: Annotated[str, Arg("File to write, relative to the workspace; it is made or replaced.", "path")],
    content: Annotated[str, Arg("The whole new text.")],
) -> ToolResult:
    """Make a file or replace its whole text."""
    return _write(context, path, content, "wrote")


def _write(context: ToolContext, path: str, text: str, verb: str) -> ToolResult:
    workspace = context.workspace
    relative = workspace.relative(path)
    before = workspace.read_bytes(relative) if workspace.exists(relative) else None
    if before is not None:
        require_readable(relative, before.decode("utf-8", "replace"), text)
    context.write(relative, text)
    if before is not None and before == workspace.read_bytes(relative):
        return unchanged(relative)
    action = "made" if before is None else "changed"
    return edited(f"{verb} {relative} ({len(lines_of(text))} lines)", Edit(path=relative, action=action))


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def append_file(
    context: ToolContext,
    path: Annotated[str, Arg("File to add to; it is made if it is absent.", "path")],
    content: Annotated[str, Arg("Text to put at the end, on its own lines.")],
) -> ToolResult:
    """Add text at the end of a file."""
    workspace = context.workspace
    old = workspace.read_text(path).text if workspace.exists(path) else ""
    joint = "" if not old or old.endswith("\n") else "\n"
    return _write(context, path, old + joint + content, "added to")


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def delete_file(
    context: ToolContext, path: Annotated[str, Arg("File to delete, relative to the workspace.", "path")]
) -> ToolResult:
    """Delete a file."""
    path = context.workspace.relative(path)
    context.workspace.delete(path)
    return edited(f"deleted {path}", Edit(path=path, action="deleted"))


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def copy_file(
    context: ToolContext,
    source: Annotated[str, Arg("File to copy, relative to the workspace.", "path")],
    target: Annotated[str, Arg("New path; nothing may be there yet.")],
) -> ToolResult:
    """Copy a file to a new path."""
    source, target = _ends(context, source, target)
    context.workspace.copy(source, target)
    return edited(f"copied {source} to {target}", Edit(path=target, action="made"))


@tool(Edits, side_effect="write", task_types=WRITING_TASKS)
def move_file(
    context: ToolContext,
    source: Annotated[str, Arg("File to move or rename, relative to the workspace.", "path")],
    target: Annotated[str, Arg("New path; nothing may be there yet.")],
) -> ToolResult:
    """Move or rename a file."""
    source, target = _ends(context, source, target)
    named = [] if source == target else _naming(context, source)
    context.workspace.move(source, target)
    done = (Edit(path=source, action="deleted"), Edit(path=target, action="made"))
    still = f"; {source} is still named in {listed(named, _MAX_PLACES)}" if named else ""
    return ToolResult(text=f"moved {source} to {target}{still}", data=Edits(edits=done), changed_files=(source, target))


def _naming(context: ToolContext, path: str) -> list[str]:
    """The lines of other files that name a file by its path, as from where they are or a part of it, or as a module."""
    directory, name = posixpath.split(path)
    stem, package = name.removesuffix(".py") or name, re.escape(posixpath.basename(directory)) or "$"

    def names(place: Place) -> bool:
        here = posixpath.dirname(place.path)
        steps = posixpath.relpath(directory or ".", here or ".").split("/")
        relative = "." * (steps.count("..") + 1) + ".".join(step for step in steps if step.strip("."))
        alone = r"from +|^\s*import +" if directory in {here, "", "src"} else "$"
        before = rf"(?:\b{package}|from +{re.escape(relative)})(?:(?<=\.)|\b\.| +import\b.*\b)|{alone}"
        for said in re.findall(rf"[\w./-]*(?<![\w.-]){re.escape(name)}(?!\w)", place.text):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(place.path), said))
            if there == path or (f"/{path}".endswith(f"/{said.lstrip('./')}") and not context.workspace.exists(there)):
                return True
        return name.endswith(".py") and re.search(rf"(?:{before}){re.escape(stem)}\b", place.text) is not None

    found = files.grep.grep_files.function(context, stem, limit=1000).data
    places = found.matches if isinstance(found, Matches) else ()
    return [f"{place.path}:{place.line}" for place in places if place.path != path and names(place)]


def _ends(context: ToolContext, source: str, target: str) -> tuple[str, str]:
    """Both paths; a target that is a directory takes the file under its own name."""
    workspace = context.workspace
    start, end = workspace.relative(source), workspace.relative(target)
    if workspace.is_dir(end):
        end = workspace.relative(f"{end or '.'}/{start.rpartition('/')[2]}")
    return start, end


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def replace_in_file(
    context: ToolContext,
    path: Annotated[str, Arg("File to edit, relative to the workspace.", "path")],
    old: Annotated[str, Arg("Text to replace, exactly as it is in the file, with enough around it to be unique.")],
    new: Annotated[str, Arg("Text to put in its place.")],
    all: Annotated[bool, Arg("Replace every occurrence instead of exactly one.")] = False,  # noqa: A002 - a model's word
) -> ToolResult:
    """Replace a piece of text in a file; it must occur exactly once, unless all is true."""
    path = context.workspace.relative(path)
    text = context.workspace.read_text(path).text
    # A file's text is read with plain line ends and written with its own; a model may have copied them from elsewhere.
    old, new = (part.replace("\r\n", "\n") for part in (old, new))
    if not old:
        raise ToolError("invalid", "old is empty; give the text to replace")
    if old not in text and not all:
        old, new = _reindented(text, old, new) or (old, new)
    count = text.count(old)
    if count == 0:
        raise ToolError("no_match", f"{path} has no such text{_nearest(text, old)}")
    if count > 1 and not all:
        places = ", ".join(str(line) for line in line_numbers(text, old))
        raise ToolError(
            "many_matches", f"{path} has this text {count} times (lines {places}); give more around it, or all"
        )
    limit = context.workspace.max_file_bytes
    if len(text) + count * (len(new) - len(old)) > limit:
        # Refused before it is made: the text could be larger than the memory.
        raise ToolError("too_large", f"{path} would be larger than {limit // 1024} KiB")
    after = text.replace(old, new)
    require_readable(path, text, after)
    context.write(path, after)
    if old == new:
        return unchanged(path)
    begins = line_numbers(text, old)[0] + old.startswith("\n")
    done = Edit(path=path, action="changed", count=count, start_line=begins)
    return edited(f"replaced {count} {'place' if count == 1 else 'places'} in {path}", done)


def _reindented(text: str, old: str, new: str) -> tuple[str, str] | None:
    """Both pieces as they are indented in the text, as whole lines, where they differ from it in that alone.

    In one place, and each line off by the same, but for the first, of which the indentation is easily left out.
    """
    lines, wanted, put = text.split("\n"), old.removesuffix("\n").split("\n"), new.removesuffix("\n").split("\n")
    bare, count = [line.strip() for line in wanted], len(wanted)
    starts = (n for n, line in enumerate(lines) if line.strip() == bare[0]) if bare[0] and count <= _MAX_MOVED else ()
    places = [n for n in starts if [line.strip() for line in lines[n : n + count]] == bare]
    if len(places) != 1 or (new and not put[0].strip()):
        return None
    there = lines[places[0] : places[0] + count]
    shifts = [_shift(line, mine) for line, mine in zip(there, wanted, strict=True) if line.strip()]
    first, rest = shifts[0], set(shifts[1:] or shifts[:1])
    moved = [_moved(line, next(iter(rest)) if number else first) for number, line in enumerate(put if new else ())]
    if len(rest) > 1 or None in (first, *rest, *moved):
        return None
    left, right = "\n" if places[0] else "", "\n" if places[0] + count < len(lines) else ""
    before, after = "\n".join(there), "\n".join(line for line in moved if line is not None)
    return f"{left}{before}{right}", f"{left}{after}{right if moved else ''}"


def _shift(line: str, mine: str) -> tuple[str, str] | None:
    """What stands in front of a line beyond what a copy of it has, and the reverse; None if they are not of a kind."""
    own, copied = (text[: len(text) - len(text.lstrip())] for text in (line, mine))
    if own.endswith(copied):
        return own.removesuffix(copied), ""
    return ("", copied.removesuffix(own)) if copied.endswith(own) else None


def _moved(line: str, by: tuple[str, str] | None) -> str | None:
    """A line with so much more or less in front; None if it does not have as much."""
    if by is None or not line.strip():
        return line if by is not None else None
    return f"{by[0]}{line.removeprefix(by[1])}" if line.startswith(by[1]) else None


def line_numbers(text: str, piece: str) -> list[int]:
    """The lines (1-based) of `text` where `piece` begins, the first ones."""
    found: list[int] = []
    at = text.find(piece)
    while at >= 0 and len(found) < _MAX_PLACES:
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


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def replace_lines(
    context: ToolContext,
    path: Annotated[str, Arg("File to edit, relative to the workspace.", "path")],
    start_line: Annotated[int, Arg("First line to replace, counted from 1.", "line")],
    end_line: Annotated[int, Arg("Last line to replace, included.")],
    content: Annotated[str, Arg("New lines in their place; empty to delete them.")],
) -> ToolResult:
    """Replace lines of a file by their numbers."""
    path, lines = _read_lines(context, path)
    if not 1 <= start_line <= end_line <= len(lines):
        raise _outside(path, lines, "start_line and end_line among them")
    return _write_lines(context, path, lines, (start_line, end_line), content)


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def inject_lines(
    context: ToolContext,
    path: Annotated[str, Arg("File to edit, relative to the workspace.", "path")],
    after_line: Annotated[int, Arg("Line after which they are put; 0 for the beginning of the file.", "line")],
    content: Annotated[str, Arg("The new lines.")],
) -> ToolResult:
    """Put new lines into a file after a line."""
    path, lines = _read_lines(context, path)
    if not 0 <= after_line <= len(lines):
        raise _outside(path, lines, "after_line among them, or 0")
    if not content:
        raise ToolError("invalid", "content is empty; give the new lines")
    return _write_lines(context, path, lines, (after_line + 1, after_line), content)


def _read_lines(context: ToolContext, given_path: str) -> tuple[str, list[str]]:
    path = context.workspace.relative(given_path)
    return path, lines_of(context.workspace.read_text(path).text)


def _write_lines(context: ToolContext, path: str, lines: list[str], place: tuple[int, int], content: str) -> ToolResult:
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


TOOLS = (
    *(read_file, read_files, write_file, append_file, delete_file, copy_file, move_file),
    *(replace_in_file, replace_lines, inject_lines),
)
