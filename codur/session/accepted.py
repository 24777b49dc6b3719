"""What of a project the user has accepted: it may instruct models, and agents that are other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codur import config
from codur.agents.instruction_text import Instructions
from codur.config.project_rules import TrustOf, nobody
from codur.config.settings import Settings
from codur.session.host import Host
from codur.store.directory import StateDirectory
from codur.store.trusted_files import TrustStore
from codur.types import Task

if TYPE_CHECKING:
    from codur.agents.external.copy import MayInstruct
    from codur.config.instructions import InstructionSet


def trust_of(host: Host) -> TrustOf:
    """The user's list of what was accepted; without a state directory nothing was."""
    return TrustStore(StateDirectory(host.state).trust_file).state_of if host.state else nobody


def instructions_of(task: Task, settings: Settings, host: Host) -> Instructions:
    """The instructions of a run; read when they are first asked for."""

    def load() -> InstructionSet:
        workspace = Path(task.workspace)  # what was accepted is the project itself, not a copy of it
        return config.instructions.load_instructions(
            settings, workspace, environ=host.environ, home=host.home, trust_of=trust_of(host)
        )

    return Instructions(load, max_tokens=settings.context.instruction_tokens)


def may_instruct(task: Task, settings: Settings, host: Host) -> MayInstruct:
    """Whether a file of the project may instruct other agents: that very text was accepted, and such are wanted."""

    def accepted(path: str, content: bytes) -> bool:
        return settings.context.project_instructions and (
            trust_of(host)(Path(task.workspace), path, content) == "accepted"
        )

    return accepted
