"""The journal of a run: every change of a path, with what was there before, in the order it was made.

A change is announced, with its pre-image stored and synced, before it is made, and confirmed after it. So whenever the
run dies, each path can be put back: a change that was announced and not confirmed is recognised by what is at its path.
The lines are those of an `AppendLog`; contents are in a `BlobStore`. What is not to be undone later has a journal in
memory alone.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, to_builtins

from codur.errors import StateError
from codur.store.append_log import AppendLog
from codur.store.blobs import BlobStore, MemoryBlobs
from codur.structs import Struct, convert, field, replace
from codur.workspace.disk.path_state import PathState

By = Literal["tool", "command", "restore", "rewind", "undo", "redo"]
SCHEMA = 1
_BASE_NAME = "base.json"


class Entry(Struct, tag_field="op", tag="change"):
    """One change of one path."""

    path: str  # relative to the workspace, normal and resolved
    by: By  # who made it
    # before, after: what was there, and what was put there; None is nothing
    before: PathState | None
    after: PathState | None
    confirmed: bool = field(name="done", default=False)  # the change was made; else it may have been
    directories: tuple[str, ...] = ()  # those that had to be made for it, outermost first


class _Start(Struct, tag_field="op", tag="start"):
    schema: Annotated[int, Meta(le=SCHEMA)]
    workspace: str


class _Confirmed(Struct, tag_field="op", tag="done"):
    n: int
    after: PathState | None


class _Mark(Struct, tag_field="op", tag="mark"):
    label: str


class _Program(Struct, tag_field="op", tag="program"):
    running: bool


class _UndoLine(Struct, tag_field="op", tag="undo"):
    finished: bool


class _Redo(Struct, tag_field="op", tag="redo"):
    pass


_Line = _Start | Entry | _Confirmed | _Mark | _Program | _UndoLine | _Redo
"""What the lines of the journal's file hold; that of a change has its number, too (`n`)."""


class _Undo(Struct):
    position: int
    finished: bool = False


class _NoLog(AppendLog):
    """Of a journal in memory."""

    def extend(self, records: Iterable[Mapping[str, Any]], *, durable: bool = True) -> None:
        """Nothing is written."""


