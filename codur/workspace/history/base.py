"""Copies of a workspace's files from before programs ran, so that what programs change can be put back.

Contents go to the blob store. What is known is kept by path and file status, also for the next run, which then copies
only what has changed. A file changed shortly before it was copied may change again without a new time (clocks of file
systems are coarse), so it is read again. What may be a secret stays in memory until a program changes it.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from codur.store.atomic import state_errors, write_private
from codur.workspace.disk.file_access import open_file, read_image, reported
from codur.workspace.disk.path_state import PathState
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Journal
from codur.workspace.history.scan import Scan, Status
from codur.workspace.private import may_hold_secrets
from codur.workspace.problems import FileError

COARSE_NS = 50_000_000
"""Longer than any file system clock here stands still (a tick is 1 to 10 ms)."""
_MAX_SECRET_BYTES = 1 << 20


class Base:
    """What is known of the files of one workspace.

    Args:
        journal: says how much is copied at most, and where; its cache keeps what is known for the next run.
        known: what is known.
    """

    def __init__(self, root: Root, journal: Journal, known: dict[str, tuple[Status, str]] | None = None) -> None:
        self._root = root
        self._blobs = journal.blobs
        self._max_files = journal.max_files
        self._max_bytes = journal.max_bytes
        name = f"base-{hashlib.sha256(os.fsencode(root.path)).hexdigest()[:16]}.json"
        self._cache = journal.cache / name if journal.cache else None
        self._known = known or {}
        self.unsure: set[str] = set()  # files whose status may stay the same though they change
        self._secrets: dict[str, bytes] = {}
        self.left_out = 0

    def load(self) -> None:
        """Take over what an earlier run knew, as far as its contents are still kept."""
        if self._cache is None:
            return
        known = read_base(self._cache)
        here = self._blobs.renew(content for status, content in known.values() if status.kind == "file")
        self._known = {path: item for path, item in known.items() if item[0].kind != "file" or item[1] in here}

    def save(self) -> None:
        """Write down what is known, for the next run; without the files that must be read again, and secrets."""
        if self._cache is not None:
            self.save_as(self._cache, {path for path in self._known if not may_hold_secrets(path)} - self.unsure)

    def save_as(self, target: Path, paths: Iterable[str] | None = None) -> None:
        """Write down what is known of these paths; of all if none are given."""
        known = {
            path: [*self._known[path][0], self._known[path][1]] for path in (self._known if paths is None else paths)
        }
        with state_errors(target):
            write_private(target, json.dumps(known, separators=(",", ":")).encode(), durable=False)

    def learn(self, found: Scan) -> bool:
        """Copy what is not known yet; says whether there was anything. Raises StateError: it cannot be kept."""
        # The files to copy: all, or the smallest
        links = [path for path, status in found.entries.items() if status.kind == "link"]
        sized = [(status.size, path) for path, status in found.entries.items() if status.kind == "file"]
        total = len(sized)
        # The smallest first: sources are small, and what is large is mostly made.
        if total > self._max_files or sum(size for size, _ in sized) > self._max_bytes:
            sized = self._within(sorted(sized)[: self._max_files])
        self.left_out = total - len(sized)
        chosen = {*links, *(path for _, path in sized)}
        now = time.time_ns()
        fresh = [path for path in chosen if path in self.unsure or self._status(path) != found.entries[path]]
        for path in fresh:
            self._copy(path, found.entries[path], now)
        for path in self._known.keys() - chosen:
            del self._known[path]
        return bool(fresh)

    def state(self, path: str, status: Status | None) -> PathState | None:
        """What was at the path when it had that status; a file that was not copied is told by its stamp."""
        if status is None:
            return None
        known = self._known.get(path)
        content = known[1] if known is not None and known[0] == status else ""
        match status.kind:
            case "file":
                stamp = f"{status.size}-{status.modified}-{status.inode}"
                return PathState(kind="file", content=content, mode=status.mode, stamp=stamp)
            case "link":
                return PathState(kind="link", target=content)
            case "directory":
                return PathState(kind="directory", mode=status.mode)
            case _:
                return PathState(kind="other")

    def content(self, reference: str) -> bytes | None:
        """What a file held before; None if that is not known any more."""
        if reference in self._secrets:
            return self._secrets[reference]
        return self._blobs.get(reference) if reference in self._blobs else None

    def keep(self, state: PathState | None) -> None:
        """See that a content is in the store: a program has changed its file. Raises StateError: it cannot be kept."""
        if state is not None and state.content in self._secrets:
            self._blobs.put(self._secrets[state.content], durable=False)

    def _within(self, sized: list[tuple[int, str]]) -> list[tuple[int, str]]:
        left = self._max_bytes
        for index, (size, _) in enumerate(sized):
            left -= size
            if left < 0:
                return sized[:index]
        return sized

    def _status(self, path: str) -> Status | None:
        known = self._known.get(path)
        return known[0] if known else None

    def _copy(self, path: str, status: Status, now: int) -> None:
        self._known.pop(path, None)
        self.unsure.discard(path)
        try:
            self._known[path] = (status, self._content(path, status))
        except (FileError, OSError):  # not ours to read, or just gone: then it cannot be put back either
            self.left_out += 1
            return
        # A change within the same tick of the clock would leave the same status.
        if now - max(status.modified, status.changed) < COARSE_NS:
            self.unsure.add(path)

    def _content(self, path: str, status: Status) -> str:
        if status.kind == "link":
            with reported(path), self._root.parent(path) as (directory, name):
                return os.readlink(name, dir_fd=directory)
        if not may_hold_secrets(path):
            with open_file(self._root, path, max_bytes=self._max_bytes) as descriptor:
                return self._blobs.put_file(descriptor, durable=False)
        data = read_image(self._root, path, max_bytes=_MAX_SECRET_BYTES).data
        reference = hashlib.sha256(data).hexdigest()
        self._secrets[reference] = data
        return reference


def read_base(path: Path) -> dict[str, tuple[Status, str]]:
    """What `Base.save` wrote; nothing if it is not there or not whole: it is found out again."""
    try:
        values: Any = json.loads(path.read_bytes())
        return {name: (Status(*status), content) for name, (*status, content) in values.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
