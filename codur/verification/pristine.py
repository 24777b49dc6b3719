"""The files that define a check, as they were when the run began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from codur.errors import WorkspaceError
from codur.types import Check
from codur.workspace.workspace import Workspace


class Pristine:
    """Bytes of the check's files, by the path that the check uses for them."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = dict(files or {})

    def keep(self, check: Check, workspace: Workspace) -> None:
        """Remember the check's files as they are now.

        Raises:
            WorkspaceError: one of them cannot be read.
        """
        for path in _files_of(check):
            if path not in self._files and self._path(path, workspace).is_file():
                self._files[path] = _read(self._path(path, workspace))

    def data(self, path: str, workspace: Workspace) -> bytes:
        """The remembered bytes; of a file not remembered, the present ones.

        Raises:
            WorkspaceError: it cannot be read.
        """
        kept = self._files.get(path)
        return kept if kept is not None else _read(self._path(path, workspace))

    def text(self, path: str, workspace: Workspace) -> str:
        """As `data`, decoded: UTF-8, with or without a byte order mark; what is none becomes replacement characters."""
        return self.data(path, workspace).decode("utf-8-sig", errors="replace")

    def restore(self, workspace: Workspace) -> tuple[str, ...]:
        """Put back what differs from what was remembered; gives the paths that did."""
        changed = []
        for path, data in self._files.items():
            target = self._path(path, workspace)
            if Path(path).is_absolute():
                continue
            if not target.is_file() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                changed.append(path)
        return tuple(changed)

    def without(self, paths: Iterable[str]) -> Pristine:
        """The same for a workspace in which these files are left out; their bytes stay known."""
        return _Hidden(self._files, frozenset(paths))

    def copy(self) -> Pristine:
        """An independent copy."""
        return Pristine(self._files)

    def _path(self, path: str, workspace: Workspace) -> Path:
        return Path(path) if Path(path).is_absolute() else workspace.root / path


class _Hidden(Pristine):
    """Knows files that are not to be put back."""

    def __init__(self, files: Mapping[str, bytes], hidden: frozenset[str]) -> None:
        super().__init__(files)
        self._hidden = hidden

    def restore(self, workspace: Workspace) -> tuple[str, ...]:
        return Pristine({path: data for path, data in self._files.items() if path not in self._hidden}).restore(
            workspace
        )


def _files_of(check: Check) -> tuple[str, ...]:
    extra = [path for path in (check.expected_file, check.stdin_file) if path]
    return tuple(dict.fromkeys([*check.protected, *extra]))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkspaceError(
            f"{path}: cannot be read: {(error.strerror or 'unknown error').lower()}",
            remedy="The check needs this file; see that it is there and may be read.",
        ) from error
