"""The Python interface: a task as a job, whose events and result are for whoever waits for them.

Beside `cli` the one layer that reads the environment, where the caller gives none. It prints nothing, and nothing stays
between calls but what runs keep on disk.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypedDict, Unpack

from codur.background import in_thread
from codur.config.loader import UserSources, load_settings
from codur.errors import CodurError
from codur.events import Emit, Event, Note
from codur.patches import RepairRequest
from codur.questions import Answer, Question
from codur.sandbox.cancel import CancelToken
from codur.session.accepted import trust_of
from codur.session.host import Host, host_of
from codur.session.scoping import bounded
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import Plan, RunResult, Task

__all__ = ["CodurError", "Job", "Options", "RunResult", "TaskOptions", "explain", "repair", "solve", "verify"]

_TASK_FIELDS = {"check": "check_command", "expect": "expect_file"}
"""Options that a task has under another name."""


class Options(TypedDict, total=False):
    """What each function takes beside its own arguments; what is left out is as for the command."""

    check: str
    """Shell command that must exit with 0."""
    expect: str
    """File with the output that the program must print."""
    hint: str
    """What may be wrong; it is tried first."""
    dry_run: bool
    """Work in a copy: the result has the diff, nothing is changed."""
    wait: bool
    """Wait while another run works in the workspace, rather than be refused."""
    config: Path
    """Settings file, in place of the user's own."""
    settings: Mapping[str, Any]
    """Settings that go before all others, nested as in a settings file."""
    environ: Mapping[str, str]
    """Environment variables, in place of the process's."""


class TaskOptions(Options, total=False):
    """What `solve` takes, too."""

    agent: str
    """Agent or `llm:PROFILE` to work with."""
    offline: bool
    """Ask no model."""
    keep: bool
    """Keep the best attempt even if the check never passed."""
    keep_test: bool
    """Keep the test that was made for the task."""
    may_edit_tests: bool
    """The tests that judge the task may be changed."""
    show_plan: bool
    """Ask before a plan is carried out."""
    approved: bool
    """Approve of any plan beforehand."""
    plan: Plan
    """Carry out this plan, rather than make one."""
    stream: bool
    """Tell answers of models word by word, too."""
    given: str
    """Text that goes with the task, such as a program's output."""
    earlier: str
    """What models are told of earlier tasks."""
    places: tuple[str, ...]
    """Files, or lines of them as `path:line`, that models are shown."""
    made: tuple[str, ...]
    """Files that earlier tasks made: those that are tests may be changed."""
    ask: Callable[[Question], Answer]
    """Answers the questions of the run, in its thread; without it nobody is asked."""


def solve(prompt: str, workspace: Path | str, **options: Unpack[TaskOptions]) -> Job:
    """Carry out a task, as `codur TASK` does."""
    goal = "check" in options or "expect" in options
    return _job(prompt, workspace, {**options, "check_is_goal": goal})


def repair(
    workspace: Path | str,
    *,
    files: Sequence[str] = (),
    every: bool = False,
    since: str = "",
    **options: Unpack[Options],
) -> Job:
    """Search for a repair by the check alone, without a model, as `codur repair` does.

    Args:
        files: workspace-relative paths to look in first.
        every: find all repairs and change nothing.
        since: suspect what changed since this commit or tag.
    """
    asked = RepairRequest(files=tuple(files), every=every, since=since)
    given = {**options, "dry_run": every or options.get("dry_run", False)}
    return _search(" ".join(["repair", *files]), workspace, asked, given)


def verify(workspace: Path | str, **options: Unpack[Options]) -> Job:
    """Find the check and run it; nothing is changed. The result is `done` if it passes, and has its verdict."""
    return _search("verify", workspace, RepairRequest(until="verdict"), options)


def explain(workspace: Path | str, *, files: Sequence[str] = (), **options: Unpack[Options]) -> Job:
    """Say which lines a failing check speaks against (`result.repair.suspects`), with what was seen there."""
    return _search("explain the failure", workspace, RepairRequest(files=tuple(files), until="suspects"), options)


