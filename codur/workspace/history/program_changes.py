"""What programs change in a workspace, found by comparing it before and after."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from codur.structs import Struct
from codur.workspace.disk import file_access
from codur.workspace.disk.path_state import PathState, present, same
from codur.workspace.disk.root import Root
from codur.workspace.history.base import COARSE_NS, Base, read_base
from codur.workspace.history.journal import Entry, Journal
from codur.workspace.history.scan import Scan, Status, scan
from codur.workspace.private import may_hold_secrets
from codur.workspace.problems import FileError

_ENTRIES_PER_FILE = 4
"""How many more entries are looked at than files are copied."""


class Observed(Struct):
    """What one program did."""

    changes: tuple[Entry, ...] = ()  # what it changed, made or deleted, by path
    # files that it changed and that have names outside of the workspace, which hold the old content again
    parted: tuple[str, ...] = ()


class ProgramWatch:
    """Looks at a workspace before and after each program.

    Args:
        journal: gets what programs changed; says how much is copied at most.
        watches: whether it looks at all; for a journal in memory alone it does not.
    """

    def __init__(self, root: Root, journal: Journal, *, watches: bool) -> None:
        self.watches = watches
        self._root = root
        self._journal = journal
        self._base: Base | None = None
        self._before: Scan | None = None
        self._began = 0

    def before(self) -> str:
        """Look before a program runs.

        Returns:
            What the user must know, once: how many files cannot be put back; else empty.

        Raises:
            StateError: the contents cannot be kept.
        """
        if not self.watches:
            return ""
        found = self._scan(())
        for path in found.strays:
            with suppress(FileError):
                file_access.remove(self._root, path, durable=False)
        note = ""
        if self._base is None:
            self._base = Base(self._root, self._journal)
            self._base.load()
            if self._base.learn(found):
                self._base.save()
            self._base.save_as(self._journal.base_file)
            note = self._note(found)
        else:
            self._base.learn(found)
        self._journal.program(running=True)
        self._before = found
        self._began = time.time_ns()
        return note

    def discard(self) -> bool:
        """Remove the files that came since `before`, and the directories that held nothing else.

        Files that were there under another name stay. False where it is not known what was there.
        """
        if self._before is None or not self._before.complete:
            return False
        old, since = self._before, self._began - COARSE_NS
        inodes = {status.inode for status in old.entries.values()}

        waiting, made = [""], list[str]()
        while waiting:
            base = waiting.pop()
            with suppress(OSError), os.scandir(self._root.path / base) as entries:
                for entry in entries:
                    path = f"{base}/{entry.name}" if base else entry.name
                    # What was not seen before may have been there.
                    is_new = path not in old.entries and old.saw(path)
                    if entry.is_dir(follow_symlinks=False):
                        made += [path] if is_new else []
                        waiting += [path] if old.saw(path) else []
                        continue
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if is_new and status.st_ino not in inodes and status.st_ctime_ns >= since:
                            Path(entry.path).unlink()
        for path in reversed(made):
            with suppress(OSError):
                (self._root.path / path).rmdir()
        return True

    def after(self) -> Observed:
        """Look after the program has ended, and write down what it changed.

        Raises:
            StateError: it cannot be written down.
        """
        if self._before is None or self._base is None:
            return Observed()
        old, base = self._before, self._base
        self._before = None
        # Directories that were looked into before are looked into again, whatever the program made them look like.
        found = self._scan({path for path, status in old.entries.items() if status.kind == "directory"})
        parted = tuple(self._parted(old, found, base))
        changes = tuple(self._changes(old, found, base))
        # Once for all that changed, before the entries that refer to it; each by itself would cost a wait for the disk.
        self._journal.blobs.sync(
            {state.content for entry in changes for state in (entry.before,) if state and state.content}
        )
        self._journal.record(changes)
        self._journal.program(running=False)
        return Observed(changes=changes, parted=parted)

    def _parted(self, old: Scan, new: Scan, base: Base) -> Iterator[str]:
        """Give the files that a program changed, and that have names elsewhere, a file of their own with what it wrote;
        the other names get back what they held. Of names that are all in the workspace that is nobody's business.
        """
        here = Counter(status.inode for status in old.entries.values() if status.names > 1)
        for path, before in old.entries.items():
            after = new.entries.get(path)
            # Names that are all in the workspace are the user's own business.
            has_others = before.names > 1 and here[before.inode] < before.names
            if not has_others or after is None or after.inode != before.inode or after == before:
                continue
            state = base.state(path, before)
            held = base.content(state.content) if state else None
            if held is None:
                continue
            with suppress(FileError, OSError):
                if file_access.part(self._root, path, held, mode=before.mode):
                    yield path

    def _scan(self, known: set[str] | tuple[()]) -> Scan:
        return scan(self._root, known=known, limit=self._journal.max_files * _ENTRIES_PER_FILE)

    def _note(self, found: Scan) -> str:
        if not found.complete:
            return "the workspace is too large to watch whole: not all that programs change in it can be undone"
        count = self._base.left_out if self._base else 0
        if not count:
            return ""
        what = "1 file is" if count == 1 else f"{count} files are"
        bounds = "state.command_files and state.command_mb bound that"
        return f"{what} not copied before programs run ({bounds}): what they change in such a file cannot be undone"

    def _changes(self, old: Scan, new: Scan, base: Base) -> Iterator[Entry]:
        for path in sorted(old.entries.keys() | new.entries.keys()):
            before, after = old.entries.get(path), new.entries.get(path)
            if before == after and not self._is_unsure(path, before, base):
                continue
            # In a directory that was not looked into: whether it is new nobody knows.
            if before is None and not old.saw(path):
                continue  # it may have been there
            entry = self._change(path, base.state(path, before))
            if entry is not None:
                base.keep(entry.before)
                yield entry

    def _is_unsure(self, path: str, status: Status | None, base: Base) -> bool:
        if status is None or status.kind != "file":
            return False
        return path in base.unsure or self._began - max(status.changed, status.modified) < COARSE_NS

    def _change(self, path: str, before: PathState | None) -> Entry | None:
        max_bytes = self._journal.max_bytes
        try:
            # Compared first without keeping: a key that did not change must not get into the store.
            after = present(self._root, path, max_bytes=max_bytes) if may_hold_secrets(path) else None
            if after is None or not same(before, after):
                after = present(self._root, path, keep=self._journal.blobs, max_bytes=max_bytes)
        except FileError:  # it cannot be looked at any more, so nothing can be said of it
            return None
        mode_kept = before is None or after is None or before.mode == after.mode
        if same(before, after) and mode_kept:
            return None
        return Entry(path=path, by="command", before=before, after=after, confirmed=True)


def interrupted_changes(root: Root, journal: Journal) -> dict[str, PathState | None]:
    """Paths that are not as the journal knows them though a program was running when the run died, and how they were.

    Whether the program or someone else changed them since cannot be told.
    """
    if not journal.in_program:
        return {}
    known = read_base(journal.base_file)
    base = Base(root, journal, known)
    states = {path: base.state(path, status) for path, (status, _) in known.items()}
    states.update({entry.path: entry.after for entry in journal.entries if entry.path})
    found: dict[str, PathState | None] = {}
    for path, state in states.items():
        with suppress(FileError):
            if not same(present(root, path, max_bytes=journal.max_bytes), state):
                found[path] = state
    return found
