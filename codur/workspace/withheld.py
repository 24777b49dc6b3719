"""Files that whoever works through a workspace must not read."""

import os
from collections.abc import Callable
from pathlib import Path

from codur.structs import Struct, field
from codur.workspace import paths
from codur.workspace.problems import FileError


def nothing(_path: str) -> bool:
    """Withholds no file."""
    return False


class Withheld(Struct):
    """Which files are withheld, by their names.

    Attributes:
        root: the workspace's directory.
        covers: whether the file of a relative path is; looks at the path alone.
    """

    root: Path
    covers: Callable[[str], bool] = field(default=nothing)

    def hides(self, path: str | Path) -> bool:
        """Whether the file, or what it leads to through links, is withheld; outside of the root its name decides."""
        if self.covers(os.fspath(path)):
            return True
        try:
            return self.covers(paths.real(self.root, path))
        except FileError:
            return False

    def readable(self, path: str | Path) -> str:
        """The path without links, as a key to its content.

        Raises:
            FileError: it, or what it leads to, is withheld (code `refused`), or it leads out of the root.
        """
        key = paths.real(self.root, path)
        given = paths.normalise(self.root, path)
        if self.covers(given) or self.covers(key):
            raise FileError(
                f"{given} may hold keys or passwords, which no model is shown",
                code="refused",
                remedy="Do without it, or have the user look at it.",
            )
        return key
