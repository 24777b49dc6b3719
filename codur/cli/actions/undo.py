"""What `undo` and `diff` do."""

import sys
from collections.abc import Callable, Iterable, Iterator
from json import loads
from pathlib import Path
from posixpath import dirname

from msgspec import to_builtins

from codur.cli import machine
from codur.cli.printing import say, say_found, say_json, warn
from codur.errors import StateError
from codur.session.record.codec import DamagedRecord
from codur.session.record.steps import read_steps
from codur.store.blobs import BlobStore
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.store.run_records import RunDirectory
from codur.store.workspace_lock import workspace_lock
from codur.structs import replace
from codur.types import EXIT_CODES
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise
from codur.ui.shown.run_list import UNDONE
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Journal
from codur.workspace.history.put_back import UndoReport
from codur.workspace.history.undo_run import RunChange, Undone, bring_back, redo, run_changes, stands, undo, undone
from codur.workspace.listing import is_ignored

_SHOWN_CHARS = 60
_UNDO = b'"op":"undo"'
_CHANGE, _BY_PROGRAM = b'"op":"change"', b'"by":"command"'
_FAILED = frozenset({"not_achieved", "limit"})
_PROGRAM, _PROGRAM_ENDED = b'"op":"program","running":true', b'"op":"program","running":false'


def undo_run(wanted: str | None, directory: Path, *, dry: bool, again: bool, json: bool) -> int:
    """Put back what a run changed, or what its undo did; gives 0, or 1 if something was left as it is.

    Args:
        wanted: the run's id or the beginning of one; None for the newest of the directory of which something is left,
            or, to take it back, the one that was undone last.
        dry: only show what would be done.
        again: take the last undo back, also that of the run itself, which put its furthest attempt back.
    """
    report, record = put_back(wanted, directory, dry=dry, again=again)
    return told(report, record, dry=dry, again=again, json=json)


def put_back(wanted: str | None, directory: Path, *, dry: bool, again: bool) -> tuple[UndoReport, RunRecord]:
    """Undo a run as `undo_run` does; what came of it is still to be told."""
    run = _last_undone(directory) if again and wanted is None else None
    run = run or changed_run(wanted, directory, fits=None if again else is_not_undone)
    record = run.record()
    if not (again or wanted) and (failed := _failed_since(record)):
        # Who wants to be rid of that one does not mean what an earlier one did well.
        notes = ("the last task left nothing changed", *_earlier(failed))
        return UndoReport(notes=notes), failed
    state = machine.kept_state()
    state.prepare()
    workspace = Path(record.workspace)
    root = Root(workspace)
    with workspace_lock(state.locks, workspace, run_id=record.id) as warning:
        journal = journal_of(run, state)
        try:
            report = _made_again(run, root, journal, dry=dry) if again else undo(root, journal, dry=dry)
        finally:
            journal.close()
    if warning:
        warn(warning)
    if report is not None and not (again or wanted):
        done = report.restored or report.removed or report.conflicts
        report = replace(report, notes=(*report.notes, *(() if done else _earlier(record)), *_passed_over(run)))
    return report or UndoReport(notes=("nothing of this run was undone",)), record


def _made_again(run: RunDirectory, root: Root, journal: Journal, *, dry: bool) -> UndoReport | None:
    """Take the last undo back; where there was none, bring back the attempt that came furthest and was put back."""
    report = redo(root, journal, dry=dry)
    if report is None and not stands(journal, own=True) and (best := _best_mark(run)):
        report = bring_back(root, journal, best, dry=dry)
    return report


def _best_mark(run: RunDirectory) -> str:
    """Where in a run that failed its attempt was that came furthest, or broke nothing; empty if none is kept."""
    if run.record().summary.outcome == "done":
        return ""
    try:
        marks = read_steps(run.steps, on_damage=warn).marks
        return marks.best_mark or marks.harmless_mark or marks.first_mark
    except (DamagedRecord, StateError):
        return ""


def show_diff(wanted: str | None, directory: Path, *, json: bool) -> None:
    """Print what a run changed."""
    run = changed_run(wanted, directory)
    journal = journal_of(run, machine.kept_state())
    changes = run_changes(journal)
    if json:
        say_json({"run": run.id, "undone": undone(journal), "changes": changes})
    elif changes:
        _name(run.record(), undone(journal))
        say("".join(change.diff or f"{change.path}: {_words(change)}\n" for change in changes).rstrip("\n"))
    else:
        say(f"run {run.id} left nothing changed")
    for note in journal.notes:
        warn(note)


def _words(change: RunChange) -> str:
    before = change.before.kind if change.before else "nothing"
    after = change.after.kind if change.after else "nothing"
    return f"{before} before, {after} after"


def changed_run(
    wanted: str | None, directory: Path, *, fits: Callable[[RunDirectory], bool] | None = None
) -> RunDirectory:
    """The run of that id or beginning of one; if none is named the newest of the directory that changed something.

    Args:
        fits: of those one that fits goes before the others.
    """
    runs = machine.kept_runs()
    best = next(filter(fits, changed_runs(directory)), None) if wanted is None else None
    return best or runs.find(
        wanted,
        workspace=directory.absolute().resolve(),
        fits=lambda record: changed_something(runs.open(record.id)),
        that="changed anything",
    )


def changed_runs(directory: Path, fits: Callable[[RunRecord], bool] | None = None) -> Iterator[RunDirectory]:
    """The runs of a directory that fit and that changed something, the newest first."""
    runs = machine.kept_runs()
    records = filter(fits, runs.list(directory.absolute().resolve()))
    return filter(changed_something, (runs.open(record.id) for record in records))


