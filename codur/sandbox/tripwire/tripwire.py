"""Notices what a program did to files that other programs act on, and undoes it.

It is the second line behind the back ends: some cannot forbid such a change, and none that something is made anew. It
watches the protected names at every depth, and of a git repository what makes git run or read something.
"""

import contextlib
import errno
import os
from os.path import lexists
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES
from codur.errors import CodurError
from codur.lazy import late
from codur.sandbox.scratch import remove_tree
from codur.sandbox.tripwire.nested_names import Look, ProtectedPaths
from codur.sandbox.tripwire.saved_files import Record, put_back, record
from codur.store.atomic import temporary_name

shutil = late("shutil")

_GIT = ".git"
_GIT_FILES = frozenset({"config", "config.worktree", "commondir", "hooks", "info", "modules"})
_GIT_TREES = frozenset({"hooks", "info"})
_MAX_ROUNDS = 100  # each undoes what the one before brought to light
_MAX_KEPT = 200  # each is a mount at every start of a program
_MAX_TOLD = 50
_MAX_COPIED_BYTES = 16_777_216


class Tripwire:
    """Watches one workspace: `arm` before a program, `settle` after it and all that it started have ended.

    Args:
        root: the workspace.
        quarantine: a directory outside the workspace that takes what programs put at protected places; None to remove
            it. It is made when it is needed.
        paths: where the protected paths of the workspace are; kept from one program to the next, it looks faster.

    Attributes:
        kept: paths that the program cannot change where they are, given to the one who starts it. If what is there
            changes, and the way there is the same, that is the user's doing and stays.
    """

    def __init__(self, root: Path, quarantine: Path | None, paths: ProtectedPaths | None = None) -> None:
        self._root = root
        self._quarantine = quarantine
        self._paths = paths or ProtectedPaths(root)
        self._look = Look()
        self._before: Record = {}
        self._taken = 0
        self.kept: tuple[str, ...] = ()

    def arm(self, *, keeps: bool = False) -> None:
        """Remember what is there.

        Args:
            keeps: the back end mounts paths read-only, so that what is there now is kept, within bounds.
        """
        self._look = self._paths.look()
        self._before = record(self._root, self._look.protected, _is_watched, self._before)
        if keeps:
            there = sorted(self._look.protected & self._before.keys(), key=lambda path: (path.count("/"), path))
            self.kept = tuple(path for path in there if not self._before[path].is_link)[:_MAX_KEPT]

    def settle(self) -> tuple[str, ...]:
        """Undo what was changed since.

        Returns:
            The paths that were changed, relative to the workspace; of very many the first, and their number.

        Raises:
            CodurError: something could not be put back or taken away.
        """
        if not self._root.is_dir():  # the program took the workspace itself away: there is nowhere to put things back
            return tuple(sorted(path for path in self._before if "/" not in path))
        tripped: set[str] = set()
        look = self._paths.look(opened=True)
        # Directories first: what was in them is then found where it was, and not taken for removed.
        failure = self._bring_back(look, tripped)
        failure = self._undo_all(self._paths.look(opened=True) if tripped else look, tripped) or failure
        if failure is not None:
            raise CodurError(
                f"a program changed protected files, and not all could be put back: {failure}",
                remedy=f"Look at {', '.join(sorted(PROTECTED_NAMES))} in {self._root} before other programs use them.",
            ) from failure
        told = sorted(tripped)
        more = len(told) - _MAX_TOLD
        return (*told[:_MAX_TOLD], f"{more} more") if more > 0 else tuple(told)

    def _undo_all(self, look: Look, tripped: set[str]) -> OSError | None:
        """Undo what has changed, whatever cannot be undone; gives the last reason for that."""
        changed: list[str] = []
        failure: OSError | None = None
        # Permissions that are put back can show more.
        for _ in range(_MAX_ROUNDS):
            last, changed = changed, self._changed(look)
            # Nothing new came of the last round: what is left cannot be undone.
            if not changed or changed == last:
                return failure
            failure = None
            tripped.update(changed)
            for path in changed:
                try:
                    self._undo(path)
                except OSError as error:
                    failure = error
            look = self._paths.look(opened=True)
        return failure or OSError(errno.EBUSY, "it went on changing", changed[0])

    def _changed(self, look: Look) -> list[str]:
        """Paths in the order in which they can be undone: what is above comes first."""
        now = record(self._root, look.since(self._look), _is_watched, self._before, within=self._before)
        kept = {path for path in self.kept if self._same_way(path, look)}
        changed = []
        for path in sorted({*self._before, *now}):
            before, after = self._before.get(path), now.get(path)
            if (before is None or after is None or not before.same_as(after)) and not _is_in(path, kept):
                changed.append(path)
        return changed

    def _same_way(self, path: str, look: Look) -> bool:
        """Whether the directories on the way to a path are those that they were.

        A program that cannot change what is at a path can still move the directories above it, and make others.
        """
        above = [""] + [path[:at] for at, char in enumerate(path) if char == "/"]
        return all(look.directories.get(each) == self._look.directories.get(each) for each in above)

    def _undo(self, path: str) -> None:
        before = self._before.get(path)
        place = self._root / path
        repository_lost = before is not None and before.is_directory and place.name == _GIT and not lexists(place)
        if repository_lost or not self._has_way(path):
            # Half a repository would be worse than none.
            return
        same_directory = before is not None and before.is_directory and _is_real_directory(place)
        can_come_back = before is None or before.is_directory or before.content is not None
        if lexists(place) and not same_directory and can_come_back:
            self._take_away(place)  # it may be the user's work
        if before is not None:
            put_back(self._root, path, before)

    def _has_way(self, path: str) -> bool:
        """Whether all that is above a path are directories, not links that could lead anywhere."""
        above = Path(path).parents
        return all(_is_real_directory(self._root / each) for each in above)

    def _bring_back(self, look: Look, tripped: set[str]) -> OSError | None:
        """Put directories back if others are in their places, or nothing: moving them is how they are exchanged."""
        failure: OSError | None = None
        for path in sorted(self._look.protected):
            before = self._before.get(path)
            if before is None or not before.is_directory or (path in self.kept and self._same_way(path, look)):
                continue
            identity = before.signature[:2]
            if not (self._has_way(path) and _identity(self._root / path) == identity):
                tripped.add(path)
                try:
                    self._exchange(path, self._find(identity))
                except OSError as error:
                    failure = error
        return failure

    def _exchange(self, path: str, moved: Path | None) -> None:
        """Put a directory in place of what is there, or nothing; that goes in any case."""
        place = self._root / path
        # It was moved into what took its place, and would be taken away with that.
        if moved is not None and moved.is_relative_to(place):
            moved = moved.rename(place.with_name(temporary_name(place.name)))
        if self._has_way(path) and lexists(place):
            self._take_away(place)  # it may be the user's work
        if moved is None:
            return
        for each in reversed(Path(path).parents):
            above = self._root / each
            if not _is_real_directory(above):
                if lexists(above):
                    self._take_away(above)
                above.mkdir()
        moved.chmod(0o700)
        moved.rename(place)

    def _find(self, identity: tuple[int, int]) -> Path | None:
        """The directory with this device and inode; one too deep to be named is not found."""
        waiting = [self._root]
        for directory in waiting:
            with contextlib.suppress(OSError):
                if not os.access(directory, os.R_OK | os.X_OK):  # closed by the program, to hide it
                    directory.chmod(0o700)
                for entry in list(os.scandir(directory)):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.inode() == identity[1] and _identity(Path(entry.path)) == identity:
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
        if not os.access(place.parent, os.W_OK | os.X_OK):
            place.parent.chmod(0o700)
        target = self._free_name(place)
        try:
            place.rename(target)
        except OSError as error:
            if error.errno != errno.EXDEV:  # the quarantine may be on another file system
                raise
            _copy(place, target)
            _remove(place)

    def _free_name(self, place: Path) -> Path:
        name = place.relative_to(self._root).as_posix().replace("/", "_").lstrip(".")[:100]
        while True:
            self._taken += 1
            target = Path(f"{self._quarantine}/{self._taken:04}_{name}")
            if not lexists(target):
                return target


