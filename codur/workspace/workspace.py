"""The directory that a run works on: safe paths, byte-exact edits, undo.

All reading and writing of the user's files goes through `Workspace`. Nothing outside its root is reached, what defines
the check and what other programs execute is not edited, and every change can be undone to the byte.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from codur import workspace as parts
from codur.lazy import late
from codur.types import ScopeViolation
from codur.workspace import copies, listing, paths, text
from codur.workspace.disk import file_access
from codur.workspace.disk.file_access import Image
from codur.workspace.disk.root import Root
from codur.workspace.history import put_back
from codur.workspace.history.diff import FileChange
from codur.workspace.history.edits import Edits, Snapshot
from codur.workspace.history.journal import Journal, MemoryJournal
from codur.workspace.history.net_changes import CommandChange, breaches, command_changes, violations
from codur.workspace.history.program_changes import ProgramWatch
from codur.workspace.history.sweep import sweep
from codur.workspace.problems import FileError, from_os_error, require_mode
from codur.workspace.protection import Protection
from codur.workspace.scope import Scope
from codur.workspace.text import TextFile
from codur.workspace.usable_root import usable_root

if TYPE_CHECKING:
    from codur.workspace.around import Around

__all__ = ["CommandChange", "FileChange", "FileError", "Image", "Snapshot", "TextFile", "Workspace"]

copy = late("copy")

_MAX_GENERATED, _MAX_GENERATED_BYTES = 1_000, 32 << 20  # in a copy


class Workspace:
    """A directory and what was changed in it. Use `open`.

    Attributes:
        root: the directory, absolute and without links.
        max_file_bytes: the largest file that is read or written.
        scope: which files may change.
        programs: what programs change here, if that is watched.
    """

    def __init__(
        self,
        root: Path,
        *,
        max_file_bytes: int = 1_048_576,
        durable: bool = True,
        journal: Journal | None = None,
    ) -> None:
        self.root = root
        self.max_file_bytes = max_file_bytes
        self._pinned = Root(root)
        self._journal = journal or MemoryJournal(durable=durable)
        self._edits = Edits(self._pinned, self._journal, max_bytes=max_file_bytes)
        self.programs = ProgramWatch(self._pinned, self._journal, watches=journal is not None)
        self._protection, self._tests = Protection(root), set[str]()
        self.scope = Scope(root)
        self._withholds: Callable[[str], bool] = lambda _: False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        home: Path | None = None,
        max_file_bytes: int = 1_048_576,
        journal: Journal | None = None,
    ) -> Workspace:
        """The workspace at `path`.

        Args:
            home: the user's home directory, which is refused as a workspace; None for a scratch copy.
            journal: where changes are written down before they are made, so that they can be undone whatever happens;
                what an interrupted run wrote there counts as changed through this object. None keeps them in memory.

        Raises:
            WorkspaceError: the path is missing, not a directory, unreadable, the file system's root, or holds `home`.
            StateError: the journal cannot be used.
        """
        root = usable_root(path, home)
        workspace = cls(root, max_file_bytes=max_file_bytes, journal=journal)
        if journal is not None:
            journal.start(root)
            sweep(workspace._pinned, (entry.path for entry in journal.entries))
            workspace._edits.settle()
        return workspace

    def withholding(self, covers: Callable[[str], bool]) -> Workspace:
        """The same workspace for somebody who must not read, copy or move some files; all else of it is shared.

        Args:
            covers: whether the file of a relative path is withheld; links to it are, too.
        """
        seen: Workspace = copy.copy(self)
        seen._withholds = covers
        return seen

    @cached_property
    def around(self) -> Around | None:
        """What lies around it, or around what it is a copy of, in a repository; None if it is no part of one."""
        return parts.around.around(self.root)

    @property
    def top(self) -> Path | None:
        """The top of the repository that it is a part of, or of the copy of that; None if it is no part of one."""
        return self.around.top_of(self.root) if self.around is not None else None

    def beside(self, within: Path) -> tuple[Path, ...]:
        """What a program that works in this directory or in a copy of it may read of the repository around it."""
        return self.around.seen_from(within) if self.around is not None else ()

    # --- paths --------------------------------------------------------------------------------------------------------

    def relative(self, path: str | Path) -> str:
        """The path as a normal posix path relative to the root; links are not resolved.

        Raises:
            WorkspaceError: it leads out of the workspace.
        """
        return paths.normalise(self.root, path)

    def resolve(self, rel: str | Path) -> Path:
        """The absolute path without links.

        Raises:
            WorkspaceError: it leads out of the workspace, also through a link.
        """
        return self.root / paths.real(self.root, rel)

    def exists(self, rel: str | Path) -> bool:
        """Whether there is something at the path; what is outside does not exist."""
        found = paths.existing(self.root, rel)
        return found is not None and found.exists()

    def is_file(self, rel: str | Path) -> bool:
        """Whether the path is a regular file inside the workspace."""
        found = paths.existing(self.root, rel)
        return found is not None and found.is_file()

    def is_dir(self, rel: str | Path) -> bool:
        """Whether the path is a directory inside the workspace."""
        found = paths.existing(self.root, rel)
        return found is not None and found.is_dir()

    # --- reading ------------------------------------------------------------------------------------------------------

    def withholds(self, rel: str) -> bool:
        """Whether a file of this relative path must not be read; looks at the path alone."""
        return self._withholds(rel)

    def hides(self, rel: str | Path) -> bool:
        """Whether the file, or what it leads to through links, must not be read; what is outside goes by its name."""
        if self._withholds(os.fspath(rel)):
            return True
        try:
            return self._withholds(paths.real(self.root, rel))
        except FileError:
            return False

    def require_readable(self, rel: str | Path) -> str:
        """Make sure that a file may be read; gives the path without links, as a key to its content.

        Raises:
            WorkspaceError: it, or what it leads to, is withheld (code `refused`), or it leads out of the workspace.
        """
        key, given = paths.real(self.root, rel), paths.normalise(self.root, rel)
        if self._withholds(given) or self._withholds(key):
            raise FileError(
                f"{given} may hold keys or passwords, which no model is shown",
                code="refused",
                remedy="Do without it, or have the user look at it.",
            )
        return key

    def read_bytes(self, rel: str | Path) -> bytes:
        """The file's bytes.

        Raises:
            WorkspaceError: absent, a directory, not a regular file, too large, withheld, outside.
        """
        return self._edits.read(self.require_readable(rel)).data

    def read_text(self, rel: str | Path) -> TextFile:
        """The file's text with `\\n` line ends, and the form it has on disk.

        Raises:
            WorkspaceError: as `read_bytes`, or the file is binary.
        """
        key = self.require_readable(rel)
        return text.decode(key, self._edits.read(key).data)

    def peek_text(self, rel: str | Path) -> str:
        """The file's text as in `read_text`, for looking through many files: a later write does not build on it.

        Raises:
            WorkspaceError: as `read_text`.
        """
        key = self.require_readable(rel)
        return text.decode(key, self._edits.peek(key).data).text

    def read_beginning(self, rel: str | Path, *, limit: int) -> tuple[str, int]:
        """The whole lines in the first `limit` bytes of a text file of any size, and its size in bytes.

        Raises:
            WorkspaceError: as `read_text`, but for the size.
        """
        key = self.require_readable(rel)
        data, size = file_access.beginning(self._pinned, key, limit=limit)
        return text.decode(key, data[: data.rfind(b"\n") + 1] if size > len(data) else data).text, size

    def holds_bytes(self, rel: str | Path, expression: re.Pattern[bytes], *, limit: int) -> tuple[bool, int]:
        """Whether a match is in the first `limit` bytes of a file of any size, and how many of them were read.

        Args:
            expression: its matches are at most `files.OVERLAP` bytes long.

        Raises:
            WorkspaceError: as `read_bytes`, but for the size.
        """
        return file_access.holds(self._pinned, self.require_readable(rel), expression, limit=limit)

    def list_files(self, under: str = "", *, pattern: str | None = None, limit: int = 10_000) -> list[str]:
        """Relative paths of the files below `under`, sorted, without caches, environments and what `.gitignore` names.

        Args:
            pattern: a glob; without `/` it matches names at any depth, `**` stands for any directories.
            limit: at most this many.

        Raises:
            WorkspaceError: `under` is outside or not a directory.
        """
        return self.find_files(under, pattern=pattern, limit=limit).paths

    def find_files(self, under: str = "", *, pattern: str | None = None, limit: int = 10_000) -> listing.Found:
        """As `list_files`, and which of the paths are links. Raises WorkspaceError: as `list_files`."""
        return listing.find(self._pinned, self._directory(under), pattern, limit)

    def ignores(self, rel: str) -> bool:
        """Whether `.gitignore` names the path, which need not exist, or a directory around it."""
        return listing.is_ignored(self._pinned, rel)

    def list_directories(self, under: str = "", *, limit: int = 10_000) -> list[str]:
        """Relative paths of the directories below `under`, as `list_files` goes through them, sorted.

        Raises:
            WorkspaceError: as `list_files`.
        """
        return list(islice(listing.directories(self._pinned, self._directory(under)), limit))

    def _directory(self, under: str) -> str:
        key = paths.real(self.root, under)
        if not (self.root / key).is_dir():
            raise FileError(f"there is no directory {under}", code="not_found")
        return key

    # --- protection ---------------------------------------------------------------------------------------------------

    def protect(self, paths_to_protect: Iterable[str], tests: Iterable[str] = ()) -> None:
        """Refuse edits to these files (and to what is below these directories) from now on, in any letter case.

        Paths outside the workspace need no protection and are passed over. `tests`: those that an option frees.
        """
        self._protection.add(paths_to_protect)
        self._tests.update(tests)

    def unprotect(self, paths_to_free: Iterable[str]) -> None:
        """Undo `protect` for these paths; what is always protected stays so."""
        self._protection.discard(paths_to_free)

    def is_protected(self, rel: str | Path) -> bool:
        """Whether edits to the path are refused."""
        return self._protection.covers(rel)

    def may_edit(self, rel: str | Path) -> bool:
        """Whether edits to the path are accepted: it is not protected, and in scope."""
        return not self.is_protected(rel) and self.scope.allows(rel)

    def enforce_scope(self) -> tuple[ScopeViolation, ...]:
        """Put back what programs changed out of scope, or of too many files.

        What is put back stays in the journal's store of contents.

        Raises:
            StateError: the journal cannot be written.
        """
        if not self.scope.is_narrow:
            return ()
        found = breaches(self._journal.entries, self.scope, self.changed_files())
        if not found:
            return ()
        # By "command", too: together with what the program did it comes to nothing, and is nothing to be undone.
        outcome = put_back.PutBack(self._pinned, self._journal, by="command", must_record=False).run(found)
        self._journal.notes += outcome.notes
        left = {conflict.path for conflict in outcome.conflicts}
        return violations(found.values(), left)

    # --- writing ------------------------------------------------------------------------------------------------------

    def write_text(self, rel: str | Path, new: str) -> None:
        """Replace the file's text, or make the file; lines that stay the same keep their bytes.

        The encoding, the byte order mark, the line ends and the mode of an existing file are kept.

        Raises:
            WorkspaceError: the path is refused, protected or withheld, the file was changed meanwhile, or it
                cannot be written.
        """
        key = self._writable(rel)
        before = self._edits.present(key)
        self._edits.write(key, before, text.encode(key, new, before.data if before else None))

    def require_writable(self, rel: str | Path) -> None:
        """Make sure that a file could be replaced, without touching it.

        Raises:
            WorkspaceError: the file or its directory may not be written.
        """
        path = paths.real(self.root, rel)
        target = self.root / path
        if not (os.access(target.parent, os.W_OK | os.X_OK) and (not target.exists() or os.access(target, os.W_OK))):
            raise from_os_error(path, OSError(errno.EACCES, "not writable"))
        if target.exists():
            require_mode(path, target.stat().st_mode)

    def write_bytes(self, rel: str | Path, data: bytes) -> None:
        """Replace the file's bytes, or make the file. Raises WorkspaceError: as `write_text`."""
        key = self._writable(rel)
        before = self._edits.present(key)
        self._edits.write(key, before, data)

    def copy(self, source: str | Path, target: str | Path) -> None:
        """Copy a file's bytes and mode to a path where nothing is.

        Raises:
            WorkspaceError: as `write_text`, or there is something at the target.
        """
        image = self._edits.read(self.require_readable(source))
        key = self._editable(target)
        if self.exists(target):
            raise FileError(f"{key} exists already", code="refused", remedy="Delete it first, or name another file.")
        self._edits.write(key, self._edits.present(key), image.data, image.mode)

    def move(self, source: str | Path, target: str | Path) -> None:
        """Move a file to a path where nothing is.

        Raises:
            WorkspaceError: as `copy` and `delete`; then nothing was changed.
        """
        self._deletable(source)
        self.copy(source, target)
        self.delete(source)

    def delete(self, rel: str | Path) -> None:
        """Delete a file.

        Raises:
            WorkspaceError: absent, a directory or link, protected, withheld, or changed meanwhile.
        """
        self.require_readable(rel)
        key, before = self._deletable(rel)
        self._edits.remove(key, before)

    @contextmanager
    def placed(self, rel: str, data: bytes) -> Iterator[None]:
        """Have a new file there while a program runs. It comes to no change, so neither protection nor scope count.

        Raises:
            WorkspaceError: something is at its place, or it cannot be made or taken away.
        """
        key = paths.real(self.root, rel)
        if self.exists(rel):
            raise FileError(f"{key} exists already", code="refused")
        self._edits.write(key, self._edits.present(key), data)
        try:
            yield
        finally:
            self._edits.take_away(key)

    @contextmanager
    def replaced(self, texts: Mapping[str, str]) -> Iterator[None]:
        """Have other texts in files of a scratch copy for a while; they are changes as long as that lasts.

        Raises:
            WorkspaceError: one cannot be read or written.
        """
        journal = self._journal
        if not isinstance(journal, MemoryJournal):
            raise AssertionError("texts are tried in copies alone")
        position = len(journal.entries)
        originals = {paths.real(self.root, rel): self.read_bytes(rel) for rel in texts}
        try:
            for rel, new in texts.items():
                self.write_text(rel, new)
            yield
        finally:
            for key, data in originals.items():
                self._edits.write(key, self._edits.present(key), data)
            journal.forget(position)  # there may be thousands of them

    def _writable(self, rel: str | Path) -> str:
        """The key of a path that may be written. What is withheld stays: a diff would show what was there."""
        key = self._editable(rel)
        if self.exists(rel):
            self.require_readable(rel)
        return key

    def _editable(self, rel: str | Path) -> str:
        """The key of a path that may be written, as far as it may be read."""
        normal, key = paths.normalise(self.root, rel), paths.real(self.root, rel)
        if not key:
            raise FileError("the workspace itself is a directory, not a file", code="not_a_file")
        if self._protection.covers(rel):
            free = ", or allow it with --may-edit-tests" if key in self._tests else ""
            remedy = f"Edit it yourself if it must change{free}."
            raise FileError(f"{normal} is protected and is not edited", code="refused", remedy=remedy)
        self.scope.require(rel, self._all_changed() if self.scope.max_files else ())
        lexical = self.root / normal
        if lexical.is_symlink() and not lexical.exists():
            raise FileError(f"{normal} is a symbolic link that leads nowhere", code="refused")
        if not paths.can_be_shown(key):
            raise FileError(f"the name {key!r} has characters that cannot be shown", code="invalid")
        return key

    def _deletable(self, rel: str | Path) -> tuple[str, Image]:
        """The key of a file that may be deleted, and the file."""
        # Deleting a link is not what anybody means who names a file, and its target may be another's.
        if (self.root / paths.normalise(self.root, rel)).is_symlink():
            raise FileError(f"{rel} is a symbolic link, which is left alone", code="refused")
        key = self._editable(rel)
        before = self._edits.present(key)
        if before is None:
            raise FileError(f"there is no file {key}", code="not_found")
        return key, before

    def _all_changed(self) -> set[str]:
        return {*self.changed_files(), *(change.path for change in self.command_changes())}

    # --- changes and undo ---------------------------------------------------------------------------------------------

    def changes(self) -> tuple[FileChange, ...]:
        """What was changed through this object since it was opened, net, by path."""
        return self._edits.changes()

    def changed_files(self) -> tuple[str, ...]:
        """Paths of `changes`."""
        return tuple(change.path for change in self.changes())

    def diff(self) -> str:
        """Unified diff of `changes`, without withheld files."""
        return "".join(change.diff() for change in self.changes() if not self.withholds(change.path))

    def snapshot(self) -> Snapshot:
        """The present state of the changed files, for `restore`."""
        return Snapshot(len(self._journal.entries))

    def restore(self, snapshot: Snapshot | None = None) -> tuple[str, ...]:
        """Put the files that were changed through this object back: to the snapshot, or to how they were at the start.

        What changed while programs ran stays: it may be the user's own work of that moment. `undo` puts it back.

        Returns:
            Paths that someone else changed since, which are left alone.

        Raises:
            WorkspaceError: a file cannot be written.
        """
        if snapshot is None:
            return self._edits.back_to(0, by="restore")
        return self._edits.back_to(snapshot, by="restore", of_programs=True)

    # --- what lasts -----------------------------------------------------------------------------------------------

    def command_changes(self) -> tuple[CommandChange, ...]:
        """What programs changed since the beginning, net, by path; tools' changes are in `changes`."""
        return command_changes(self._journal.entries)

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        """The sizes of those of these files that are there, in bytes."""
        found = {}
        for path in paths:
            with suppress(OSError):
                found[path] = os.lstat(self.root / path).st_size
        return found

    def mark(self, label: str) -> None:
        """Name this moment, for `rewind`. Raises StateError: it cannot be written down."""
        self._journal.mark(label)

    def rewind(self, label: str) -> tuple[str, ...]:
        """Put every path that was changed through this object since the mark back to how it was then.

        Returns:
            Paths that someone else changed since, which are left alone.

        Raises:
            StateError: there is no such mark, or a change cannot be written down.
            WorkspaceError: a file cannot be written.
        """
        return self._edits.back_to(self._journal.position(label), by="rewind", must_record=True)

    # --- copies -------------------------------------------------------------------------------------------------------

    def to_copy(self, extra: Iterable[str] = ()) -> tuple[str, ...]:
        """Paths of what `scratch_copy` copies if it is not told: the listed files, the protected ones and `extra`.

        Raises:
            WorkspaceError: more than 10,000 files.
        """
        listed = self.list_files(limit=copies.MAX_FILES + 1)
        asked = (paths.real(self.root, path) for path in (*self._protection.keys, *extra) if self.is_file(path))
        return copies.few_enough((*listed, *asked))

    def _generated(self) -> Iterator[str]:
        """Files that git ignores beside those that are listed, as far as they are few and small."""
        left = _MAX_GENERATED_BYTES
        listed = self.list_files(limit=copies.MAX_FILES)
        most = min(_MAX_GENERATED, copies.MAX_FILES - len(listed))
        for path in islice(listing.generated_beside(self._pinned, listed), most):
            with suppress(OSError):  # gone
                size = (self.root / path).lstat().st_size
                if size <= left and os.access(self.root / path, os.R_OK):
                    left -= size
                    yield path

    def scratch_copy(
        self,
        target: Path,
        *,
        extra: Iterable[str] = (),
        only: Iterable[str] | None = None,
        generated: bool = True,
        alone: bool = False,
    ) -> Workspace:
        """Copy files to the directory `target`, which is made.

        Args:
            extra: see `to_copy`.
            only: copy these and nothing else.
            generated: also what git ignores beside the listed files, if it is small, and what was changed of the rest:
                programs may need it.
            alone: without what lies around it in a repository.

        Returns:
            A workspace on the copy, with the same protection; it does not wait for the disk. Of a part of a repository
            it lies as deep in `target` as the original does there, with links to what lies around that.

        Raises:
            WorkspaceError: more than 10,000 files or 256 MiB, or a file cannot be copied.
        """
        beside = [*self._generated(), *self.changed_files()] if generated and only is None else []
        wanted = self.to_copy((*extra, *beside)) if only is None else only
        beyond = None if alone else self.around
        if beyond is not None:
            try:
                beyond.link(target)
            except OSError as error:
                raise from_os_error(str(target), error) from error
            target = beyond.place_in(target)
        copies.copy_files(self._pinned, wanted, target)
        copy = Workspace(target.resolve(), max_file_bytes=self.max_file_bytes, durable=False)
        copy.protect(self._protection.keys)
        copy.scope = self.scope.on(copy.root)
        copy.around = beyond
        return copy
