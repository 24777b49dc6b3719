"""Agents that installed packages bring along: the entry point group `codur.agents`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from codur.agents.external.protocol import Answer, ExternalAgent, Job
from codur.background import in_thread
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
    future = in_thread(lambda: _answer(found, quiet), "codur-agent")
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
