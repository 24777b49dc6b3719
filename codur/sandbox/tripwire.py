"""Notices what a program did to files that other programs act on, and undoes it.

It is the second line behind the back ends: some cannot forbid such a change. It watches the protected names at the
workspace's root, and of a git repository what makes git run or read something.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES
from codur.errors import CodurError
from codur.sandbox.watched import Record, put_back, record

_GIT = ".git"
_GIT_FILES = frozenset({"config", "config.worktree", "commondir", "hooks", "info", "modules"})
_GIT_TREES = frozenset({"hooks", "info"})
_MAX_SEARCHED = 20_000
_MAX_ROUNDS = 10
_MAX_COPIED_BYTES = 16_777_216


class Tripwire:
    """Watches one workspace: `arm` before a program, `settle` after it and all that it started have ended.

    Args:
        root: the workspace.
        quarantine: a directory outside the workspace that takes what programs put at protected places; None to remove
            it. It is made when it is needed.
        nested: protected paths deeper in the workspace, relative to it.
        kept: programs cannot change what is there already; if it changes, that is the user's doing and stays.
    """

    def __init__(
        self, root: Path, quarantine: Path | None, *, nested: tuple[str, ...] = (), kept: bool = False
    ) -> None:
        self._root = root
        self._quarantine = quarantine
        self._nested = nested
        self._kept = kept
        self._before: Record = {}
        self._taken = 0

    def arm(self) -> None:
        """Remember what is there."""
        self._before = self._now()

    def settle(self) -> tuple[str, ...]:
        """Undo what was changed since.

        Returns:
            The paths that were changed, relative to the workspace.

        Raises:
            CodurError: something could not be put back or taken away.
        """
        if not self._root.is_dir():
            return tuple(sorted(path for path in self._before if "/" not in path))
        tripped: set[str] = set()
        try:
            if not self._kept:
                tripped.update(self._settle_git())
            failure = self._undo_all(tripped)
        except OSError as error:
            failure = error
        if failure is not None:
            raise CodurError(
                f"a program changed protected files, and not all could be put back: {failure}",
                remedy=f"Look at {', '.join(sorted(PROTECTED_NAMES))} in {self._root} before other programs use them.",
            ) from failure
        return tuple(sorted(tripped))

    def _undo_all(self, tripped: set[str]) -> OSError | None:
        """Undo what has changed, whatever cannot be undone; gives the last reason for that."""
        changed: list[str] = []
        failure: OSError | None = None
        # Permissions that are put back can show more, and so can the end of a flood of new files.
        for _ in range(_MAX_ROUNDS):
            last, changed = changed, self._changed()
            if not changed or changed == last:
                break
            failure = None
            tripped.update(changed)
            for path in changed:
                try:
                    self._undo(path)
                except OSError as error:
                    failure = error
        return failure

    def _now(self) -> Record:
        return record(self._root, iter((*PROTECTED_NAMES, *self._nested)), _is_watched, self._before)

    def _changed(self) -> list[str]:
        """Paths in the order in which they can be undone: what is above comes first."""
        now = self._now()
        changed = []
        for path in sorted({*self._before, *now}):
            before, after = self._before.get(path), now.get(path)
            if self._kept and self._protected_part(path) in self._before:
                continue
            if before is None or after is None or not before.same_as(after):
                changed.append(path)
        return changed

    def _protected_part(self, path: str) -> str:
        """The protected path that a path is, or is in."""
        return next((name for name in self._nested if path.startswith(f"{name}/")), path.split("/")[0])

    def _undo(self, path: str) -> None:
        before = self._before.get(path)
        place = self._root / path
        repository_lost = before is not None and before.is_directory and path == _GIT and not os.path.lexists(place)
        if repository_lost or not place.parent.is_dir():
            # Half a repository would be worse than none.
            return
        same_directory = before is not None and before.is_directory and _is_real_directory(place)
        can_come_back = before is None or before.is_directory or before.content is not None
        if os.path.lexists(place) and not same_directory and can_come_back:
            self._take_away(place)  # it may be the user's work
        if before is not None:
            put_back(self._root, path, before)

    def _settle_git(self) -> Iterator[str]:
        """Put the repository's directory back if another is in its place."""
        before = self._before.get(_GIT)
        if before is None or not before.is_directory:
            return
        place = self._root / _GIT
        identity = before.signature[:2]
        if _identity(place) == identity:
            return
        moved = self._find(identity)
        if os.path.lexists(place):
            self._take_away(place)
        if moved is not None:
            moved.chmod(0o700)
            moved.rename(place)
        yield _GIT

    def _find(self, identity: tuple[int, int]) -> Path | None:
        """The directory with this device and inode; where it is not near the root, within bounds."""
        waiting = [self._root]
        searched = 0
        while waiting and searched < _MAX_SEARCHED:
            directory = waiting.pop(0)
            if not os.access(directory, os.R_OK | os.X_OK):
                directory.chmod(0o700)
            entries = list(os.scandir(directory))
            searched += len(entries)
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if _identity(Path(entry.path)) == identity:
                        return Path(entry.path)
                    waiting.append(Path(entry.path))
        return None

    def _take_away(self, place: Path) -> None:
        """Move a file, directory or link out of the workspace, or remove it."""
        if self._quarantine is None:
            _remove(place)
            return
        self._quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_real_directory(place):
            # A directory that may not be written cannot be moved either.
            place.chmod(0o700)
        target = self._free_name(place)
        try:
            place.rename(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(place, target)
            _remove(place)

    def _free_name(self, place: Path) -> Path:
        name = place.relative_to(self._root).as_posix().replace("/", "_").lstrip(".")[:100]
        while True:
            self._taken += 1
            target = Path(f"{self._quarantine}/{self._taken:04}_{name}")
            if not os.path.lexists(target):
                return target


def _is_watched(path: str) -> bool:
    """Whether a path inside a protected directory matters: all do, but of a repository those that git acts on."""
    parts = path.split("/")
    while parts[0] not in PROTECTED_NAMES and len(parts) > 1:
        parts.pop(0)
    if parts[0] != _GIT or len(parts) == 1:
        return True
    if parts[1] != "modules":
        return parts[1] in _GIT_FILES if len(parts) == 2 else parts[1] in _GIT_TREES
    return "objects" not in parts and "logs" not in parts and "refs" not in parts


def _is_real_directory(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _copy(place: Path, target: Path) -> None:
    """Copy to another file system what can be copied: the original is removed in any case."""
    with contextlib.suppress(OSError):
        if _is_real_directory(place):
            shutil.copytree(place, target, symlinks=True, copy_function=_copy_file)
        else:
            _copy_file(str(place), str(target))


def _copy_file(source: str, target: str) -> None:
    if Path(source).lstat().st_size <= _MAX_COPIED_BYTES:
        shutil.copy2(source, target, follow_symlinks=False)


def _remove(place: Path) -> None:
    if not _is_real_directory(place):
        place.unlink(missing_ok=True)
        return
    place.chmod(0o700)
    for directory, names, _ in os.walk(place):
        for name in names:
            below = Path(directory, name)
            if not below.is_symlink():
                below.chmod(0o700)
    shutil.rmtree(place)
