"""Undoing a run, taking that back, and showing what the run changed: all from its journal."""

from typing import Literal

from codur.structs import Struct, replace
from codur.workspace.disk.path_state import PathState, same
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Journal
from codur.workspace.history.net_changes import NetChange, directories_made, file_change, net_changes
from codur.workspace.history.program_changes import interrupted_changes
from codur.workspace.history.put_back import PutBack, UndoReport
from codur.workspace.history.sweep import sweep

_MAX_DIFF_BYTES = 8 << 20
_IN_PROGRAM = "a program was running when the run was cut off: files that it made are left where they are"


class RunChange(Struct):
    """The net change of one path by a run."""

    path: str
    by: tuple[str, ...]  # `tool`, `command`, or both
    before: PathState | None
    after: PathState | None
    diff: str = ""  # unified diff; empty for what is no file


def undo(root: Root, journal: Journal, *, dry: bool = False) -> UndoReport:
    """Put every path that the run changed back to how it was before the run.

    A path is touched only if it is still as the run left it; else the user's version stays, and the old content is
    written beside it as `<name>.codur-conflict`. Files that the run did not make are never deleted. An undo that was
    cut off is completed by the next.

    Args:
        journal: the run's, loaded; it gets an entry for each change.
        dry: only find out.

    Raises:
        WorkspaceError: the workspace is not there any more.
        StateError: the journal cannot be written.
    """
    changes = net_changes(journal.entries)
    cut_off = {
        path: NetChange(path=path, before=state, left=(state,), by=frozenset({"command"}))
        for path, state in interrupted_changes(root, journal).items()
        if state is not None and path not in changes
    }
    all_changes = dict(sorted({**changes, **cut_off}.items()))
    notes = [*journal.notes, *([_IN_PROGRAM] if journal.in_program else [])]
    if not dry:
        # On record first: an undo that is cut off is completed by the next, and not undone by it.
        journal.begin_undo()
        # Temporary files of the dead run would else stay beside the files for ever.
        sweep(root, all_changes)
    report = PutBack(root, journal, by="undo", dry=dry).run(all_changes, directories_made(journal.entries))
    if not dry:
        journal.end_undo()
        journal.program(running=False)
    return replace(report, notes=(*notes, *report.notes))


def redo(root: Root, journal: Journal, *, dry: bool = False) -> UndoReport | None:
    """Take the last undo back, by the same rules; None if nothing was undone.

    Raises:
        WorkspaceError, StateError: as `undo`.
    """
    position = journal.undone_at()
    if position is None:
        return None
    notes, changes = list(journal.notes), net_changes(journal.entries[position:])
    if not dry:
        sweep(root, changes)
    report = PutBack(root, journal, by="redo", dry=dry).run(changes)
    if not (dry or report.conflicts):  # what could not be made again is still undone
        journal.redone()
    return replace(report, notes=(*notes, *report.notes))


def bring_back(root: Root, journal: Journal, mark: str, *, dry: bool = False) -> UndoReport:
    """Make the files what they were at a mark of the run, by the same rules; what programs changed since stays.

    Raises:
        WorkspaceError, StateError: as `undo`.
    """
    found = net_changes(journal.entries[journal.position(mark) :])
    changes = {path: change for path, change in found.items() if "command" not in change.by}
    if not dry:
        sweep(root, changes)
    return PutBack(root, journal, by="rewind", dry=dry).run(changes)


def stands(journal: Journal, *, own: bool = False) -> bool:
    """Whether there is something to undo: a change of the run that is neither put back nor undone.

    Args:
        own: not what programs left behind, such as the tests that were run.
    """
    changes = net_changes(journal.entries).values()
    return journal.in_program or any(each.differs and not (own and each.by == {"command"}) for each in changes)


Undone = Literal["", "part", "all"]


def undone(journal: Journal) -> Undone:
    """How much of what the run changed was undone since, and is."""
    if journal.undone_at() is None:
        return ""
    left = (item for item in net_changes(journal.entries).values() if not same(item.before, item.after))
    return "part" if any(left) else "all"


def run_changes(journal: Journal) -> tuple[RunChange, ...]:
    """What the run changed, net, by path, whether or not it was undone since.

    Raises:
        StateError: a kept content is damaged.
    """
    return tuple(
        RunChange(
            path=change.path,
            by=tuple(sorted(change.by & {"tool", "command"})),
            before=change.before,
            after=change.after,
            diff=_diff(change, journal),
        )
        for change in net_changes([entry for entry in journal.entries if entry.by not in ("undo", "redo")]).values()
        if change.differs
    )


def _diff(change: NetChange, journal: Journal) -> str:
    states = [state for state in (change.before, change.after) if state]
    if not {state.kind for state in states} <= {"file", "link"}:
        return ""
    kept = all(state.content in journal.blobs for state in states if state.kind == "file")
    found = file_change(change, journal.blobs)
    if not kept or max(len(found.before or b""), len(found.after or b"")) > _MAX_DIFF_BYTES:
        return f"diff --git a/{change.path} b/{change.path}\nToo large to show\n"
    return found.diff()
