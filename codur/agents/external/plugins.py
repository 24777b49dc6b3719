"""Agents that installed packages bring along: the entry point group `codur.agents`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from codur.agents.external.protocol import Answer, ExternalAgent, Job
from codur.structs import replace

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "codur.agents"


def find_plugin(name: str) -> EntryPoint | None:
    """The entry point of that name; nothing of its package is imported. None if there is none."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - lazy: only for agents that are classes

    return next(iter(entry_points(group=GROUP, name=name)), None)


def run_plugin(name: str, job: Job) -> Answer:
    """Make the agent of an entry point and let it work until its time is over; whatever it raises is its error.

    One that does not end then is left behind in its thread: what it tells from then on is not heard.
    """
    found = find_plugin(name)
    if found is None:
        return Answer(error=f"there is no entry point {name!r} in the group {GROUP}", end="not_started")
    over = threading.Event()
    quiet = replace(job, tell=lambda happening: None if over.is_set() else job.tell(happening))
    future = _in_thread(lambda: _answer(found, quiet))
    try:
        return future.result(job.timeout_s)
    except TimeoutError:
        return Answer(error=f"it was given up after {job.timeout_s:g} s, its time limit", end="timed_out")
    finally:
        over.set()


def _answer(found: EntryPoint, job: Job) -> Answer:
    try:
        agent: ExternalAgent = found.load()()
        answer: object = agent.work(job)
    except Exception as error:  # noqa: BLE001 - the boundary to code of others
        return Answer(error=f"{type(error).__name__}: {error}"[:500])
    if isinstance(answer, Answer):
        return answer
    return Answer(error=f"it gave back {type(answer).__name__}, not an Answer")


def _in_thread(function: Callable[[], Answer]) -> Future[Answer]:
    """Call `function` in a thread that nobody waits for when the process ends: a class cannot be stopped."""
    future: Future[Answer] = Future()
    future.set_running_or_notify_cancel()  # from now on nobody can cancel it, so its result can always be set

    def call() -> None:
        try:
            answer = function()
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            future.set_exception(error)
        else:
            future.set_result(answer)

    threading.Thread(target=call, name="codur-agent", daemon=True).start()
    return future
