"""What tools give back: the closed set of kinds of output, with those in `code_outputs`.

A tool declares one of them and fills `ToolResult.data` with it; `Toolbox.call` hands it on as plain JSON. Contents of
files are in the result's text and not here. A result that is not `ok` has none, except that of a program that ran.
"""

from collections.abc import Mapping
from typing import Any

from codur.structs import Struct, is_data, names
from codur.tools.flow.io_kinds import Described, member
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


class FileContent(Described):
    """A file, or some of its lines, whose text is the result's."""

    path: str = member("The file.", "path")
    start_line: int = member("First line shown.", "line")
    end_line: int = member("Last line shown, included.")
    total_lines: int = member("Lines of the whole file.")


class FileContents(Described):
    """Several files."""

    files: tuple[FileContent, ...] = member("Each file in the order of the text.")
    failed: Mapping[str, str] = member("Codes of the files that could not be read, by path.")


class FileList(Described):
    """Paths of files."""

    files: tuple[str, ...] = member("Files, sorted.", "path")
    complete: bool = member("False if there are more.")


class DirectoryList(Described):
    """Paths of directories."""

    directories: tuple[str, ...] = member("Directories, sorted.", "directory")
    complete: bool = member("False if there are more.")


class Tree(Described):
    """Directories (with a slash at the end) and files."""

    path: str = member("The directory that is shown.", "directory")
    entries: tuple[str, ...] = member("Paths relative to it.")
    complete: bool = member("False if there are more.")


class Place(Described):
    """One line of a file."""

    path: str = member("The file.", "path")
    line: int = member("Its line, from 1.", "line")
    text: str = member("The line, shortened.")


class Matches(Described):
    """Lines that match."""

    matches: tuple[Place, ...] = member("In the order of paths and lines.")
    complete: bool = member("False if there are more, or files that could not be searched.")


class Edit(Described):
    """A change of one file."""

    path: str = member("The file.", "path")
    action: str = member("made, changed, deleted, or none if it was like that already.")
    start_line: int | None = member("First line that was replaced, as it was numbered before.", "line", None)
    end_line: int | None = member("Last line that was replaced; start_line - 1 for lines put in between.", None, None)
    count: int = member("Places that were changed.", None, 1)


def edited(text: str, edit: Edit) -> ToolResult:
    """The result of a tool that changed one file."""
    return ToolResult(text=text, data=edit, changed_files=(edit.path,))


def unchanged(path: str, what: str = "this text") -> ToolResult:
    """The result of a tool that found a file as it was to make it."""
    return ToolResult(text=f"{path} has {what} already", data=Edit(path=path, action="none", count=0))


class Edits(Described):
    """Changes of several files."""

    edits: tuple[Edit, ...] = member("By path.")


class DataValue(Described):
    """A value of a data file."""

    path: str = member("The file.", "path")
    key: str = member("Where in it; empty for the whole.")
    value: Any = member("The value as JSON.")


# --- programs ---------------------------------------------------------------------------------------------------------


class ProgramResult(Described):
    """What became of a program; also of one that failed."""

    exit_status: int | None = member("None if it was stopped.")
    stdout: str = member("What it printed.", "text")
    stderr: str = member("What it printed as errors.", "text")
    timed_out: bool = member("It was stopped because its time was up.")
    truncated: bool = member("The middle of its output was left out.")
    limit: str = member("Which limit stopped it.")
    tripped: tuple[str, ...] = member("Protected paths that it wrote to; that was undone.")
    counts: Mapping[str, int] = member("Tests by outcome, where tests were run.")


class CheckResult(Described):
    """The verdict of the run's check."""

    status: str = member("passed, failed, no_check, flaky or tampered.")
    command: str = member("What was run.")
    progress: float = member("Share that passes, 0 to 1.")
    signature: str = member("The failure, without what differs between runs.")


# --- the web and the user --------------------------------------------------------------------------------------------


class WebPage(Described):
    """A page, whose readable text is the result's."""

    url: str = member("Where it came from at last.", "url")
    title: str = member("Its title.")


class SearchHit(Described):
    """One page that a search found."""

    url: str = member("Its address.", "url")
    title: str = member("Its title.")
    text: str = member("An excerpt.")


class SearchHits(Described):
    """Pages that a search found, best first."""

    hits: tuple[SearchHit, ...] = member("The pages.")


class Answer(Described):
    """What the user was asked and said, which is also the result's text."""

    question: str = member("What was asked.")
    answer: str = member("What was said.", "text")
