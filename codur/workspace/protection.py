"""Which files are not edited: those that define the check, and those that other programs act on."""

import os
from collections.abc import Iterable
from pathlib import Path

from codur.config.protected import REPOSITORY_PARTS
from codur.workspace import paths
from codur.workspace.problems import FileError

_HEAD = "HEAD"


class Protection:
    """The protected paths of one workspace; letter case, Unicode form and invisible characters make no difference."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folded: set[tuple[str, ...]] = set()
        self._keys: set[str] = set()

    @property
    def keys(self) -> tuple[str, ...]:
        """What was added, as relative paths."""
        return tuple(sorted(self._keys))

    def add(self, given: Iterable[str]) -> None:
        """Protect files, and what is below directories. Paths outside the root are passed over."""
        for key in self._inside(given):
            self._folded.add(paths.fold_path(key))
            self._keys.add(key)

    def discard(self, given: Iterable[str]) -> None:
        """Undo `add`."""
        for key in self._inside(given):
            self._folded.discard(paths.fold_path(key))
            self._keys.discard(key)

    def covers(self, path: str | Path) -> bool:
        """Whether the path, or what it leads to through links, is protected.

        Raises:
            WorkspaceError: it leads out of the root.
        """
        return any(self._covers(key) for key in self._forms(path))

    def _covers(self, key: str) -> bool:
        folded = paths.fold_path(key)
        above = any(folded[:depth] in self._folded for depth in range(1, len(folded) + 1))
        return above or paths.has_protected_name(key) or self._is_of_repository(key)

    def _is_of_repository(self, key: str) -> bool:
        """Whether a path is a part by which git takes a directory of whatever name for a repository, or in one.

        That needs a `HEAD`: none is made, and beside one the other parts are neither made nor edited.
        """
        parts = key.split("/")
        # Git takes any directory with these parts for a repository, and obeys the settings in it.
        return parts[-1] == _HEAD or any(
            part in REPOSITORY_PARTS and os.path.lexists(self._root.joinpath(*parts[:depth], _HEAD))
            for depth, part in enumerate(parts)
        )

    def _forms(self, path: str | Path) -> set[str]:
        return {paths.normalise(self._root, path), paths.real(self._root, path)}

    def _inside(self, given: Iterable[str]) -> list[str]:
        keys: list[str] = []
        for path in given:
            try:
                keys.extend(self._forms(path))
            except FileError:
                continue
        return [key for key in keys if key]