def _is_watched(path: str) -> bool:
    """Whether a path inside a protected directory matters: all do, but of a repository those that git acts on."""
    parts = path.split("/")
    while parts[0] not in PROTECTED_NAMES and len(parts) > 1:  # the path's part from the protected name on
        parts.pop(0)
    if parts[0] != _GIT or len(parts) == 1:
        return True
    if parts[1] != "modules":
        return parts[1] in _GIT_FILES if len(parts) == 2 else parts[1] in _GIT_TREES
    return "objects" not in parts and "logs" not in parts and "refs" not in parts


def _is_in(path: str, places: set[str]) -> bool:
    """Whether a path is one of some places, or in one."""
    return path in places or any(path[:at] in places for at, char in enumerate(path) if char == "/")


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
    with contextlib.suppress(OSError, RecursionError):
        if _is_real_directory(place):
            shutil.copytree(place, target, symlinks=True, copy_function=_copy_file)
        else:
            _copy_file(str(place), str(target))


def _copy_file(source: str, target: str) -> None:
    if Path(source).lstat().st_size <= _MAX_COPIED_BYTES:
        shutil.copy2(source, target, follow_symlinks=False)


def _remove(place: Path) -> None:
    if not os.access(place.parent, os.W_OK | os.X_OK):
        place.parent.chmod(0o700)
    if _is_real_directory(place):
        remove_tree(place)
    else:
        place.unlink(missing_ok=True)
