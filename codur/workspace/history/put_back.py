"""Puts paths back to what they were, but for those that someone else has changed since."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from codur.errors import StateError
from codur.structs import Struct
from codur.workspace import paths
from codur.workspace.disk import file_access
from codur.workspace.disk.path_state import PathState, present, same
from codur.workspace.disk.root import Root
from codur.workspace.history.diff import merged
from codur.workspace.history.journal import By, Entry, Journal
from codur.workspace.history.net_changes import NetChange
from codur.workspace.problems import FileError

_GIT = ".git"
_MAX_MERGED = 1 << 20  # bytes
_MAX_COPIES = 1000  # somebody has filled the directory with them
_OWNER_ALL = 0o700


class Conflict(Struct):
    """A path that was left as it is."""

    path: str
    reason: str  # why, as the end of a sentence about the path
    copy: str = ""  # the path beside it that holds the old content; empty if there is none


class UndoReport(Struct):
    """What putting back came to, or would; each path is in one of the lists."""

    restored: tuple[str, ...] = ()  # brought back to what they were
    removed: tuple[str, ...] = ()  # made by the run, and gone now
    unchanged: tuple[str, ...] = ()  # already as they were
    conflicts: tuple[Conflict, ...] = ()  # left as they are, as someone else changed them
    notes: tuple[str, ...] = ()  # what else the user should know


class PutBack:
    """One pass over the paths of a workspace.

    Args:
        journal: gets an entry for each change; its blobs hold the contents.
        by: who it is, for the journal; `undo` and `redo` write old contents beside what someone else changed.
        must_record: a change that the journal cannot take is not made; else it is made all the same.
        dry: only find out what would be done.

    Attributes:
        failed: why what nobody else had changed could not be written, if so; its path is among the conflicts.
    """

    failed: FileError | None = None

    def __init__(self, root: Root, journal: Journal, *, by: By, must_record: bool = True, dry: bool = False) -> None:
        self._root = root
        self._journal = journal
        self._by: By = by
        self._copies = by in ("undo", "redo") and not dry
        self._must_record = must_record
        self._dry = dry
        self._late_modes: dict[str, int] = {}
        self._restored: set[str] = set()
        self._removed: set[str] = set()
        self._unchanged: set[str] = set()
        self._conflicts: dict[str, Conflict] = {}
        self._notes: list[str] = []

    def run(self, changes: Mapping[str, NetChange], directories: Iterable[str] = ()) -> UndoReport:
        """Put back all the paths.

        Args:
            changes: in the order of their paths.
            directories: removed at the end if they are empty, in this order.

        Raises:
            StateError: the journal cannot be written.
        """
        waiting = [change for change in changes.values() if self._is_ours(change)]
        backwards = waiting[::-1]
        for change in waiting:
            if _kind(change.before) == _kind(change.after) == "directory":
                self._one(change)  # its mode first, lest nothing in it can be changed
        # What was made goes from the inside out; what is brought back comes from the outside in.
        for change in backwards:
            in_the_way = _kind(change.before) == "directory" and _kind(change.after) not in ("", "directory")
            if change.before is None or in_the_way:
                self._one(change)
        for change in waiting:
            if change.before is not None:
                self._one(change)
        if not self._dry:
            # inner ones first, before the way to them may close
            for name, mode in sorted(self._late_modes.items(), reverse=True):
                file_access.set_mode(self._root, name, mode)
            for name in directories:
                file_access.remove_empty_directory(self._root, name)
        return UndoReport(
            restored=tuple(sorted(self._restored)),
            removed=tuple(sorted(self._removed - self._restored)),
            unchanged=tuple(sorted(self._unchanged - self._restored - self._removed - self._conflicts.keys())),
            conflicts=tuple(conflict for _, conflict in sorted(self._conflicts.items())),
            notes=tuple(self._notes),
        )

    def _is_ours(self, change: NetChange) -> bool:
        """Whether the path may be touched; a journal that leads to `.git` or out of the root is not believed."""
        try:
            key = paths.normalise(self._root.path, change.path)
        except FileError:
            # Names that are no text come from programs; they are normal if they have no parts of dots.
            key = change.path if _is_plain(change.path) else ""
        return key == change.path and bool(key) and _GIT not in paths.fold_path(key)

    def _one(self, change: NetChange) -> None:
        if change.path in self._conflicts:
            return
        try:
            now = present(self._root, change.path, max_bytes=self._journal.max_bytes)
        except FileError as problem:
            self._conflict(change, problem.message)
            return
        try:
            self._decide(change, now)
        except FileError as problem:
            self.failed = self.failed or problem
            self._conflict(change, problem.message)

    def _decide(self, change: NetChange, now: PathState | None) -> None:
        wanted = change.before
        if same(now, wanted):
            left_modes = {left.mode for left in change.left if left is not None}
            if now is not None and wanted is not None and now.mode != wanted.mode and now.mode in left_modes:
                self._change(change, now)
            else:
                self._unchanged.add(change.path)
        elif any(same(now, left) for left in change.left):
            self._change(change, now)
        elif not self._merge(change, now):
            self._conflict(change, "was changed since")

    def _merge(self, change: NetChange, now: PathState | None) -> bool:
        """Put back what the run changed of a file that was changed since in other places; gives whether that can be."""
        left, wanted, blobs = change.after, change.before, self._journal.blobs
        if left is None or wanted is None or {_kind(now), left.kind, wanted.kind} != {"file"}:
            return False
        if (
            self._by not in ("undo", "redo")
            or left.mode != wanted.mode
            or not (left.content in blobs and wanted.content in blobs)
        ):
            return False
        try:
            image = file_access.read_image(self._root, change.path, max_bytes=_MAX_MERGED)
        except FileError:  # it grew, and a conflict tells enough
            return False
        data = merged(image.data, blobs.get(left.content), blobs.get(wanted.content))
        if data is None or (data == image.data and "undo" not in change.by):
            return False
        if data == image.data:
            self._unchanged.add(change.path)
            return True
        if not self._dry:
            file_access.write_image(self._root, change.path, data, mode=image.mode, durable=self._journal.durable)
            # As if the file had been as the run left it: an undo or redo of this is a merge again.
            with self._tolerant():
                self._journal.record([Entry(path=change.path, by=self._by, before=left, after=wanted)])
        self._notes.append(f"what was changed since in {change.path} is kept")
        self._count(change)
        return True

    def _change(self, change: NetChange, now: PathState | None) -> None:
        wanted = change.before
        if _kind(wanted) == "other":
            self._conflict(change, "was no file, and cannot be made again")
            return
        if wanted is not None and wanted.kind == "file" and wanted.content not in self._journal.blobs:
            self._conflict(change, "is not as it was, and its old content was not kept")
            return
        if self._dry:
            self._count(change)
            return
        if wanted is None and now is not None and now.kind == "directory":
            if not file_access.remove_empty_directory(self._root, change.path):
                self._unchanged.add(change.path)
                return
            with self._tolerant():
                self._journal.record([Entry(path=change.path, by=self._by, before=now, after=change.before)])
        else:
            self._recorded(change, now)
        self._count(change)

    def _count(self, change: NetChange) -> None:
        (self._removed if change.before is None else self._restored).add(change.path)

    def _recorded(self, change: NetChange, now: PathState | None) -> None:
        wanted = change.before
        data = self._journal.blobs.get(wanted.content) if wanted is not None and wanted.kind == "file" else b""
        number: int | None = None
        with self._tolerant():
            # What is replaced now is kept as well, so that an undo can itself be taken back.
            kept = present(self._root, change.path, keep=self._journal.blobs)
            if kept is not None and kept.content:
                self._journal.blobs.sync([kept.content])
            number = self._journal.announce(Entry(path=change.path, by=self._by, before=now, after=wanted))
        self._apply(change.path, now, wanted, data)
        if number is not None:
            with self._tolerant():
                self._journal.confirm(number, wanted)

    @contextmanager
    def _tolerant(self) -> Iterator[None]:
        """A change is made though it cannot be written down, unless it must be; that is told."""
        try:
            yield
        except StateError as error:
            if self._must_record:
                raise
            if error.message not in self._notes:
                self._notes.append(error.message)

    def _apply(self, path: str, now: PathState | None, wanted: PathState | None, data: bytes) -> None:
        if wanted is None:
            file_access.remove(self._root, path, durable=False)
            return
        if wanted.kind == "directory":
            # What is below is put back after it, and needs a directory that can be written.
            # Given last: in a read-only directory nothing below could be put back.
            self._late_modes[path] = wanted.mode
        if same(now, wanted):
            file_access.set_mode(self._root, path, wanted.mode | (_OWNER_ALL if wanted.kind == "directory" else 0))
            return
        if now is not None and (now.kind == "directory") != (wanted.kind == "directory"):
            if now.kind != "directory":
                file_access.remove(self._root, path, durable=False)
            elif not file_access.remove_empty_directory(self._root, path):
                raise FileError("is a directory now, and not empty", code="refused")
        match wanted.kind:
            case "directory":
                file_access.make_directory(self._root, path)
                file_access.set_mode(self._root, path, wanted.mode | _OWNER_ALL)
            case "link":
                file_access.write_link(self._root, path, wanted.target)
            case _:
                file_access.write_image(self._root, path, data, mode=wanted.mode, durable=self._journal.durable)

    def _conflict(self, change: NetChange, reason: str) -> None:
        copy = self._write_copy(change) if self._copies else ""
        self._conflicts[change.path] = Conflict(path=change.path, reason=reason, copy=copy)

    def _write_copy(self, change: NetChange) -> str:
        """Put the old content beside the path, unless an earlier undo did."""
        wanted = change.before
        if wanted is None or wanted.kind != "file" or wanted.content not in self._journal.blobs:
            return ""
        data = self._journal.blobs.get(wanted.content)
        for number in range(1, _MAX_COPIES):
            name = f"{change.path}.codur-conflict{f'-{number}' if number > 1 else ''}"
            try:
                # An undo that is done again finds its own copy, and makes no second one.
                if same(present(self._root, name), wanted) or file_access.write_new(
                    self._root, name, data, mode=wanted.mode | 0o600
                ):
                    return name
            except FileError as problem:
                self._notes.append(f"the old content of {change.path} was not written: {problem.message}")
                return ""
        return ""


def _kind(state: PathState | None) -> str:
    """What it is; empty for nothing."""
    return state.kind if state is not None else ""


def _is_plain(path: str) -> bool:
    return not path.startswith("/") and "\0" not in path and not {"", ".", ".."} & set(path.split("/"))
