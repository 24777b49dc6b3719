"""One task from prompt to result: opens what the nodes need, runs the graph, cleans up, tells what came of it."""

import os
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from posixpath import dirname, splitext

from codur import checks
from codur.config.settings import Settings, StateSettings
from codur.errors import (
    CodurError,
    InternalError,
    Interrupted,
    LimitReached,
    StateError,
    UsageError,
    WorkspaceError,
    internal_error,
    out_of_time,
)
from codur.events import Emit, Note, RunFinished
from codur.graph.walk import Walked, walk
from codur.lazy import regex
from codur.nodes import parts
from codur.nodes.run_state import RunContext, RunState, initial_state
from codur.parsing.bounded_text import listed
from codur.redaction import Redactor, redact_value
from codur.sandbox.scratch import sweep, temporary_base
from codur.session.host import Host, redactor_of
from codur.session.opening import open_workspace, opened
from codur.session.record.resume import CannotResume, put_in_place, resumed
from codur.session.record.run_recording import Recording, recording
from codur.session.record.run_result import BRING_BACK_REMEDY, KEEP_REMEDY, error_result, result_of
from codur.session.scoping import within_scope
from codur.session.stop import code_of
from codur.store.directory import StateDirectory
from codur.store.run_records import RunDirectory
from codur.structs import replace
from codur.types import RunResult, Task

_OF_TESTS = regex(r"(?:^|/)test|tests(?:/|$)", re.IGNORECASE)
"""A directory that is called after tests."""
_SHOWN_PATHS = 5


def run_task(task: Task, settings: Settings, *, host: Host, emit: Emit) -> RunResult:
    """Carry out a task; `emit` receives every event, the result last.

    Errors that end a run become its result; the workspace is left as it was found unless the task was done (or the
    task asks to keep the best attempt). Raises InternalError: a fault of ours ended it; UsageError: spans are to be
    sent, and what sends them is not installed.
    """
    with _telling(settings, emit) as told:
        started = time.monotonic()
        redactor = redactor_of(settings, host.environ, Path(task.workspace))
        state = StateDirectory(host.state) if host.state is not None and not task.dry_run else None
        try:
            root = open_workspace(task, settings, host=host).root
            if host.state is not None and host.state.resolve().is_relative_to(root):
                raise StateError(
                    f"the state directory {host.state} is inside the workspace, where programs can write",
                    remedy="Set XDG_STATE_HOME to a directory outside of it.",
                )
            with recording(task, root, state=state, emit=told, redactor=redactor) as record:
                result = _recorded(task, settings, record, host=host, started=started)
            if state is not None:
                tidy(state, settings.state, told, host.environ)
        except (CodurError, KeyboardInterrupt) as error:
            result = _finished(_ended_by(error, task), task, started, redactor)
        told(RunFinished(result=result))
        return result


def _telling(settings: Settings, emit: Emit) -> AbstractContextManager[Emit]:
    """What gets the events: also a collector of spans, if one is set. Raises UsageError: it is not installed."""
    if settings.telemetry.endpoint is None:
        return nullcontext(emit)
    try:
        from codur.session.record.spans import exported  # noqa: PLC0415 - lazy: an extra, and off by default
    except ImportError as error:
        remedy = 'Run pip install "codur[otel]", or leave telemetry.endpoint out.'
        raise UsageError("what sends spans is not installed", remedy=remedy) from error
    return exported(settings, emit)


def resume_task(run: RunDirectory, settings: Settings, *, host: Host, emit: Emit, wait: bool = False) -> RunResult:
    """Go on with a run that was cut off, after its last finished node; its id and record stay.

    Raises CannotResume: it has ended, its record cannot be used, or its workspace was changed meanwhile; WorkspaceBusy:
    another run works in the workspace, and this one does not `wait` until none does.
    """
    assert host.state is not None, "a run is resumed from it"
    state = StateDirectory(host.state)
    redactor = redactor_of(settings, host.environ, Path(run.record().workspace))
    with _telling(settings, emit) as told:
        with resumed(run, state, wait=wait, emit=told, redactor=redactor) as (task, record):
            started = time.monotonic() - (record.kept.used_s if record.kept else 0.0)
            result = _recorded(task, settings, record, host=host, started=started)
        tidy(state, settings.state, told, host.environ)
        told(RunFinished(result=result))
    return result


