"""What an external agent gets and gives back, whatever runs it: a command, an MCP server, a Python class (run here).

A Python class is declared in the entry point group `codur.agents` of its package and named in the settings
(`type: python`). It is made without arguments and its `work` is called once a delegation:

    class Mine:
        def work(self, job: Job) -> Answer:
            (job.directory / "main.py").write_text("print(1)\\n")
            return Answer(text="Rewrote main.py.")

It runs inside Codur's process, with all that the process may do, and is not stopped but left behind when its time is
over. Only what it leaves in `job.directory` counts, and the check decides what that is worth.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from codur.agents.registry import Agent
from codur.background import in_thread
from codur.lazy import late
from codur.structs import Struct, field, replace
from codur.types import Usage

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

metadata = late("importlib.metadata")
End = Literal["ended", "timed_out", "cancelled", "flooded", "limit", "not_started"]


class Said(Struct):
    """The agent said something on its way."""

    text: str


class Used(Struct):
    """The agent used one of its own tools; `ok` as far as it tells."""

    tool: str
    ok: bool = True
    summary: str = ""


Happening = Said | Used
Tell = Callable[[Happening], None]


class Job(Struct):
    """One delegation, as the agent sees it."""

    prompt: str  # what to do, in words
    directory: Path  # a copy of the workspace, without what git ignores; the only place whose changes count
    home: Path  # an empty directory of its own, gone afterwards
    timeout_s: float  # seconds until it is stopped
    # what its settings let through from the environment, and what they set
    variables: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[str, ...] = ()  # paths in `directory` whose changes are thrown away
    tell: Tell  # gets what happens, as it happens


class Answer(Struct):
    """What came of a delegation, by the agent's own account."""

    text: str = ""  # its last word
    error: str = ""  # why it failed, in a sentence; empty if it does not say so
    usage: Usage = field(default_factory=Usage)  # what it cost, as far as it tells
    end: End = "ended"  # how it ended
    exit_status: int | None = None  # of a program; it decides nothing


class ExternalAgent(Protocol):
    """A class of the entry point group `codur.agents`."""

    def work(self, job: Job) -> Answer:
        """Do the job; changes in `job.directory` are what counts."""


McpRunner = Callable[[Agent, Job], Answer]
"""Runs agents of type `mcp`: asks the agent's tool to do the job in the job's directory."""


GROUP = "codur.agents"


def find_plugin(name: str) -> EntryPoint | None:
    """The entry point of that name; nothing of its package is imported. None if there is none."""
    return next(iter(metadata.entry_points(group=GROUP, name=name)), None)


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
