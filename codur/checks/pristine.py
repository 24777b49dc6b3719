"""The files that define a check, as they were when the run began."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from codur.errors import WorkspaceError, reason_of
from codur.types import Check
from codur.workspace.workspace import Workspace

MAX_BYTES = 64 << 20
"""What is read of a file at most: it may say that it has any size."""


class Pristine:
    """Bytes of the check's files, by the path that the check uses for them."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = dict(files or {})
        self._left_out: frozenset[str] = frozenset()

    def keep(self, check: Check, workspace: Workspace) -> None:
        """Remember the check's files as they are now. Raises WorkspaceError: one of them cannot be read."""
        for path in _files_of(check):
            if path not in self._files and self._path(path, workspace).is_file():
                self._files[path] = _read(self._path(path, workspace))

    def data(self, path: str, workspace: Workspace) -> bytes:
        """The bytes as remembered, else as they are present. Raises WorkspaceError: they cannot be read."""
        kept = self._files.get(path)
        return kept if kept is not None else _read(self._path(path, workspace))

    def text(self, path: str, workspace: Workspace) -> str:
        """As `data`, decoded: UTF-8, with or without a byte order mark; what is none becomes replacement characters."""
        return self.data(path, workspace).decode("utf-8-sig", errors="replace")

    def expected(self, check: Check, workspace: Workspace) -> str:
        """The output that a check expects. Raises WorkspaceError: its file cannot be read."""
        return check.expected_text or "" if check.expected_file is None else self.text(check.expected_file, workspace)

    def restore(self, workspace: Workspace) -> tuple[str, ...]:
        """Put back what differs from what was remembered; gives its paths. Raises WorkspaceError: that cannot be done.

        Files outside the workspace are left alone: their remembered bytes are used in any case.
        """
        changed = self._differing(workspace)
        for path, target in changed.items():
            _put_back(workspace.root, target, self._files[path])
        return tuple(changed)

    def retake(self, workspace: Workspace) -> tuple[str, ...]:
        """Remember as it is now what differs, and no more what is gone; gives its paths. Raises as `data`."""
        changed = self._differing(workspace)
        for path, target in changed.items():
            del self._files[path]
            if target.is_file():
                self._files[path] = _read(target)
        return tuple(changed)

    def _differing(self, workspace: Workspace) -> dict[str, Path]:
        """Where those files of the workspace are that are not as they were."""
        own = (path for path in self._files if not Path(path).is_absolute() and path not in self._left_out)
        places = {path: self._path(path, workspace) for path in own}
        # By content and not by time: a program can set times.
        return {path: place for path, place in places.items() if not _holds(place, self._files[path])}

    def without(self, paths: Iterable[str]) -> Pristine:
        """The same for a workspace in which these files are left out; their bytes stay known."""
        other = Pristine(self._files)
        other._left_out = self._left_out.union(paths)
        return other

    def _path(self, path: str, workspace: Workspace) -> Path:
        return Path(path) if Path(path).is_absolute() else workspace.root / path


def _files_of(check: Check) -> tuple[str, ...]:
    extra = [path for path in (check.expected_file, check.stdin_file) if path]
    return tuple(dict.fromkeys([*check.protected, *extra]))


def _holds(path: Path, data: bytes) -> bool:
    try:
        # The size first, as it spares reading for most of what was changed.
        return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _put_back(root: Path, path: Path, data: bytes) -> None:
    """Write a file anew. What a program put in its place (a link, a directory) is removed and never written through."""
    try:
        if not path.parent.resolve().is_relative_to(root):
            raise WorkspaceError(
                f"{path}: its directory leads out of the workspace now, so it cannot be put back",
                remedy="See what the program did with the directory.",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        with path.open("xb") as stream:  # `x`: whatever appears there in between is not written through
            stream.write(data)
    except OSError as error:
        raise WorkspaceError(
            f"{path}: cannot be put back: {reason_of(error)}",
            remedy="The check needs this file; see that its directory may be written.",
        ) from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            # Read and not asked for its size: a device or a pipe says 0.
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise WorkspaceError(
            f"{path}: cannot be read: {reason_of(error)}",
            remedy="The check needs this file; see that it is there and may be read.",
        ) from error
    if len(data) > MAX_BYTES:
        raise WorkspaceError(
            f"{path}: is larger than {MAX_BYTES >> 20} MiB, too large for a file of a check",
            remedy="Make it smaller, or name a command that compares it with --check.",
        )
    return data