def _search(prompt: str, workspace: Path | str, asked: RepairRequest, options: Mapping[str, Any]) -> Job:
    return _job(prompt, workspace, {**options, "check_is_goal": True, "offline": True, "repair": asked})


def _job(prompt: str, workspace: Path | str, options: Mapping[str, Any]) -> Job:
    given = dict(options)
    environ: Mapping[str, str] = given.pop("environ", None) or os.environ
    home = Path(environ.get("HOME", "/"))
    host = replace(host_of(environ, home if home.is_absolute() else Path("/")), consult=given.pop("ask", None))
    host = replace(host, stream=given.pop("stream", False))
    config, settings = given.pop("config", None), given.pop("settings", {})
    fields = {_TASK_FIELDS.get(name, name): value for name, value in given.items()}
    task = Task(prompt=prompt, workspace=str(Path(workspace).absolute()), **fields)
    return Job(lambda emit, cancel: _carried_out(task, replace(host, cancel=cancel), config, settings, emit))


def _carried_out(task: Task, host: Host, config: Path | None, settings: Mapping[str, Any], emit: Emit) -> RunResult:
    loaded = load_settings(
        Path(task.workspace),
        UserSources(environ=host.environ, home=host.home, config_file=config),
        settings,
        trust_of=trust_of(host),
        agents=(task.agent,) if task.agent else (),
    )
    for note in loaded.notes:
        emit(Note(level="warning", text=note))
    return run_task(bounded(task, loaded.settings), loaded.settings, host=host, emit=emit)


class Job:
    """A task at work, in a thread of its own.

    `result()` waits for its end, `await job` does in asyncio; `for event in job` and `async for event in job` give what
    happens, from the start, as it happens. `cancel` ends it in good order.

    Args:
        work: carries the task out; it tells events, and ends when the token is set.
    """

    def __init__(self, work: Callable[[Emit, CancelToken], RunResult]) -> None:
        self._events: list[Event] = []
        self._listeners: list[Callable[[], object]] = []
        self._cancel = CancelToken()
        self._future = in_thread(lambda: work(self._tell, self._cancel), "codur-job")
        self._future.add_done_callback(lambda _: self._wake())

    def result(self, timeout: float | None = None) -> RunResult:
        """What came of it. A task that was not achieved has a result, too: see its `outcome`.

        Raises:
            CodurError: it could not begin (settings that are wrong), or a fault of ours ended it.
            TimeoutError: it goes on still.
        """
        with self._stopped():
            return self._future.result(timeout)

    def cancel(self) -> None:
        """End it: programs are stopped, the workspace is put back, and the result says `interrupted`."""
        self._cancel.cancel()

    def __iter__(self) -> Iterator[Event]:
        woken, told, ended = threading.Event(), 0, False
        with self._heard(woken.set):
            while not ended:
                woken.clear()
                events, ended = self._since(told)
                yield from events
                told += len(events)
                if not ended:
                    with self._stopped():
                        woken.wait()

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop, woken, told, ended = asyncio.get_running_loop(), asyncio.Event(), 0, False
        with self._heard(lambda: loop.call_soon_threadsafe(woken.set)):
            while not ended:
                woken.clear()
                events, ended = self._since(told)
                for event in events:
                    yield event
                told += len(events)
                if not ended:
                    await woken.wait()

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self._awaited().__await__()

    async def _awaited(self) -> RunResult:
        future = asyncio.wrap_future(self._future)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait([future])  # by then the workspace is as it was
            raise

    def _tell(self, event: Event) -> None:
        self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        for listener in tuple(self._listeners):
            with suppress(RuntimeError):  # its event loop has been closed
                listener()

    def _since(self, number: int) -> tuple[Sequence[Event], bool]:
        """The events from that one on, and whether no more will come."""
        ended = self._future.done()  # looked at first: who has ended has told all
        return self._events[number:], ended

    @contextmanager
    def _heard(self, listener: Callable[[], object]) -> Iterator[None]:
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @contextmanager
    def _stopped(self) -> Iterator[None]:
        """Ctrl-C of who waits ends the job, in good order, first."""
        try:
            yield
        except KeyboardInterrupt:
            self.cancel()
            concurrent.futures.wait([self._future])
            raise
