"""Going on with a run that was cut off: what is needed for it, and putting everything where it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codur.errors import UsageError
from codur.events import Emit, Note
from codur.graph.wiring import fingerprint
from codur.nodes.run_state import RunContext, RunState, apply
from codur.redaction import Redactor
from codur.session.record.codec import DamagedRecord, decode
from codur.session.record.run_recording import START_MARK, Recording, locked, recording_again
from codur.session.record.steps import MARKS, read_steps
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.store.run_records import RunDirectory
from codur.types import Task
from codur.workspace.disk.root import Root
from codur.workspace.history.net_changes import net_changes
from codur.workspace.history.program_changes import interrupted_changes
from codur.workspace.history.put_back import PutBack


class CannotResume(UsageError):
    """A run cannot be gone on with. Nothing was changed, and its record stays as it is."""


@contextmanager
def resumed(
    run: RunDirectory, state: StateDirectory, *, wait: bool, emit: Emit, redactor: Redactor
) -> Iterator[tuple[Task, Recording]]:
    """A run that was cut off, with its workspace locked and its record open.

    Raises CannotResume: it has ended, or its record cannot be used; WorkspaceBusy: another run works there.
    """
    state.prepare()
    run.redact = redactor
    record = run.record()
    with locked(state, Path(record.workspace), run.id, wait=wait, emit=emit):
        record = run.record()  # it may have ended while we waited
        task = _task_of(record)
        try:
            kept = read_steps(run.steps, on_damage=lambda text: emit(Note(level="warning", text=text)))
        except DamagedRecord as error:
            raise _cannot(run.id, error.message) from error
        with recording_again(run, kept, state=state, emit=emit, redactor=redactor) as made:
            yield task, made


def _task_of(record: RunRecord) -> Task:
    if record.status == "running":
        raise CannotResume(f"run {record.id} still works (process {record.pid})", remedy="Wait until it has ended.")
    if not record.can_be_resumed:
        raise CannotResume(
            f"run {record.id} has ended: {record.summary.outcome}",
            remedy=f"See what it did with `codur show {record.id}`, or give the task again.",
        )
    # Its steps are updates of nodes that may be other ones now; carried over they would mean something else.
    if record.graph != fingerprint():
        raise _cannot(record.id, f"Codur {record.version or 'of another version'} began it, whose graph is another one")
    if record.secret:
        raise _cannot(record.id, "its task held a secret, which is not kept")
    if not Path(record.workspace).is_dir():
        raise CannotResume(f"run {record.id} worked in {record.workspace}, which is not there", remedy="Bring it back.")
    task = decode(record.task)
    if not isinstance(task, Task):
        raise _cannot(record.id, "its record is damaged")
    return task


def _cannot(run_id: str, why: str) -> CannotResume:
    return CannotResume(
        f"run {run_id} cannot be gone on with: {why}",
        remedy=f"Put the workspace back with `codur undo {run_id}`, and give the task again.",
    )


def put_in_place(context: RunContext, record: Recording, start: RunState) -> None:
    """Put the workspace where it was after the last finished node. Raises CannotResume: it was changed meanwhile."""
    kept = record.kept
    assert kept is not None, "there is nothing to go on from"
    state = start
    for _, update in kept.done:
        state = apply(state, update)
    # Before anything is put back: after that nobody could tell what the user did.
    _require_untouched(context, record)
    # To the start, then forward by the marks: each state is made as it was made then, so that the snapshots are the
    # same.
    context.workspace.rewind(START_MARK)
    # At the start's state, in which the check's files are as the user had them.
    _guard(context, state)
    marks, best = kept.marks, context.best
    for name, field in MARKS.items():
        if mark := getattr(marks, field):
            context.workspace.rewind(mark)
            setattr(best, name, context.workspace.snapshot())
    best.lost, best.apart = marks.lost, marks.apart
    best.progress, best.start_progress = marks.best_progress, marks.start_progress
    if kept.mark:
        context.workspace.rewind(kept.mark)
    record.begin_again(context)
    context.emit(Note(text=f"going on with run {record.id} after {len(kept.done)} steps"))


def _require_untouched(context: RunContext, record: Recording) -> None:
    """Make sure that what the run changed is as it left it; what a program left that was cut off with it is told."""
    journal, root = record.journal, Root(context.workspace.root)
    assert journal is not None, "a run that is gone on with has one"
    conflicts = PutBack(root, journal, by="rewind", dry=True).run(net_changes(journal.entries)).conflicts
    if conflicts:
        raise _cannot(record.id, f"changed meanwhile: {', '.join(conflict.path for conflict in conflicts)}")
    left = [path for path in interrupted_changes(root, journal) if path not in net_changes(journal.entries)]
    if left:
        text = f"a program was running when the run was cut off; it may have left {', '.join(sorted(left)[:5])}"
        context.emit(Note(level="warning", text=text))


def _guard(context: RunContext, state: RunState) -> None:
    """The check's files are guarded as they were at the start; how many tests there are is found out again."""
    check, before, plan = state["discovery"].check, state["before"], state["plan"]
    if check is None or (before is None and plan is not None and plan.origin == "pattern"):
        return  # what the user asked for in so many words is not judged, and guards nothing
    context.checker.guard(check)
    # How many tests ran is not kept with the steps, and it decides whether fewer ran later.
    if before is not None and check.kind in {"tests", "command"}:
        context.checker.run(check)