def is_not_undone(run: RunDirectory) -> bool:
    """Whether the run was not undone; that it put all back itself is no undo, and is to be told."""
    return undone_since(run) != "all"


def _is_left(run: RunDirectory, *, own: bool = False) -> bool:
    """Whether something of the run can be undone; of one whose journal cannot be read that is not known."""
    try:
        return stands(journal_of(run, machine.kept_state()), own=own)
    except StateError:
        return False


def _failed_since(run: RunRecord) -> RunRecord | None:
    """The newest run there, if it is a later one that did not reach its goal."""
    newest = next(iter(machine.kept_runs().list(Path(run.workspace))), run)
    ended = newest.summary
    # Who asked for a run of the tests, or a question, has changed nothing that could be meant.
    failed = ended.outcome in _FAILED and ended.model_calls > 0
    return newest if newest.started > run.started and failed else None


def _earlier(this: RunRecord) -> tuple[str, ...]:
    """What is said where a run left nothing to undo: which run before it did."""
    before = changed_runs(Path(this.workspace), lambda record: record.started < this.started)
    found = next(filter(_is_left, before), None)
    return (f"run {found.id} before it left changes: codur undo {found.id}",) if found is not None else ()


def _passed_over(run: RunDirectory) -> tuple[str, ...]:
    """What is said of a later run whose programs changed nothing but files that git ignores."""
    runs, record = machine.kept_runs(), run.record()
    later = next(
        (runs.open(other.id) for other in runs.list(Path(record.workspace)) if other.started > record.started), run
    )
    is_work = later is run or _CHANGE not in _journal_of(later) or changed_something(later)
    return () if is_work else (f"run {later.id} after it changed files that git ignores: codur undo {later.id}",)


def _journal_of(run: RunDirectory) -> bytes:
    return run.journal.read_bytes() if run.journal.is_file() else b""


def _last_undone(directory: Path) -> RunDirectory | None:
    """The run of the directory that was undone last, or that put its furthest attempt back."""
    runs = changed_runs(directory)
    found = [run for run in runs if undone_since(run) or (not _is_left(run, own=True) and _best_mark(run))]
    found.sort(key=lambda run: -run.journal.stat().st_mtime_ns)
    # One of which something is in the way does not keep others from being made again.
    return next(filter(_can_be_redone, found), next(iter(found), None))


def _can_be_redone(run: RunDirectory) -> bool:
    """Whether nothing is in the way of taking the run's undo back."""
    report = redo(Root(Path(run.record().workspace)), journal_of(run, machine.kept_state()), dry=True)
    return report is None or not report.conflicts


def changed_something(run: RunDirectory) -> bool:
    """Whether the run changed a file, or may have; what programs wrote to files that git ignores is no work of it."""
    kept = _journal_of(run)
    if kept.count(_PROGRAM) > kept.count(_PROGRAM_ENDED):
        return True
    lines = [line for line in kept.splitlines() if _CHANGE in line]
    if not lines or not all(_BY_PROGRAM in line for line in lines):
        return bool(lines)
    root = Root(Path(run.record().workspace))
    try:
        paths = [loads(line)["path"] for line in lines]
        # Directories first: a report of a thousand files lies in one.
        ignored = {path for path in map(dirname, paths) if path and is_ignored(root, path)}
        return not all(dirname(path) in ignored or is_ignored(root, path) for path in paths)
    except (KeyError, ValueError):  # a damaged line
        return True


def that_changed(ids: Iterable[str]) -> tuple[str, ...]:
    """Those of the runs that are still kept and changed something."""
    runs = machine.kept_runs()
    return tuple(dict.fromkeys(run_id for run_id in ids if run_id and changed_something(runs.open(run_id))))


def undone_since(run: RunDirectory) -> Undone:
    """How much of what a run changed was undone; nothing is said of one whose journal cannot be read."""
    if not run.journal.is_file() or _UNDO not in run.journal.read_bytes():
        return ""
    try:
        return undone(journal_of(run, machine.kept_state()))
    except StateError:
        return ""


def journal_of(run: RunDirectory, state: StateDirectory) -> Journal:
    """What a run wrote down of its changes."""
    journal = Journal(run.journal, BlobStore(state.blobs))
    journal.load()
    return journal


def told(report: UndoReport, record: RunRecord, *, dry: bool, again: bool, json: bool) -> int:
    """Print what came of an undo; gives the exit code."""
    if not json:
        _name(record)
    found = {"run": record.id, "workspace": record.workspace, "dry_run": dry, **to_builtins(report)}
    would = "would be " if dry else ""
    restored = "made again" if again else "restored"
    lines = [f"{would}{restored}: {path}" for path in report.restored]
    lines += [f"{would}removed: {path}" for path in report.removed]
    for conflict in report.conflicts:
        beside = f"; its other version is in {conflict.copy}: take what you need, delete it" if conflict.copy else ""
        lines.append(f"left as it is: {conflict.path} ({conflict.reason}{beside})")
    lines += [f"note: {note}" for note in report.notes]
    if not (report.restored or report.removed or report.conflicts):
        lines.append(f"run {record.id}: there is nothing to {'redo' if again else 'undo'}")
    say_found(found, lines, as_json=json)
    if not (json or dry or again) and (report.restored or report.removed):
        show(sanitise("to take that back: codur undo --redo"), sys.stderr)
    return EXIT_CODES["not_achieved"] if report.conflicts else EXIT_CODES["done"]


def _name(record: RunRecord, since: Undone = "") -> None:
    """Say which run it is: the newest one need not be the newest that changed something."""
    task = " ".join(record.prompt.split())[:_SHOWN_CHARS]
    words = f" ({UNDONE[since]})" if since else ""
    show(sanitise(f"run {record.id}{words}: {task}", keep_newlines=False), sys.stderr)