class Journal:
    """The journal in a run's directory. Call `start` before anything else; one process at a time writes.

    Args:
        path: its file; None keeps it in memory.
        blobs: where contents are kept.
        cache: a directory for what is known of workspaces, so that programs start sooner; None keeps nothing.
        max_files, max_bytes: how much is copied at most before programs run.

    Attributes:
        entries: all changes, oldest first.
        notes: what was damaged, in words.
        in_program: a program was running when the last line was written.
    """

    def __init__(
        self,
        path: Path | None,
        blobs: BlobStore,
        *,
        cache: Path | None = None,
        max_files: int = 5000,
        max_bytes: int = 128 << 20,
    ) -> None:
        self.blobs = blobs
        self.durable = True
        self.cache = cache
        self.max_files = max_files
        self.max_bytes = max_bytes
        self.entries: list[Entry] = []
        self.notes: list[str] = []
        self.in_program = False
        self.workspace: Path | None = None
        self._log = AppendLog(path) if path else _NoLog(Path())
        self._marks: dict[str, int] = {}
        self._undos: list[_Undo] = []

    @property
    def base_file(self) -> Path:
        """Where the state of the workspace before the first program is written down."""
        return self._log.path.with_name(_BASE_NAME)

    def load(self) -> None:
        """Read what the journal holds. Raises StateError: it cannot be read, or a newer version of Codur wrote it."""
        for line in self._log.read(on_damage=self.notes.append):
            try:
                self._take(line)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise StateError(
                    f"{self._log.path} is not a journal of this version", remedy="Use the version that wrote it."
                ) from error

    def start(self, root: Path) -> None:
        """Read what the journal holds, and begin it if there is none.

        Raises:
            StateError: it cannot be used, or it belongs to another workspace.
        """
        self.load()
        if self.workspace is None:
            self.workspace = root
            # Without waiting: the first change waits for the disk.
            self._append(_Start(schema=SCHEMA, workspace=str(root)), durable=False)
        elif self.workspace != root:
            raise StateError(f"{self._log.path} belongs to {self.workspace}, not to {root}")

    def announce(self, entry: Entry) -> int:
        """Write down a change that is about to be made; its pre-image must be in `blobs`, synced.

        Returns:
            Its number, for `confirm`.

        Raises:
            StateError: it cannot be written down; then the change must not be made.
        """
        # The place in the list: an announcement and its confirmation are matched by it, also when it is read back.
        number = len(self.entries)
        self._log.append(_announced(entry, number))
        self.entries.append(entry)
        return number

    def confirm(self, number: int, after: PathState | None) -> None:
        """Write down that the change was made, and what it left."""
        # Without waiting: if it is lost, what is at the path tells whether the change was made.
        self.entries[number] = replace(self.entries[number], after=after, confirmed=True)
        self._append(_Confirmed(n=number, after=after), durable=False)

    def record(self, entries: Iterable[Entry]) -> None:
        """Write down changes that have been made already."""
        confirmed = [replace(entry, confirmed=True) for entry in entries]
        if confirmed:
            start = len(self.entries)
            self._log.extend(_announced(entry, start + offset) for offset, entry in enumerate(confirmed))
            self.entries += confirmed

    def mark(self, label: str) -> None:
        """Name this moment; the latest with a label counts."""
        self._append(_Mark(label=label), durable=False)
        self._marks[label] = len(self.entries)

    def position(self, label: str) -> int:
        """How many changes there were at the mark. Raises StateError: there is no such mark."""
        if label not in self._marks:
            raise StateError(f"the journal has no mark {label!r}")
        return self._marks[label]

    def program(self, *, running: bool) -> None:
        """Write down that a program begins or has ended."""
        self._append(_Program(running=running), durable=False)
        self.in_program = running

    def begin_undo(self) -> None:
        """Write down that all is about to be undone, unless an undo that did not finish is being finished."""
        if not self._undos or self._undos[-1].finished:
            self._append(_UndoLine(finished=False))
            self._undos.append(_Undo(position=len(self.entries)))

    def end_undo(self) -> None:
        """Write down that all was undone."""
        self._append(_UndoLine(finished=True))
        self._finish_undo()

    def _finish_undo(self) -> None:
        last = self._undos.pop()
        if last.position < len(self.entries):  # one that changed nothing cannot be taken back
            self._undos.append(replace(last, finished=True))

    def undone_at(self) -> int | None:
        """How many changes there were before the last undo; None if nothing was undone."""
        return self._undos[-1].position if self._undos else None

    def redone(self) -> None:
        """Write down that the last undo was taken back."""
        self._append(_Redo())
        self._undos.pop()

    def close(self) -> None:
        """End the run's writing."""
        self._log.close()
        if not self.in_program:
            # It is only for a run that dies while a program runs.
            self.base_file.unlink(missing_ok=True)

    def _take(self, line: Mapping[str, Any]) -> None:
        match convert(line, _Line):
            case _Start(workspace=workspace):
                self.workspace = Path(workspace)
            case Entry() as entry:
                self._take_change(line["n"], entry)
            case _Confirmed(n=number, after=after) if number < len(self.entries):
                self.entries[number] = replace(self.entries[number], after=after, confirmed=True)
            case _Mark(label=label):
                self._marks[label] = len(self.entries)
            case _Program(running=running):
                self.in_program = running
            case _UndoLine(finished=True) if self._undos:
                self._finish_undo()
            case _UndoLine(finished=False):
                self._undos.append(_Undo(position=len(self.entries)))
            case _Redo() if self._undos:
                self._undos.pop()

    def _take_change(self, number: int, entry: Entry) -> None:
        while len(self.entries) < number:  # a damaged line stood here; numbers must go on fitting
            self.entries.append(_LOST)
        self.entries.append(entry)

    def _append(self, line: Struct, *, durable: bool = True) -> None:
        self._log.append(to_builtins(line), durable=durable)


def _announced(entry: Entry, number: int) -> dict[str, Any]:
    """The line of a change."""
    return {"op": "change", "n": number, **to_builtins(entry)}


class MemoryJournal(Journal):
    """The journal of a workspace of which nothing is kept; if `durable`, each change of a file is on disk at once."""

    def __init__(self, *, durable: bool) -> None:
        self._contents: dict[str, bytes] = {}
        super().__init__(None, MemoryBlobs(self._contents))
        self.durable = durable

    def forget(self, position: int) -> None:
        """Leave out the entries since a position, with the contents that no other refers to."""
        del self.entries[position:]
        states = (state for entry in self.entries for state in (entry.before, entry.after) if state is not None)
        used = {state.content for state in states}
        for reference in self._contents.keys() - used:
            del self._contents[reference]


_LOST = Entry(path="", by="tool", before=None, after=None)
