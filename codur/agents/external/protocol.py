"""What an external agent gets and gives back, whatever runs it: a command, an MCP server, a Python class.

A Python class is declared in the entry point group `codur.agents` of its package and named in the settings
(`type: python`). It is made without arguments and its `work` is called once a delegation:

    class Mine:
        def work(self, job: Job) -> Answer:
            (job.directory / "main.py").write_text("print(1)\\n")
            return Answer(text="Rewrote main.py.")

It runs inside Codur's process, with all that the process may do, and is not stopped but left behind when its time is
over. Only what it leaves in `job.directory` counts, and the check decides what that is worth.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol

from codur.agents.registry import Agent
from codur.structs import Struct, field
from codur.types import Usage

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
    """One delegation, as the agent sees it.

    Attributes:
        prompt: what to do, in words.
        directory: a copy of the workspace, without what git ignores; the only place whose changes count.
        home: an empty directory of its own, gone afterwards.
        timeout_s: seconds until it is stopped.
        variables: what its settings let through from the environment, and what they set.
        read_only: paths in `directory` whose changes are thrown away.
        tell: gets what happens, as it happens.
    """

    prompt: str
    directory: Path
    home: Path
    timeout_s: float
    variables: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[str, ...] = ()
    tell: Tell


class Answer(Struct):
    """What came of a delegation, by the agent's own account.

    Attributes:
        text: its last word.
        error: why it failed, in a sentence; empty if it does not say so.
        usage: what it cost, as far as it tells.
        end: how it ended.
        exit_status: of a program; it decides nothing.
    """

    text: str = ""
    error: str = ""
    usage: Usage = field(default_factory=Usage)
    end: End = "ended"
    exit_status: int | None = None


class ExternalAgent(Protocol):
    """A class of the entry point group `codur.agents`."""

    def work(self, job: Job) -> Answer:
        """Do the job; changes in `job.directory` are what counts."""


McpRunner = Callable[[Agent, Job], Answer]
"""Runs agents of type `mcp`: asks the agent's tool to do the job in the job's directory."""
