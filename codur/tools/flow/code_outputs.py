"""Kinds of output about code and its history; the others are in `outputs`."""

from collections.abc import Mapping
from typing import Annotated

from codur.structs import Struct
from codur.tools.flow.io_kinds import FilePath, Line, PythonPath, Revision, Symbol

# --- Python -----------------------------------------------------------------------------------------------------------


class OutlineItem(Struct):
    """One definition of a file."""

    name: Symbol  # its name, with those around it and dots
    kind: str  # function, method or class
    start_line: Line  # first line, decorators included
    end_line: int
    signature: str  # the line that introduces it
    doc: str


class Outline(Struct):
    """The definitions of a Python file."""

    path: PythonPath
    definitions: tuple[OutlineItem, ...]


class Import(Struct):
    """One imported module."""

    module: str  # its name, with the dots of a relative import
    names: tuple[str, ...]
    line: int
    kind: str  # local, stdlib or other
    path: Annotated[str | None, "python_path"]


class Dependencies(Struct):
    """What a Python file rests on."""

    path: PythonPath
    imports: tuple[Import, ...]
    calls: Mapping[str, tuple[str, ...]]  # definitions that a definition calls, by its name
    definitions: tuple[Symbol, ...]


class DependencySet(Struct):
    """What Python files rest on."""

    files: tuple[Dependencies, ...]


class SymbolPlace(Struct):
    """Where a symbol is defined or used."""

    path: PythonPath
    line: Line
    kind: str  # function, method, class, variable or usage
    text: str  # the line, shortened


class SymbolPlaces(Struct):
    """Where a symbol is defined or used."""

    name: Symbol  # the symbol that was asked for
    places: tuple[SymbolPlace, ...]


class Finding(Struct):
    """One complaint about a file."""

    path: PythonPath
    line: Line
    column: int
    code: str
    text: str


class Findings(Struct):
    """What an examination of files found; nothing if they are well."""

    paths: tuple[FilePath, ...]
    findings: tuple[Finding, ...] = ()
    by: str = "python"


# --- git --------------------------------------------------------------------------------------------------------------


class ChangedFile(Struct):
    """One line of git's status."""

    status: str  # two letters as git status --short has them
    path: FilePath


class RepositoryStatus(Struct):
    """Branch and changed files."""

    branch: Revision
    entries: tuple[ChangedFile, ...]  # files that are changed, staged or new


class Diff(Struct):
    """Differences as a unified diff, which is the result's text."""

    revision: Revision  # the commit that is shown or compared with
    files: tuple[FilePath, ...]


class Commit(Struct):
    """One commit."""

    hash: Revision
    author: str
    date: str
    subject: str


class Commits(Struct):
    """Commits, the latest first."""

    commits: tuple[Commit, ...]


class BlamedLine(Struct):
    """Who changed a line last."""

    line: Line
    commit: Commit
    text: str  # the line, shortened


class Blame(Struct):
    """Who changed the lines of a file last."""

    path: FilePath
    lines: tuple[BlamedLine, ...]
