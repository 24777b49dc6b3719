"""Reading and writing files by key, with memory of what was seen and changed: stale check, diffs and undo."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codur.workspace import files
from codur.workspace.files import Image
from codur.workspace.problems import FileError

_SOMETHING_ELSE = Image(data=b"", mode=-1)
"""Stands for what is no readable file: equal to no image of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The net change of one file; None stands for an absent file."""

    path: str
    before: bytes | None
    after: bytes | None
    mode_before: int | None = None
    mode_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The changed files as they were at one moment, to be given back to `restore`."""

    images: Mapping[str, Image | None]


def _digest(image: Image | None) -> bytes | None:
    return hashlib.sha256(image.data).digest() if image else None


class Journal:
    """The files below one root, by real relative path (their key), and what was done to them.

    Args:
        max_bytes: the largest file that is read or written.
        durable: wait until each change is on disk.
    """

    def __init__(self, root: Path, *, max_bytes: int, durable: bool) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._durable = durable
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
        return files.read_image(self._root, key, max_bytes=self._max_bytes)

    def present(self, key: str) -> Image | None:
        """The file as a write will find it, or None.

        Raises:
            FileError: as `read`, or it is not what was last read or written here.
        """
        try:
            image = files.read_image(self._root, key, max_bytes=self._max_bytes)
        except FileError as problem:
            if problem.code != "not_found":
                raise
            image = None
        if key in self._seen and self._seen[key] != _digest(image):
            raise FileError(
                f"{key} was changed meanwhile by someone else", code="refused", remedy="Read it again, then edit it."
            )
        return image

    def write(self, key: str, before: Image | None, data: bytes, new_mode: int | None = None) -> None:
        """Put bytes where `before` (from `present`) is; its mode stays, a new file gets `new_mode` or the umask's.

        Raises:
            FileError: too large, read-only, or it cannot be written.
        """
        if len(data) > self._max_bytes:
            raise FileError(f"{key} would be larger than {self._max_bytes // 1024} KiB", code="too_large")
        if before is not None and not before.mode & 0o222:
            raise FileError(f"{key} is read-only", code="refused", remedy="Make it writable first.")
        if before is not None and before.data == data:
            return
        mode = before.mode if before else new_mode
        self._made += files.write_image(self._root, key, data, mode=mode, durable=self._durable)
        found = os.lstat(self._root / key).st_mode & 0o7777 if mode is None else mode
        self._record(key, before, Image(data=data, mode=found))

    def remove(self, key: str, before: Image) -> None:
        """Delete the file.

        Raises:
            FileError: it cannot be deleted.
        """
        files.remove(self._root, key, durable=self._durable)
        self._record(key, before, None)

    def _record(self, key: str, before: Image | None, after: Image | None) -> None:
        """Note a change. The first `before` counts, unless someone else wrote in between: that must not get lost."""
        if key not in self._before or self._after[key] != before:
            self._before[key] = before
        self._after[key] = after
        self._seen[key] = _digest(after)

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
        return Snapshot(images=dict(self._after))

    def restore(self, snapshot: Snapshot | None) -> tuple[str, ...]:
        """Put every changed file back to the snapshot's image, else to its first one.

        Returns:
            Files that someone else changed since; they are left alone.

        Raises:
            FileError: a file cannot be written.
        """
        kept = snapshot.images if snapshot else {}
        conflicts = [key for key in sorted(self._before) if not self._put_back(key, kept.get(key, self._before[key]))]
        if snapshot is None:
            for directory in reversed(self._made):
                files.remove_empty_directory(self._root, directory)
            self._made.clear()
        return tuple(conflicts)

    def _put_back(self, key: str, wanted: Image | None) -> bool:
        present = self._on_disk(key)
        if present != self._after[key] and present != wanted:
            return False
        if wanted is None and present is not None:
            files.remove(self._root, key, durable=self._durable)
        elif wanted is not None and present != wanted:
            files.write_image(self._root, key, wanted.data, mode=wanted.mode, durable=self._durable)
        self._after[key] = wanted
        self._seen[key] = _digest(wanted)
        return True

    def _on_disk(self, key: str) -> Image | None:
        try:
            return files.read_image(self._root, key, max_bytes=self._max_bytes)
        except FileError as problem:
            return None if problem.code == "not_found" else _SOMETHING_ELSE
