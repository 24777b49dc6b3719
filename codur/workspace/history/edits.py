"""Reading and writing files by key: a write expects to find what was read, and is written down before it is made."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NewType

from codur.errors import StateError
from codur.workspace.disk import file_access
from codur.workspace.disk.file_access import Image
from codur.workspace.disk.path_state import PathState, file_state, present, same
from codur.workspace.disk.root import Root
from codur.workspace.history.diff import FileChange
from codur.workspace.history.journal import By, Entry, Journal
from codur.workspace.history.net_changes import directories_made, file_change, net_changes, of_tools
from codur.workspace.history.put_back import PutBack
from codur.workspace.problems import FileError, require_mode

Snapshot = NewType("Snapshot", int)
"""The files as they were at one moment: after so many entries of the journal."""


def _state(image: Image | None) -> PathState | None:
    return file_state(image.data, image.mode) if image else None


def _content(state: PathState | None) -> str | None:
    return state.content if state else None


class Edits:
    """The files below one root, by real relative path (their key), and what was done to them.

    Args:
        journal: where changes are written down before they are made.
        max_bytes: the largest file that is read or written.
    """

    def __init__(self, root: Root, journal: Journal, *, max_bytes: int) -> None:
        self._root = root
        self._journal = journal
        self._max_bytes = max_bytes
        self._seen: dict[str, str | None] = {}

    def read(self, key: str) -> Image:
        """The file; what is read here is what a later write expects to find.

        Raises:
            FileError: absent, not a regular file, too large or unreadable.
        """
        image = self.peek(key)
        self._seen[key] = _content(_state(image))
        return image

    def peek(self, key: str) -> Image:
        """As `read`, without expecting anything of later writes."""
        return file_access.read_image(self._root, key, max_bytes=self._max_bytes)

    def present(self, key: str) -> Image | None:
        """The file as a write will find it, or None.

        Raises:
            FileError: as `read`, or it is not what was last read or written here.
        """
        image = self._on_disk(key)
        # The model's edit was made for the text that it read; on another one it would undo somebody's work.
        if key in self._seen and self._seen[key] != _content(_state(image)):
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
        with self._announced(key, before, Image(data=data, mode=mode or 0)) as number:
            found = file_access.write_image(self._root, key, data, mode=mode, durable=self._journal.durable)
        self._confirm(number, key, file_state(data, found))

    def remove(self, key: str, before: Image) -> None:
        """Delete the file.

        Raises:
            FileError: it cannot be deleted.
            StateError: it cannot be written down first; then it is not made.
        """
        with self._announced(key, before, None) as number:
            file_access.remove(self._root, key, durable=self._journal.durable)
        self._confirm(number, key, None)

    @contextmanager
    def _announced(self, key: str, before: Image | None, after: Image | None) -> Iterator[int]:
        directories = tuple(self._missing_directories(key)) if before is None else ()
        entry = Entry(path=key, by="tool", before=_state(before), after=_state(after), directories=directories)
        if before is not None:
            # Synced before the line that names it: after a crash the journal must not point to nothing.
            self._journal.blobs.put(before.data, durable=self._journal.durable)
        if after is not None:
            self._journal.blobs.put(after.data, durable=False)
        number = self._journal.announce(entry)
        try:
            yield number
        except BaseException:  # it may have been made all the same
            self.settle()
            raise

    def _confirm(self, number: int, key: str, after: PathState | None) -> None:
        self._seen[key] = _content(after)
        try:
            self._journal.confirm(number, after)
        except StateError as error:  # the change is made; what is at its path will tell so
            self._journal.notes.append(error.message)

    def settle(self) -> None:
        """See which of the changes were made that were announced and not confirmed: what is at their paths tells."""
        later = set[str]()
        for number, entry in reversed(list(enumerate(self._journal.entries))):
            if entry.path and not entry.confirmed and entry.path not in later:
                with suppress(FileError):  # what cannot be looked at stays unknown
                    now = present(self._root, entry.path)
                    if same(now, entry.after) or same(now, entry.before):
                        self._confirm(number, entry.path, now)
            later.add(entry.path)

    def _missing_directories(self, key: str) -> Iterable[str]:
        parts = key.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            if not os.path.lexists(self._root.path / name):
                yield name

    def take_away(self, key: str) -> None:
        """Delete a file that was made here, whatever became of it; as far as changes go it was never there.

        Raises:
            FileError: it is no regular file any more, or cannot be deleted.
        """
        try:
            left = self._on_disk(key)
        except FileError as problem:
            raise FileError(f"{key} is no file any more, so it was left alone", code="not_a_file") from problem
        known = next((entry.after for entry in reversed(self._journal.entries) if entry.path == key), None)
        if not same(known, _state(left)):  # what a program made of it is not what was there before
            self._journal.record([Entry(path=key, by="command", before=known, after=_state(left))])
        if left is not None:
            self.remove(key, left)

    def changes(self) -> tuple[FileChange, ...]:
        """What was changed here, net, by path."""
        changes = net_changes(entry for _, entry in of_tools(self._journal.entries)).values()
        return tuple(file_change(change, self._journal.blobs) for change in changes if change.differs)

    def back_to(
        self, position: int, *, by: By, must_record: bool = False, of_programs: bool = False
    ) -> tuple[str, ...]:
        """Put every path that was changed here since a position of the journal back to how it was then.

        Args:
            must_record: a change that cannot be written down is not made.
            of_programs: also what programs made of these paths since; else a path that they changed is left alone.

        Returns:
            Paths that someone else changed since, which are left alone.

        Raises:
            WorkspaceError: a file cannot be written.
            StateError: a change cannot be written down, and must be.
        """
        since = [entry for number, entry in of_tools(self._journal.entries) if number >= position]
        entries = since if of_programs else [entry for entry in since if entry.by != "command"]
        changes = net_changes(entries)
        pass_ = PutBack(self._root, self._journal, by=by, must_record=must_record)
        outcome = pass_.run(changes, directories_made(entries))
        self._journal.notes += outcome.notes
        left = tuple(conflict.path for conflict in outcome.conflicts)
        self._seen.update((path, _content(change.before)) for path, change in changes.items() if path not in left)
        if pass_.failed is not None:
            raise pass_.failed
        return left

    def _on_disk(self, key: str) -> Image | None:
        try:
            return self.peek(key)
        except FileError as problem:
            if problem.code != "not_found":
                raise
            return None
