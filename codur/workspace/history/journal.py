"""Reading and writing files by key, with memory of what was seen and changed: stale check, diffs and undo."""

import hashlib
import os
from collections.abc import Iterable, Mapping

from codur.errors import StateError
from codur.workspace.disk import file_access
from codur.workspace.disk.file_access import Image
from codur.workspace.disk.path_state import PathState, file_state, same
from codur.workspace.disk.root import Root
from codur.workspace.history.diff import FileChange
from codur.workspace.history.disk_journal import By, DiskJournal, Entry
from codur.workspace.history.net_changes import net_changes
from codur.workspace.problems import FileError, require_mode

_SOMETHING_ELSE = Image(data=b"", mode=-1)
"""Stands for what is no readable file: equal to no image of one."""


Snapshot = Mapping[str, Image | None]
"""The changed files as they were at one moment, to be given back to `restore`."""


def _state(image: Image | None) -> PathState | None:
    return file_state(image.data, image.mode) if image else None


def _digest(image: Image | None) -> bytes | None:
    return hashlib.sha256(image.data).digest() if image else None


class Journal:
    """The files below one root, by real relative path (their key), and what was done to them.

    Args:
        max_bytes: the largest file that is read or written.
        durable: wait until each change is on disk.
        disk: where changes are written down before they are made; None keeps them in memory only.
    """

    def __init__(self, root: Root, *, max_bytes: int, durable: bool, disk: DiskJournal | None = None) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._durable = durable
        self._disk = disk
        self._seen: dict[str, bytes | None] = {}
        self._before: dict[str, Image | None] = {}
        self._after: dict[str, Image | None] = {}
        self._made: list[str] = []

    def read(self, key: str) -> Image:
        """The file; what is read here is what a later write expects to find.

        Raises:
            FileError: absent, not a regular file, too large or unreadable.
        """
        image = self.peek(key)
        self._seen[key] = _digest(image)
        return image

    def peek(self, key: str) -> Image:
        """As `read`, without expecting anything of later writes."""
        return file_access.read_image(self._root, key, max_bytes=self._max_bytes)

    def present(self, key: str) -> Image | None:
        """The file as a write will find it, or None.

        Raises:
            FileError: as `read`, or it is not what was last read or written here.
        """
        try:
            image = file_access.read_image(self._root, key, max_bytes=self._max_bytes)
        except FileError as problem:
            if problem.code != "not_found":
                raise
            image = None
        # The model's edit was made for the text that it read; on another one it would undo somebody's work.
        if key in self._seen and self._seen[key] != _digest(image):
            raise FileError(
                f"{key} was changed meanwhile by someone else", code="refused", remedy="Read it again, then edit it."
            )
        return image

    def write(self, key: str, before: Image | None, data: bytes, new_mode: int | None = None) -> None:
        """Put bytes where `before` (from `present`) is; its mode stays, a new file gets `new_mode` or the umask's.

        Raises:
            FileError: too large, read-only, or it cannot be written.
            StateError: it cannot be written down first; then it is not made.
        """
        if len(data) > self._max_bytes:
            raise FileError(f"{key} would be larger than {self._max_bytes // 1024} KiB", code="too_large")
        if before is not None:
            require_mode(key, before.mode)
        if before is not None and before.data == data:  # no entry for what changes nothing
            return
        mode = before.mode if before else new_mode
        self._record(key, before, self._put(key, before, data, mode, by="tool"))

    def remove(self, key: str, before: Image) -> None:
        """Delete the file.

        Raises:
            FileError: it cannot be deleted.
            StateError: it cannot be written down first; then it is not made.
        """
        self._delete(key, before, by="tool")
        self._record(key, before, None)

    def _put(self, key: str, before: Image | None, data: bytes, mode: int | None, *, by: By) -> Image:
        number = self._announce(key, before, Image(data=data, mode=mode or 0), by)
        found, made = file_access.write_image(self._root, key, data, mode=mode, durable=self._durable)
        self._made += made
        after = Image(data=data, mode=found)
        self._confirm(number, after)
        return after

    def _delete(self, key: str, before: Image, *, by: By) -> None:
        number = self._announce(key, before, None, by)
        file_access.remove(self._root, key, durable=self._durable)
        self._confirm(number, None)

    def _announce(self, key: str, before: Image | None, after: Image | None, by: By) -> int | None:
        if self._disk is None:
            return None
        directories = tuple(self._missing_directories(key)) if before is None else ()
        entry = Entry(path=key, by=by, before=_state(before), after=_state(after), directories=directories)
        try:
            if before is not None:
                # Synced before the line that names it: after a crash the journal must not point to nothing.
                self._disk.blobs.put(before.data)
            if after is not None:
                self._disk.blobs.put(after.data, durable=False)
            return self._disk.announce(entry)
        except StateError as error:
            if by == "tool":
                raise
            # Putting a file back matters more than its record: what is there will be as if nothing had happened.
            self._disk.notes.append(error.message)
            return None

    def _confirm(self, number: int | None, after: Image | None) -> None:
        if number is None or self._disk is None:
            return
        try:
            self._disk.confirm(number, _state(after))
        except StateError as error:  # the change is made; what is at its path will tell so
            self._disk.notes.append(error.message)

    def _missing_directories(self, key: str) -> Iterable[str]:
        parts = key.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            if not os.path.lexists(self._root.path / name):
                yield name

    def _record(self, key: str, before: Image | None, after: Image | None) -> None:
        """Note a change. The first `before` counts, unless someone else wrote in between: that must not get lost."""
        # Else what is put back would be our own earlier text, and the other's change would be lost.
        if key not in self._before or self._after[key] != before:
            self._before[key] = before
        self._after[key] = after
        self._seen[key] = _digest(after)

    def reload(self, entries: Iterable[Entry]) -> None:
        """Take over what the journal on disk says that tools changed; those who read files before must read again."""
        if self._disk is None:
            return
        # What was read before may have been put back since.
        self._seen.clear()
        self._before.clear()
        self._after.clear()
        for path, change in net_changes(entries).items():
            if "tool" in change.by:
                now = self._on_disk(path)
                is_ours = any(same(_state(now), left) for left in change.left)
                self._before[path] = self._image(change.before)
                self._after[path] = now if is_ours else self._image(change.after)
        self._made.clear()

    def _image(self, state: PathState | None) -> Image | None:
        if state is None or self._disk is None:
            return None
        if state.kind != "file" or not state.content:
            return _SOMETHING_ELSE
        return Image(data=self._disk.blobs.get(state.content), mode=state.mode)

    def look_again(self, keys: Iterable[str]) -> None:
        """Take what is at these paths now for what this run left there, as far as it changed them."""
        for key in keys:
            if key in self._after:
                self._after[key] = self._on_disk(key)

    def take_away(self, key: str) -> None:
        """Delete a file that was made here, whatever became of it; as far as changes go it was never there.

        Raises:
            FileError: it is no regular file any more, or cannot be deleted.
        """
        self.look_again([key])
        left = self._after[key]
        if left is _SOMETHING_ELSE:
            raise FileError(f"{key} is no file any more, so it was left alone", code="not_a_file")
        if left is not None:
            self._delete(key, left, by="tool")
        self._record(key, left, None)

    def changes(self) -> tuple[FileChange, ...]:
        """What differs from the first images, by path."""
        return tuple(
            FileChange(
                path=path,
                before=old.data if old else None,
                after=new.data if new else None,
                mode_before=old.mode if old else None,
                mode_after=new.mode if new else None,
            )
            for path in sorted(self._before)
            if (old := self._before[path]) != (new := self._after[path])
        )

    def snapshot(self) -> Snapshot:
        """The changed files as they are now."""
        return dict(self._after)

    def restore(self, snapshot: Snapshot | None) -> tuple[str, ...]:
        """Put every changed file back to the snapshot's image, else to its first one.

        Returns:
            Files that someone else changed since; they are left alone.

        Raises:
            FileError: a file cannot be written.
        """
        kept = snapshot or {}
        conflicts = [key for key in sorted(self._before) if not self._put_back(key, kept.get(key, self._before[key]))]
        if snapshot is None:
            for directory in reversed(self._made):
                file_access.remove_empty_directory(self._root, directory)
            self._made.clear()
        return tuple(conflicts)

    def _put_back(self, key: str, wanted: Image | None) -> bool:
        present = self._on_disk(key)
        # Neither ours nor already as it should be: somebody else's.
        if _SOMETHING_ELSE in (present, wanted) or present not in (self._after[key], wanted):
            return present == wanted
        if wanted is None and present is not None:
            self._delete(key, present, by="restore")
        elif wanted is not None and present != wanted:
            self._put(key, present, wanted.data, wanted.mode, by="restore")
        self._after[key] = wanted
        self._seen[key] = _digest(wanted)
        return True

    def _on_disk(self, key: str) -> Image | None:
        try:
            return file_access.read_image(self._root, key, max_bytes=self._max_bytes)
        except FileError as problem:
            return None if problem.code == "not_found" else _SOMETHING_ELSE
