"""Delegates a task to an agent that is another program: copy, run, read, take over what is allowed.

Nothing the agent says decides anything: neither its exit status nor its words. What it changed in its copy comes back
as one set of files, which the check then judges like any other edit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from codur.agents.external.copy import Copy, changes_in, copy_workspace
from codur.agents.external.plugins import run_plugin
from codur.agents.external.program import run_program
from codur.agents.external.protocol import Answer, Happening, Job, Said
from codur.agents.external.ready import Obstacle, obstacle_of, variables_of
from codur.agents.external.taking import Allowed, Taken, take_over
from codur.agents.registry import Agent
from codur.errors import WorkspaceError
from codur.events import AgentMessage, Emit, ToolRan
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace

_SHOWN_CHARS = 300
MAX_PROMPT_BYTES = 100_000
"""One argument of a program has 128 KiB on Linux."""


class McpRunner(Protocol):
    """Runs agents of type `mcp`; given to `ExternalAgents` where MCP servers can be asked."""

    def __call__(self, agent: Agent, job: Job) -> Answer:
        """Ask the agent's tool to do the job in the job's directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegated:
    """What came of a delegation.

    Attributes:
        answer: what the agent says.
        taken: what became of its changes.
        changed_nothing: it changed nothing at all in its copy.
    """

    answer: Answer
    taken: Taken = field(default_factory=Taken)
    changed_nothing: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAgents:
    """Whatever it takes to run external agents.

    Attributes:
        environ: the user's environment; each agent gets what its settings name of it.
        user_home: the user's home directory.
        redact: takes secrets out of what is sent to an agent.
        offline: nobody is asked.
        mcp: runs agents on MCP servers; None where there are none.
    """

    launcher: Launcher
    environ: Mapping[str, str]
    user_home: Path
    redact: Callable[[str], str]
    offline: bool = False
    mcp: McpRunner | None = None

    def obstacle(self, agent: Agent) -> Obstacle | None:
        """Why an agent cannot run here; None if nothing speaks against it."""
        if self.offline:
            return Obstacle(text="the run is offline", remedy="Run it again without --offline.")
        return obstacle_of(agent.name, agent.config, self.environ, mcp=self.mcp is not None)

    def run_external(
        self,
        agent: Agent,
        prompt: str,
        workspace: Workspace,
        *,
        timeout_s: float,
        emit: Emit,
        read_only: tuple[str, ...] = (),
        allowed: Allowed,
    ) -> Delegated:
        """Let an agent work in a copy of the workspace, and take over what it may change.

        Args:
            timeout_s: seconds left; the agent's own limit may be shorter.
            emit: gets what the agent says and does, as it happens.
            read_only: paths that define the check.
            allowed: which paths may change.

        Raises:
            CodurError: the copy cannot be made, or the program cannot be contained.
        """
        with self.launcher.temporary_directory() as directory:
            home = directory / "home"
            home.mkdir(mode=0o700)
            copy = copy_workspace(workspace, directory / "work")
            job = Job(
                prompt=self.redact(prompt).encode()[:MAX_PROMPT_BYTES].decode("utf-8", "ignore"),
                directory=copy.root,
                home=home,
                timeout_s=min(timeout_s, agent.config.timeout_s),
                variables=variables_of(agent.name, agent.config, self.environ, str(home)),
                read_only=tuple(path for path in read_only if path in copy.digests),
                tell=lambda happening: _tell(happening, agent.name, emit),
            )
            answer = self._run(agent, job)
            if answer.end in {"cancelled", "not_started"}:
                return Delegated(answer=answer)
            return _settled(agent, answer, copy, workspace, allowed)

    def _run(self, agent: Agent, job: Job) -> Answer:
        if agent.config.type == "python":
            return run_plugin(agent.config.entry_point or agent.name, job)
        if agent.config.type == "mcp":
            if self.mcp is None:
                return Answer(error="agents on MCP servers are not available in this version", end="not_started")
            return self.mcp(agent, job)
        return run_program(agent.config, job, launcher=self.launcher, environ=self.environ, user_home=self.user_home)


def _settled(agent: Agent, answer: Answer, copy: Copy, workspace: Workspace, allowed: Allowed) -> Delegated:
    try:
        changes = changes_in(copy, max_file_bytes=workspace.max_file_bytes, leaves=agent.config.leaves)
    except (WorkspaceError, OSError) as error:
        return Delegated(answer=answer, taken=Taken(problem=f"its copy cannot be read: {error}"), changed_nothing=False)
    taken = take_over(agent.name, changes, copy, workspace, allowed=allowed)
    nothing = not (changes.files or changes.refused or changes.problem)
    return Delegated(answer=answer, taken=taken, changed_nothing=nothing)


def _tell(happening: Happening, agent: str, emit: Emit) -> None:
    if isinstance(happening, Said):
        shown = " ".join(happening.text.split())[:_SHOWN_CHARS]
        if shown:
            emit(AgentMessage(agent=agent, text=shown))
    else:
        code = "ok" if happening.ok else "failed"
        emit(ToolRan(tool=f"{agent}:{happening.tool}", code=code, summary=happening.summary))
