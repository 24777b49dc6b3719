"""One task from prompt to result: opens what the nodes need, runs the graph, cleans up, tells what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from codur.agents.registry import AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import Settings
from codur.errors import CodurError, Interrupted
from codur.events import Emit, RunFinished, RunStarted
from codur.graph.walk import Walked, walk
from codur.llm.model import ChatModel
from codur.llm.pool import ModelPool
from codur.nodes.state import BestAttempt, Latest, RunContext, RunState, initial_state
from codur.sandbox.cancel import CancelToken
from codur.sandbox.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.session.result import error_result, result_of
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import RunResult, Task
from codur.verification.checker import Checker
from codur.workspace.artifacts import ArtifactStore
from codur.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run takes from the machine; only `cli` reads it there.

    Attributes:
        environ: environment variables: API keys, and what programs under check may see.
        home: the user's home directory, which is refused as a workspace.
        models: models by profile name that replace the configured ones (for scripted runs).
    """

    environ: Mapping[str, str]
    home: Path
    models: Mapping[str, ChatModel] | None = None


def run_task(task: Task, settings: Settings, *, host: Host, emit: Emit) -> RunResult:
    """Carry out a task.

    Errors that end a run become its result; the workspace is left as it was found unless the task was done (or the
    task asks to keep the best attempt).

    Args:
        emit: receives every event, the result last.
    """
    started = time.monotonic()
    try:
        with opened(task, settings, host=host, emit=emit, started=started) as context:
            result = _run(task, context)
    except CodurError as error:
        result = error_result(error, task)
    except KeyboardInterrupt:
        result = error_result(_interrupted(), task)
    if task.dry_run and result.diff:
        result = replace(result, notes=(*result.notes, "dry run: the changes were made in a copy, nothing was changed"))
    result = replace(result, duration_s=round(time.monotonic() - started, 3), workspace=task.workspace)
    emit(RunFinished(result=result))
    return result


def _run(task: Task, context: RunContext) -> RunResult:
    start = initial_state(task)
    try:
        walked = walk(start, context)
        state = walked.state if walked.finished else _run_with_models(start, walked, context)
    except CodurError as error:
        return _stopped(error, task, context)
    except KeyboardInterrupt:
        context.cancel.cancel()
        return _stopped(_interrupted(), task, context)
    except Exception:  # a fault of ours must not leave an attempt behind
        context.cancel.cancel()
        _restore(task, context)
        raise
    if state["outcome"] != "done":
        _restore(task, context)
    return result_of(state, context)


def _run_with_models(start: RunState, walked: Walked, context: RunContext) -> RunState:
    """Go on in the compiled graph. Here, and only here, langgraph and asyncio are loaded."""
    from codur.session.graph_run import run_graph_blocking  # noqa: PLC0415 - lazy: a model-free run never loads it

    return run_graph_blocking(start, walked, context)


def _stopped(error: CodurError, task: Task, context: RunContext) -> RunResult:
    """The result of a run that an error ended: what it did until then, and why it ended."""
    _restore(task, context)
    result = error_result(error, task)
    usage = context.models.usage
    state = context.latest.state
    known = result if state is None else result_of({**state, "outcome": result.outcome}, context)
    return replace(
        known,
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
    )


def _restore(task: Task, context: RunContext) -> None:
    snapshot = context.best.snapshot if task.keep else None
    try:
        context.workspace.restore(snapshot)
    except KeyboardInterrupt:  # impatience must not leave half of an attempt behind
        context.workspace.restore(snapshot)


def _interrupted() -> Interrupted:
    return Interrupted("the workspace is as it was")


@contextmanager
def opened(
    task: Task, settings: Settings, *, host: Host, emit: Emit, started: float | None = None
) -> Iterator[RunContext]:
    """Everything the nodes work with, for as long as the run lasts.

    Args:
        started: when the run's time began, by the monotonic clock; now if left out.

    Raises:
        WorkspaceError: the directory cannot be a workspace.
        UsageError: the task names an agent that there is not.
    """
    workspace = Workspace.open(Path(task.workspace), home=host.home, max_file_bytes=settings.tools.max_file_kb * 1024)
    python = find_python(workspace.root, host.environ)
    with TemporaryDirectory(prefix="codur-", ignore_cleanup_errors=True) as temporary:
        scratch = _Scratch(Path(temporary), count(1))
        if task.dry_run:
            workspace = workspace.scratch_copy(scratch())
        clock = time.monotonic() if started is None else started
        yield _context(task, settings, host, emit, clock, workspace, python, scratch)


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Makes numbered empty directories below the run's temporary one."""

    root: Path
    numbers: Iterator[int]

    def __call__(self) -> Path:
        path = self.root / f"scratch-{next(self.numbers)}"
        path.mkdir()
        return path


def _context(
    task: Task,
    settings: Settings,
    host: Host,
    emit: Emit,
    started: float,
    workspace: Workspace,
    python: str,
    scratch: _Scratch,
) -> RunContext:
    def time_left() -> float:
        return task.limits.max_runtime_s - (time.monotonic() - started)

    cancel = CancelToken()
    launcher = Launcher(
        host.environ, cancel=cancel, max_output_bytes=settings.verification.max_output_kb * 1024, python=python
    )
    agents = AgentRegistry(settings)
    if task.agent is not None:
        agents.resolve(task.agent)  # an unknown name ends the run before anything is done
    emit(RunStarted(prompt=task.prompt, workspace=task.workspace, sandbox=launcher.name))
    return RunContext(
        settings=settings,
        workspace=workspace,
        launcher=launcher,
        python=python,
        checker=Checker(
            workspace,
            launcher,
            settings.verification,
            python=python,
            deadline=time_left,
            allow_run=settings.tools.allow_run,
        ),
        toolbox=Toolbox(
            ToolContext(
                workspace=workspace,
                launcher=launcher,
                python=python,
                settings=settings.tools,
                timeout_s=settings.verification.test_timeout_s,
            )
        ),
        models=ModelPool(
            settings,
            host.environ,
            task.limits,
            emit=emit,
            offline=task.offline,
            models=host.models,
            time_left=time_left,
        ),
        agents=agents,
        prompts=PromptLibrary(),
        artifacts=ArtifactStore(scratch()),
        cancel=cancel,
        emit=emit,
        time_left=time_left,
        scratch=scratch,
        best=BestAttempt(),
        latest=Latest(),
    )