def _recorded(task: Task, settings: Settings, record: Recording, *, host: Host, started: float) -> RunResult:
    """Run the graph and put its result on record, also that of a run that an error or the user ended."""
    try:
        with opened(task, settings, record, host=host, started=started) as context:
            result = _with_model(within_scope(_run(task, context, record), context), context)
            result = _with_program_changes(result, context) if record.run is not None else result
    except (CodurError, KeyboardInterrupt) as error:
        if isinstance(error, UsageError) and not record.is_in_place:  # it can be tried again
            raise CannotResume(error.message, remedy=error.remedy) from error
        result = _ended_by(error, task)
    if record.run is not None and result.outcome == "interrupted":
        result = replace(result, remedy=f"Go on with: codur resume {record.id} (in a conversation: /resume)")
    if record.run is not None and result.remedy == KEEP_REMEDY:
        result = replace(result, remedy=BRING_BACK_REMEDY)
    safe = _finished(replace(result, run_id=record.id), task, started, record.redactor)
    try:
        record.end(safe)
    except StateError as error:  # what was done is done
        safe = replace(safe, notes=(*safe.notes, f"the result was not kept: {error.message}"))
    return safe


def _ended_by(error: CodurError | KeyboardInterrupt, task: Task) -> RunResult:
    """The result of a run that an error or the user ended. Raises CannotResume and InternalError: they end no run."""
    if isinstance(error, KeyboardInterrupt):
        return replace(error_result(_interrupted(), task), exit_code=code_of(error))
    if isinstance(error, (CannotResume, InternalError)):
        raise error
    return error_result(error, task)


def _finished(result: RunResult, task: Task, started: float, redactor: Redactor) -> RunResult:
    """The result as it is told and kept."""
    if task.dry_run and result.diff:
        note = "dry run: the changes were made in a copy, nothing was changed"
        result = replace(result, notes=tuple(dict.fromkeys((*result.notes, note))))
    result = replace(result, duration_s=round(time.monotonic() - started, 3), workspace=task.workspace)
    safe: RunResult = redact_value(result, redactor)
    return safe


def _run(task: Task, context: RunContext, record: Recording) -> RunResult:
    start = initial_state(task)
    finished = record.finished(context)
    try:
        if record.kept is not None:
            put_in_place(context, record, start)
        walked = walk(start, context, kept=record.kept.done if record.kept else (), finished=finished)
        state = walked.state if walked.finished else _run_with_models(start, walked, context, record)
    except CodurError as error:
        if not record.is_in_place:
            raise
        out = isinstance(error, Interrupted) and not context.cancel.cancelled and context.time_left() <= 0
        return _stopped(out_of_time() if out else error, task, context)  # the end of the time ended a program
    except KeyboardInterrupt as stop:
        context.cancel.cancel()
        return replace(_stopped(_interrupted(), task, context), exit_code=code_of(stop))
    except Exception as error:  # a fault of ours must not leave an attempt behind
        context.cancel.cancel()
        _restore(task, context, ended=False)
        raise internal_error(error, usage=context.models.usage) from error
    if state["outcome"] == "done" or state["stays"]:
        state = _with_test(state, context)
    else:
        _restore(task, context)
    usage = context.models.usage  # with what was spent in a node that was cut off
    return replace(result_of(state, context), usage=usage, model_calls=usage.calls)


def _run_with_models(start: RunState, walked: Walked, context: RunContext, record: Recording) -> RunState:
    """Go on in the compiled graph. Here, and only here, langgraph and asyncio are needed."""
    context.load_graph()
    from codur.session.graph_run import run_graph_blocking  # noqa: PLC0415 - lazy: a model-free run never loads it

    return run_graph_blocking(start, walked, context, record)


def _with_test(state: RunState, context: RunContext) -> RunState:
    """The end of a run that is done, with what becomes of a test that was made for it."""
    check = state["discovery"].check
    if check is None or not check.text or check.entry is None:
        return _without_test(state, context)
    if state["task"].dry_run:  # nothing is kept
        return state
    tested = any(checks.entry.is_test_code(path) for path in context.workspace.changed_files())
    allowed = parts.allowed_by_user
    wished = allowed.wishes_tests(state) or allowed.goes_on_with_tests(state)
    # What is new in a project with tests is to have some; who is asked about the test says there whether it stays.
    known = check.beside.protected if check.beside is not None and check.beside.kind == "tests" else ()
    # Where no test of its language is among the project's, it would be taken for all of them from then on.
    beside = any(checks.entry.is_test_code(path) and splitext(path)[1] == splitext(check.entry)[1] for path in known)
    asked = context.consult is not None and not state["task"].approved
    wished |= beside and not asked and allowed.welcomes_tests(state)
    if not (state["keep_test"] or (wished and not tested)):
        how = "`codur show --test` prints it; --keep-test, or k where you are asked, keeps it"
        text = f"the test that was made for this is not kept ({check.entry}); {how}"
    else:
        context.workspace.unprotect([check.entry])
        try:
            context.workspace.write_text(check.entry, check.text)
            text = f"the test that was made for this is kept: {check.entry}"
        except WorkspaceError as error:
            text = f"the test that was made for this cannot be kept: {error.message}"
    return {**state, "notes": [*state["notes"], text]}


