"""Kinds of output about code and its history; the others are in `outputs`."""

from collections.abc import Mapping

from codur.tools.flow.io_kinds import Described, member

# --- Python -----------------------------------------------------------------------------------------------------------


class OutlineItem(Described):
    """One definition of a file."""

    name: str = member("Its name, with those around it and dots.", "symbol")
    kind: str = member("function, method or class.")
    start_line: int = member("First line, decorators included.", "line")
    end_line: int = member("Last line.")
    signature: str = member("The line that introduces it.")
    doc: str = member("First line of its docstring.")


class Outline(Described):
    """The definitions of a Python file."""

    path: str = member("The file.", "python_path")
    definitions: tuple[OutlineItem, ...] = member("In their order.")


class Import(Described):
    """One imported module."""

    module: str = member("Its name, with the dots of a relative import.")
    names: tuple[str, ...] = member("What is imported from it.")
    line: int = member("The import's line.")
    kind: str = member("local, stdlib or other.")
    path: str | None = member("The workspace's file that it is.", "python_path")


class Dependencies(Described):
    """What a Python file rests on."""

    path: str = member("The file.", "python_path")
    imports: tuple[Import, ...] = member("In their order.")
    calls: Mapping[str, tuple[str, ...]] = member("Definitions that a definition calls, by its name.")
    definitions: tuple[str, ...] = member("Names of its definitions.", "symbol")


class DependencySet(Described):
    """What Python files rest on."""

    files: tuple[Dependencies, ...] = member("Each file.")


class SymbolPlace(Described):
    """Where a symbol is defined or used."""

    path: str = member("The file.", "python_path")
    line: int = member("Its line, from 1.", "line")
    kind: str = member("function, method, class, variable or usage.")
    text: str = member("The line, shortened.")


class SymbolPlaces(Described):
    """Where a symbol is defined or used."""

    name: str = member("The symbol that was asked for.", "symbol")
    places: tuple[SymbolPlace, ...] = member("By path and line.")


class Finding(Described):
    """One complaint about a file."""

    path: str = member("The file.", "python_path")
    line: int = member("Its line, from 1.", "line")
    column: int = member("Its column, from 1.")
    code: str = member("The rule.")
    text: str = member("What is wrong.")


class Findings(Described):
    """What an examination of files found; nothing if they are well."""

    paths: tuple[str, ...] = member("What was examined.", "path")
    findings: tuple[Finding, ...] = member("By path and line.", None, ())
    by: str = member("The program that examined them.", None, "python")


# --- git --------------------------------------------------------------------------------------------------------------


class ChangedFile(Described):
    """One line of git's status."""

    status: str = member("Two letters as git status --short has them.")
    path: str = member("The file.", "path")


class RepositoryStatus(Described):
    """Branch and changed files."""

    branch: str = member("Its name.", "revision")
    entries: tuple[ChangedFile, ...] = member("Files that are changed, staged or new.")


class Diff(Described):
    """Differences as a unified diff, which is the result's text."""

    revision: str = member("The commit that is shown or compared with.", "revision")
    files: tuple[str, ...] = member("Files in it.", "path")


class Commit(Described):
    """One commit."""

    hash: str = member("Its name.", "revision")
    author: str = member("Who made it.")
    date: str = member("When, in ISO 8601.")
    subject: str = member("First line of its message.")


class Commits(Described):
    """Commits, the latest first."""

    commits: tuple[Commit, ...] = member("The commits.")


class BlamedLine(Described):
    """Who changed a line last."""

    line: int = member("Its line, from 1.", "line")
    commit: Commit = member("The commit that changed it last.")
    text: str = member("The line, shortened.")


class Blame(Described):
    """Who changed the lines of a file last."""

    path: str = member("The file.", "path")
    lines: tuple[BlamedLine, ...] = member("In their order.")
