"""Questions to rope about a copy of the workspace's Python files: it never sees the workspace, and runs nothing.

`find_symbols` loads this module when it needs it: rope takes 0.2 s.
"""

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rope.base.exceptions import RopeError
from rope.base.project import Project
from rope.contrib.findit import find_occurrences
from rope.refactor.rename import Rename

from codur.structs import Struct
from codur.tools.code.definitions import parse
from codur.tools.tool import ToolContext, ToolError
from codur.workspace.problems import FileError

_MAX_FILES = 3_000


class RopeProject(Struct):
    """A copy of the Python files."""

    project: Any
    texts: dict[str, str]  # what the files hold, by path

    def occurrences(self, path: str, offset: int) -> list[tuple[str, int, int]]:
        """Where the name at a place is used, its definition included: path, line and offset.

        Raises:
            ToolError: `failed`: rope cannot tell.
        """
        with _told(path):
            found = find_occurrences(self.project, self.project.get_resource(path), offset, in_hierarchy=True)
        return sorted((place.resource.path, place.lineno, place.offset) for place in found)

    def renamed(self, path: str, offset: int, new_name: str) -> dict[str, str]:
        """The new texts of the files that change if the name at a place becomes another.

        Raises:
            ToolError: `failed`: rope cannot do it.
        """
        with _told(path):
            rename = Rename(self.project, self.project.get_resource(path), offset)
            changes = rename.get_changes(new_name, in_hierarchy=True)
        return {change.resource.path: change.new_contents for change in changes.changes}


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings(action="ignore"):  # of rope about itself
            yield
    except (RopeError, AttributeError, KeyError, IndexError, AssertionError) as error:
        # Rope's static analysis meets code that it does not foresee; the workspace is untouched then.
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ToolError("failed", f"rope cannot follow the name in {path}: {reason}") from error


@contextlib.contextmanager
def rope_project(context: ToolContext) -> Iterator[RopeProject]:
    """Rope on a copy of the workspace's Python files, for the time of the block.

    Raises:
        ToolError: `too_large`: there are more than 3,000 files.
    """
    paths = context.workspace.list_files(pattern="*.py", limit=_MAX_FILES + 1)
    if len(paths) > _MAX_FILES:
        raise ToolError(
            "too_large", f"there are more than {_MAX_FILES} Python files; use grep_files and replace_in_file"
        )
    with context.launcher.temporary_directory() as directory:
        texts = {path: text for path in paths if (text := _copied(context, path, directory)) is not None}
        options = {"automatic_soa": False, "import_dynload_stdmods": False, "extension_modules": []}
        with warnings.catch_warnings(action="ignore"):  # of rope about itself
            project = Project(str(directory), ropefolder=None, **options)
        try:
            yield RopeProject(project=project, texts=texts)
        finally:
            project.close()


def _copied(context: ToolContext, path: str, directory: Path) -> str | None:
    """The file's text, put where rope reads it with plain line ends; None if it has none, or does not parse."""
    try:
        file = context.workspace.read_text(path)
        parse(path, file.text)
    except (FileError, ToolError):
        return None
    target = directory / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.text.encode(file.encoding))
    return file.text
