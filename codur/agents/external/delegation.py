"""What it takes to delegate to agents that are other programs. Light: every run has it, few use it.

Nothing the agent says decides anything: neither its exit status nor its words. What it changed in its copy comes back
as one set of files, which the check then judges like any other edit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codur.agents.external.agent_readiness import Obstacle, obstacle_of
from codur.structs import Struct

if TYPE_CHECKING:
    from codur.agents.external.copy import MayInstruct
    from codur.agents.external.protocol import McpRunner
    from codur.agents.external.take_over import Allowed
    from codur.agents.registry import Agent
    from codur.events import Emit
    from codur.sandbox.launcher import Launcher


class Terms(Struct):
    """What one delegation is held to.

    Attributes:
        timeout_s: seconds left; the agent's own limit may be shorter.
        emit: gets what the agent says and does, as it happens.
        allowed: which paths may change.
        read_only: paths that define the check.
    """

    timeout_s: float
    emit: Emit
    allowed: Allowed
    read_only: tuple[str, ...] = ()


class ExternalAgents(Struct):
    """Whatever it takes to run external agents.

    Attributes:
        environ: the user's environment; each agent gets what its settings name of it.
        user_home: the user's home directory.
        redact: takes secrets out of what is sent to an agent.
        offline: nobody is asked.
        mcp: runs agents on MCP servers; None where there are none.
        may_instruct: whether a file of the project may reach an agent as instructions: the user has accepted it.
    """

    launcher: Launcher
    environ: Mapping[str, str]
    user_home: Path
    redact: Callable[[str], str]
    offline: bool = False
    mcp: McpRunner | None = None
    may_instruct: MayInstruct

    def obstacle(self, agent: Agent) -> Obstacle | None:
        """Why an agent cannot run here; None if nothing speaks against it."""
        if self.offline:
            return Obstacle("the run is offline", "Run it again without --offline.")
        return obstacle_of(agent.name, agent.config, self.environ, mcp=self.mcp is not None)
