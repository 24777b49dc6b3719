"""Whether a directory may be worked on, and whether a path in it may be written."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

from codur.config.protected import is_repository
from codur.errors import WorkspaceError
from codur.workspace import paths
from codur.workspace.disk.file_access import Image
from codur.workspace.history.journal import Journal
from codur.workspace.problems import FileError, from_os_error, require_mode
from codur.workspace.protection import Protection


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
    if is_repository({path.name for path in root.iterdir()}) and not _is_in_work_tree(root):
        raise WorkspaceError(
            f"{root} is a bare git repository, which has no files to work on", remedy="Clone it, and work in the clone."
        )
    return root


def _is_in_work_tree(root: Path) -> bool:
    return any(os.path.lexists(above / ".git") for above in (root, *root.parents))


class Permission:
    """Says which paths of a workspace may be written.

    Args:
        require_in_scope: raises `WorkspaceError` for a path that is out of the run's scope.
    """

    def __init__(
        self,
        root: Path,
        protection: Protection,
        journal: Journal,
        require_in_scope: Callable[[str | Path], None],
    ) -> None:
        self._root = root
        self._protection = protection
        self._journal = journal
        self._require_in_scope = require_in_scope

    def key(self, rel: str | Path) -> str:
        """The key of a path that may be written. Raises WorkspaceError: it may not."""
        normal, key = paths.normalise(self._root, rel), paths.real(self._root, rel)
        if not key:
            raise FileError("the workspace itself is a directory, not a file", code="not_a_file")
        if self._protection.covers(rel):
            raise FileError(
                f"{normal} is protected and is not edited", code="refused", remedy="Edit it yourself if it must change."
            )
        self._require_in_scope(rel)
        lexical = self._root / normal
        if lexical.is_symlink() and not lexical.exists():
            raise FileError(f"{normal} is a symbolic link that leads nowhere", code="refused")
        if not paths.can_be_shown(key):
            raise FileError(f"the name {key!r} has characters that cannot be shown", code="invalid")
        return key

    def present(self, rel: str | Path) -> tuple[str, Image]:
        """The key of a file that may be deleted, and the file. Raises WorkspaceError: it may not, or there is none."""
        # Deleting a link is not what anybody means who names a file, and its target may be another's.
        if (self._root / paths.normalise(self._root, rel)).is_symlink():
            raise FileError(f"{rel} is a symbolic link, which is left alone", code="refused")
        key = self.key(rel)
        before = self._journal.present(key)
        if before is None:
            raise FileError(f"there is no file {key}", code="not_found")
        return key, before

    def require_writable(self, rel: str | Path) -> None:
        """Make sure that a file could be replaced, without touching it.

        Raises:
            WorkspaceError: the file or its directory may not be written.
        """
        path = paths.real(self._root, rel)
        target = self._root / path
        if not (os.access(target.parent, os.W_OK | os.X_OK) and (not target.exists() or os.access(target, os.W_OK))):
            raise from_os_error(path, OSError(errno.EACCES, "not writable"))
        if target.exists():
            require_mode(path, target.stat().st_mode)
