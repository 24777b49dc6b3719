"""Whether a directory may be worked on."""

import os
from pathlib import Path

from codur.config.protected import is_repository
from codur.errors import WorkspaceError


def usable_root(path: Path, home: Path | None) -> Path:
    """The directory at `path`, absolute and without links, if it may be a workspace.

    Args:
        home: the user's home directory, which is too wide, as is all that holds it; None for a scratch copy.

    Raises:
        WorkspaceError: the path is missing, not a directory, unreadable, the file system's root, a bare repository, or
            holds `home`.
    """
    try:
        root = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(f"there is no directory {path}", remedy="Give an existing project directory.") from error
    if not root.is_dir():
        raise WorkspaceError(f"{path} is not a directory", remedy="Give the project's directory, not a file.")
    if root == Path(root.anchor) or (home is not None and home.resolve().is_relative_to(root)):
        raise WorkspaceError(
            f"{root} is no project: it holds your whole home or system",
            remedy="Go to the project's own directory, or name it.",
        )
    if not os.access(root, os.R_OK | os.X_OK):
        raise WorkspaceError(f"{root} cannot be read", remedy="Check the directory's permissions.")
    in_work_tree = any(os.path.lexists(above / ".git") for above in (root, *root.parents))
    if not in_work_tree and is_repository({path.name for path in root.iterdir()}):
        raise WorkspaceError(
            f"{root} is a bare git repository, which has no files to work on", remedy="Clone it, and work in the clone."
        )
    return root
