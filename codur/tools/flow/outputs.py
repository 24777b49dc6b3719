"""What tools give back: the closed set of kinds of output, with those in `code_outputs`.

A tool declares one of them and fills `ToolResult.data` with it; `Toolbox.call` hands it on as plain JSON. Contents of
files are in the result's text and not here. A result that is not `ok` has none, except that of a program that ran.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from codur.structs import Struct, is_data, names
from codur.tools.flow.io_kinds import Directory, FilePath, Line, SomeText, Url
from codur.types import ToolResult


def to_json(value: Any) -> Any:
    """An output, or a part of one, as plain JSON."""
    if is_data(value):
        return {name: to_json(getattr(value, name)) for name in names(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


class Text(Struct):
    """Only what the result's text says."""


# --- files ------------------------------------------------------------------------------------------------------------


class FileContent(Struct):
    """A file, or some of its lines, whose text is the result's."""

    path: FilePath
    start_line: Line
    end_line: int  # last line shown, included
    total_lines: int


class FileContents(Struct):
    """Several files."""

    files: tuple[FileContent, ...]
    failed: Mapping[str, str]  # codes of the files that could not be read, by path


class FileList(Struct):
    """Paths of files."""

    files: tuple[FilePath, ...]
    complete: bool  # false if there are more


class DirectoryList(Struct):
    """Paths of directories."""

    directories: tuple[Directory, ...]
    complete: bool  # false if there are more


class Tree(Struct):
    """Directories (with a slash at the end) and files."""

    path: Directory
    entries: tuple[str, ...]  # paths relative to it
    complete: bool  # false if there are more


class Place(Struct):
    """One line of a file."""

    path: FilePath
    line: Line
    text: str  # the line, shortened


class Matches(Struct):
    """Lines that match."""

    matches: tuple[Place, ...]  # in the order of paths and lines
    complete: bool  # false if there are more, or files that could not be searched


class Edit(Struct):
    """A change of one file."""

    path: FilePath
    action: str  # made, changed, deleted, or none if it was like that already
    start_line: Annotated[int | None, "line"] = None  # first line that was replaced, as it was numbered before
    end_line: int | None = None  # last line that was replaced; start_line - 1 for lines put in between
    count: int = 1  # places that were changed


def edited(text: str, edit: Edit) -> ToolResult:
    """The result of a tool that changed one file."""
    return ToolResult(text=text, data=edit, changed_files=(edit.path,))


def unchanged(path: str, what: str = "this text") -> ToolResult:
    """The result of a tool that found a file as it was to make it."""
    return ToolResult(text=f"{path} has {what} already", data=Edit(path=path, action="none", count=0))


class Edits(Struct):
    """Changes of several files."""

    edits: tuple[Edit, ...]


class DataValue(Struct):
    """A value of a data file."""

    path: FilePath
    key: str  # where in it; empty for the whole
    value: Any  # the value as JSON


# --- programs ---------------------------------------------------------------------------------------------------------


class ProgramResult(Struct):
    """What became of a program; also of one that failed."""

    exit_status: int | None  # None if it was stopped
    stdout: SomeText
    stderr: SomeText
    timed_out: bool  # it was stopped because its time was up
    truncated: bool  # the middle of its output was left out
    limit: str  # which limit stopped it
    tripped: tuple[str, ...]  # protected paths that it wrote to; that was undone
    counts: Mapping[str, int]  # tests by outcome, where tests were run


class CheckResult(Struct):
    """The verdict of the run's check."""

    status: str  # passed, failed, no_check, flaky or tampered
    command: str
    progress: float  # share that passes, 0 to 1
    signature: str  # the failure, without what differs between runs


# --- the web and the user --------------------------------------------------------------------------------------------


class WebPage(Struct):
    """A page, whose readable text is the result's."""

    url: Url  # where it came from at last
    title: str


class SearchHit(Struct):
    """One page that a search found."""

    url: Url
    title: str
    text: str  # an excerpt


class SearchHits(Struct):
    """Pages that a search found, best first."""

    hits: tuple[SearchHit, ...]


class Answer(Struct):
    """What the user was asked and said, which is also the result's text."""

    question: str
    answer: SomeText
