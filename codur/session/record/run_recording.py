"""What is kept of a run while it goes on: record, trace, steps, result; and the workspace's lock while it lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur import __version__
from codur.events import Emit, Event, ModelAnswered, ModelPrompted, Note, RunFinished
from codur.graph.wiring import fingerprint
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate
from codur.redaction import Redactor
from codur.session.record.codec import encode
from codur.session.record.steps import MARKS, Kept, Marks, StepLog
from codur.session.record.trace import Trace
from codur.session.stop import leaving
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord, RunStatus, RunSummary
from codur.store.run_records import RunDirectory, RunStore, this_process
from codur.store.workspace_lock import workspace_lock
from codur.structs import replace
from codur.types import RunResult, Task, Usage
from codur.workspace.history.journal import Journal
from codur.workspace.workspace import Snapshot

KEPT_CHARS = 4_000_000  # a trace is read as a whole by `show`
"""Characters of requests that a run's trace keeps; later ones are not kept."""
START_MARK = "start"
"""The workspace's mark before anything was done."""


class Recording:
    """One run's events and, where there is a state directory, its record; all of it redacted.

    Without `state` and `run` nothing is kept; `kept` is what the earlier part of a resumed run left.
    """

    def __init__(
        self,
        emit: Emit,
        redactor: Redactor,
        *,
        state: StateDirectory | None = None,
        run: RunDirectory | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.redactor = redactor
        self.state = state
        self.run = run
        self.kept = kept
        self.journal: Journal | None = None  # the workspace's journal, once it is open
        self.is_in_place = kept is None  # the workspace is where the run goes on from
        self._trace = Trace(emit, redactor, run.trace if run else None)
        self._record = run.record() if run else None
        # Marks of each part have their own names: a part that was cut off may have made the same ones.
        part = self._record.resumed if self._record else 0
        self._steps = StepLog(run.steps, redact=redactor, part=part, kept=kept or Kept()) if run else None
        self._states: dict[str, Snapshot | None] = dict.fromkeys(MARKS)  # those that have their marks
        self._edited = kept.mark if kept else ""  # the mark of the node before the one that finishes now
        self._marks = kept.marks if kept else Marks()
        self._prompt_chars = 0
        self._spent: Callable[[], tuple[Usage, float]] = lambda: (Usage(), 0.0)

    @property
    def id(self) -> str:
        """The run's id; empty if nothing is kept."""
        return self.run.id if self.run else ""

    def emit(self, event: Event) -> None:
        """Tell an event. Raises StateError: it cannot be kept."""
        self._trace(event)
        # At once, as the answer is paid for even if the run dies with it.
        if isinstance(event, ModelAnswered) and self._steps is not None:
            self._steps.spent(*self._spent())  # the budget counts on, whatever becomes of the answer

    def prompted(self, event: ModelPrompted, *, show: bool) -> None:
        """Keep a request as it is sent, up to a bound, and `show` it. Raises StateError: it cannot be kept."""
        self._prompt_chars += len(event.text)
        self._trace.some(event, keep=self._prompt_chars <= KEPT_CHARS, tell=show)

    def begin(self, context: RunContext, journal: Journal | None, *, used_s: Callable[[], float]) -> None:
        """Take note of the run's context, before it is worked with."""
        self.journal = journal
        self._spent = lambda: (context.models.usage, used_s())

    def begin_again(self, context: RunContext) -> None:
        """Take note that the context is where the earlier part of the run left it."""
        self._states = {state: getattr(context.best, state) for state in MARKS}
        self.is_in_place = True

    def finished(self, context: RunContext) -> Callable[[NodeName, RunUpdate, RunState], None]:
        """What is called with every node that has finished."""

        def keep(node: NodeName, update: RunUpdate, _state: RunState) -> None:
            if self._steps is None:
                return
            mark = self._steps.next_mark()
            # First the files, then the step: a step without its files is not gone on from.
            context.workspace.mark(mark)
            best, known = context.best, self._states
            self._states = {state: getattr(best, state) for state in MARKS}
            # What was judged in this node and put back was there before it.
            there = {"harmless": self._edited, "first": self._edited, "start": mark if best.start is not None else ""}
            changed = (state for state in MARKS if self._states[state] is not known[state])
            new: dict[str, Any] = {MARKS[state]: there.get(state, mark) for state in changed}
            new |= {"best_progress": best.progress, "start_progress": best.start_progress}
            self._marks = replace(self._marks, **new, apart=best.apart, lost=best.lost)
            self._edited = mark
            usage, used_s = self._spent()
            self._steps.step(node, update, usage=usage, used_s=used_s, marks=self._marks)

        return keep

    def end(self, result: RunResult) -> None:
        """Keep the result. Raises StateError: it cannot be kept."""
        if self.run is None or self._record is None or self._steps is None:
            return
        self._steps.spent(result.usage, result.duration_s)
        self._trace.keep(RunFinished(result=result))
        ended = ended_record(self._record, result)
        if ended.status == "finished":  # one that was stopped is to be gone on with, and has no result yet
            self.run.write_result(to_builtins(result))
        self._write(ended)

    def left(self, status: RunStatus = "interrupted") -> None:
        """Put on record that the run was left at once, or ended without a result, unless it has one."""
        if self._record is not None and self._record.status == "running":
            self._write(replace(self._record, status=status))

    def close(self) -> None:
        """Close the files."""
        self._trace.close()
        if self._steps is not None:
            self._steps.close()

    def _write(self, record: RunRecord) -> None:
        self._record = record
        if self.run is not None:
            self.run.write_record(record)


@contextmanager
def recording(
    task: Task, root: Path, *, state: StateDirectory | None, emit: Emit, redactor: Redactor
) -> Iterator[Recording]:
    """Be the only run in the workspace (`root`, without links), and keep what this one does; without a `state` nothing.

    Raises:
        StateError: the state directory cannot be used.
        WorkspaceBusy: another run works in the workspace, and the task does not wait.
    """
    if state is None:
        yield Recording(emit, redactor)
        return
    state.prepare()
    store = RunStore(state, redact=redactor)
    run_id = store.new_id()
    # The lock before the record: a run that may not begin leaves none.
    with locked(state, root, run_id, wait=task.wait, emit=emit):
        run = store.new(_record(task, root, run_id, redactor))
        with _open(Recording(emit, redactor, state=state, run=run)) as made:
            yield made


@contextmanager
def recording_again(
    run: RunDirectory, kept: Kept, *, state: StateDirectory, emit: Emit, redactor: Redactor
) -> Iterator[Recording]:
    """Go on with the record of a run that was cut off; the caller holds the workspace's lock."""
    record = run.record()
    run.write_record(replace(record, status="running", resumed=record.resumed + 1, **this_process()))
    with _open(Recording(emit, redactor, state=state, run=run, kept=kept)) as made:
        yield made


@contextmanager
def locked(state: StateDirectory, root: Path, run_id: str, *, wait: bool, emit: Emit) -> Iterator[None]:
    """Hold the workspace's lock; if another run has it, wait for it where that is wanted, and say so.

    Raises WorkspaceBusy: another run works in the workspace; KeyboardInterrupt: the user does not want to wait longer.
    """
    tell = (lambda text: emit(Note(text=text))) if wait else None
    with workspace_lock(state.locks, root, run_id=run_id, tell=tell) as note:
        if note:
            emit(Note(level="warning", text=note))
        yield


@contextmanager
def _open(made: Recording) -> Iterator[Recording]:
    leaving.append(made.left)  # a second Ctrl-C leaves the process at once, and this is what is still done
    try:
        yield made
    finally:
        leaving.remove(made.left)
        try:
            made.left("crashed")
        finally:
            made.close()


def _record(task: Task, root: Path, run_id: str, redactor: Redactor) -> RunRecord:
    fields = encode(task, redactor)
    return replace(
        begun_record(run_id, task),
        workspace=str(root),
        task=fields,
        # What was blanked cannot be carried out later: such a run is not gone on with.
        secret=fields != encode(task),
        graph=fingerprint(),
    )


def begun_record(run_id: str, task: Task) -> RunRecord:
    """The record of a run that this process begins now."""
    return RunRecord(
        id=run_id,
        prompt=task.prompt,
        workspace=task.workspace,
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        version=__version__,
        **this_process(),
    )


def ended_record(record: RunRecord, result: RunResult) -> RunRecord:
    """The record of a run that has a result, or was stopped."""
    verdict = result.verdict or result.before
    return replace(
        record,
        status="interrupted" if result.outcome == "interrupted" else "finished",
        sandbox=result.sandbox,
        sandbox_note=result.sandbox_note,
        summary=RunSummary(
            outcome=result.outcome,
            exit_code=result.exit_code,
            reason=result.reason,
            verdict=verdict.status if verdict else "",
            model_calls=result.model_calls,
            tokens=result.usage.total_tokens,
            cost_usd=result.usage.cost_usd,
            duration_s=result.duration_s,
            changed_files=result.changed_files,
        ),
    )