def _without_test(state: RunState, context: RunContext) -> RunState:
    """The same where none was made: a test that was asked for and was not written is missed."""
    changed = context.workspace.changed_files()
    # Cases may be data in a directory of tests, whatever their files are called.
    tested = any(checks.entry.is_test_code(path) or _OF_TESTS.search(dirname(path)) for path in changed)
    if tested or not any(map(checks.entry.is_code, changed)):
        return state
    if not parts.allowed_by_user.wishes_tests(state):
        return state
    return {**state, "notes": [*state["notes"], "no test was added, though one was asked for"]}


def _stopped(error: CodurError, task: Task, context: RunContext) -> RunResult:
    """The result of a run that an error ended: what it did until then, and why it ended."""
    _restore(task, context, ended=isinstance(error, LimitReached))
    result = error_result(error, task)
    usage = context.models.usage
    state = context.latest.state
    return replace(
        result if state is None else result_of({**state, "outcome": result.outcome}, context),
        outcome=result.outcome,
        exit_code=result.exit_code,
        reason=result.reason,
        remedy=result.remedy,
        answer="",
        solved_by="",
        usage=usage,
        model_calls=usage.calls,
        changed_files=context.workspace.changed_files(),
        diff=context.workspace.diff(),
        sandbox=context.launcher.name,
        sandbox_note=context.launcher.note,
    )


def _restore(task: Task, context: RunContext, *, ended: bool = True) -> None:
    """Put back what is not kept; all, unless the user asked for the best attempt, if the run was stopped."""
    if not ended:
        context.best.part, context.best.apart = None, ()
    snapshot = context.best.furthest if task.keep else context.best.part
    try:
        left = context.workspace.restore(snapshot)
    except KeyboardInterrupt:  # impatience must not leave half of an attempt behind
        left = context.workspace.restore(snapshot)
    if left:
        text = f"changed by someone else meanwhile, so not put back: {', '.join(left)}"
        context.emit(Note(level="warning", text=text))


def _with_model(result: RunResult, context: RunContext) -> RunResult:
    """Tell which model of a local server was asked, as nobody named it."""
    choice = context.models.profiles.choice
    if choice is None or not choice.server or not result.model_calls:
        return result
    model = context.models.profile(choice.default).model
    return replace(result, notes=(*result.notes, f"model: {choice.default} ({model}): {choice.reason}"))


def _with_program_changes(result: RunResult, context: RunContext) -> RunResult:
    """Tell what changed while programs ran: it stays, for it may be the user's own work of that moment."""
    paths = parts.updates.changed_by_programs(context)
    if not paths:
        return result
    if any(record.ok and record.capability == "run_command" for record in result.records):
        # Whoever planned or approved of a command wanted what it does.
        # What the check said before anything was changed says nothing of that.
        verdict = None if result.verdict == result.before else result.verdict
        return replace(result, verdict=verdict, changed_files=tuple(sorted({*result.changed_files, *paths})))
    text = f"changed while programs ran: {listed(paths, _SHOWN_PATHS)}; `codur undo` puts that back"
    context.emit(Note(level="warning", text=text))
    return replace(result, notes=(*result.notes, text))


def _interrupted() -> Interrupted:
    return Interrupted("stopped; the workspace is as it was")


_EVERY_S = 600.0  # measuring all runs takes longer than many a run
_STAMP = "tidied"


def tidy(state: StateDirectory, settings: StateSettings, emit: Emit, environ: Mapping[str, str]) -> None:
    """Forget the oldest runs beyond the bounds. Their number is looked at each time, their size now and then.

    What cannot be done is told and left: the run that has just ended is not to fail of it.
    """
    try:
        if not _is_due(state, settings):
            return
        from codur.store.forget import forget_oldest  # noqa: PLC0415 - lazy: hardly any run comes here

        (state.cache / _STAMP).touch(mode=0o600)  # before the work: runs that end meanwhile need not do it as well
        forget_oldest(state, max_bytes=settings.max_mb << 20, max_runs=settings.max_runs)
        sweep(temporary_base(environ))  # what killed runs have left
    except (StateError, OSError) as error:
        emit(Note(level="warning", text=f"old runs could not be forgotten: {error}"))


def _is_due(state: StateDirectory, settings: StateSettings) -> bool:
    with os.scandir(state.runs) as entries:
        if sum(1 for _ in entries) > settings.max_runs:
            return True
    try:
        # `abs`, since a clock that was set back would put it off for as long.
        return abs(time.time() - (state.cache / _STAMP).stat().st_mtime) > _EVERY_S
    except FileNotFoundError:
        return True
