"""Delegations to a real program: real copies, real processes in the sandbox."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.agents.external.delegated_work import Delegated, run_external
from codur.agents.external.delegation import ExternalAgents, Terms
from codur.agents.registry import Agent
from codur.config.settings import AgentConfig, SandboxSettings
from codur.events import AgentMessage, Event, ToolRan
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace

PROGRAM = Path(__file__).with_name("program.py")
CANARY = "gsk_canary_of_another_provider_0123456789"
OWN_KEY = "own_key_0123456789abcdef"
ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GROQ_API_KEY": CANARY, "ITS_KEY": OWN_KEY}

Script = list[list[Any]]

CODEX_DONE: Script = [
    ["say", {"type": "thread.started", "thread_id": "t"}],
    ["say", {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "It printed 1."}}],
    ["say", {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7}}],
]
WRONG = {"main.py": "print(1)\n", "expected.txt": "2\n"}
RIGHT = "print(2)\n"


def config_of(directory: Path, script: Sequence[Sequence[Any]], **fields: Any) -> AgentConfig:
    """An agent whose program carries out the script; in the dialect of codex if not said otherwise."""
    directory.mkdir(parents=True, exist_ok=True)
    place = directory / "script.json"
    place.write_text(json.dumps(script))
    config = AgentConfig(
        type="cli",
        command=(sys.executable, str(PROGRAM), str(place)),
        prompt_by="stdin",
        output="jsonl",
        dialect="codex",
        key_env=("ITS_KEY",),
        readable=(str(PROGRAM), str(place)),
        timeout_s=60.0,
    )
    return structs.replace(config, **fields)


@dataclass(frozen=True, kw_only=True)
class Did:
    """A delegation, and the workspace after it."""

    delegated: Delegated
    workspace: Workspace
    events: list[Event] = field(default_factory=list)

    @property
    def error(self) -> str:
        return self.delegated.answer.error

    @property
    def changed(self) -> tuple[str, ...]:
        return self.delegated.taken.changed_files

    @property
    def notes(self) -> tuple[str, ...]:
        return self.delegated.taken.notes

    @property
    def said(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, AgentMessage)]

    @property
    def tools(self) -> list[tuple[str, str, str]]:
        return [(event.tool, event.code, event.summary) for event in self.events if isinstance(event, ToolRan)]

    def read(self, path: str) -> str:
        return (self.workspace.root / path).read_text()


def fill(directory: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        place = directory / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return directory


@contextmanager
def agents(
    *,
    environ: Mapping[str, str] = ENVIRON,
    backend: Any = "auto",
    cancel: CancelToken | None = None,
    offline: bool = False,
    may_instruct: Callable[[str, bytes], bool] = lambda path, content: False,
) -> Iterator[ExternalAgents]:
    """What runs agents, in the sandbox that works here."""
    with Launcher(environ, sandbox=SandboxSettings(backend=backend), cancel=cancel) as launcher:
        yield ExternalAgents(
            launcher=launcher,
            environ=environ,
            user_home=Path("/nonexistent"),
            redact=lambda text: text.replace(CANARY, "[secret]"),
            offline=offline,
            may_instruct=may_instruct,
        )


def delegate(
    directory: Path,
    script: Sequence[Sequence[Any]],
    files: Mapping[str, str] = WRONG,
    *,
    prompt: str = "Fix main.py",
    protected: Sequence[str] = ("expected.txt",),
    environ: Mapping[str, str] = ENVIRON,
    backend: Any = "auto",
    timeout_s: float = 60.0,
    allowed: Any = lambda path: True,
    cancel: CancelToken | None = None,
    may_instruct: Callable[[str, bytes], bool] = lambda path, content: False,
    on_event: Callable[[Event], object] = lambda event: None,
    **fields: Any,
) -> Did:
    """Delegate to an agent that does what the script says, in a workspace with these files."""
    root = directory / "project"
    root.mkdir()
    workspace = Workspace.open(fill(root, files))
    workspace.protect(protected)
    agent = Agent(name="its", profile="", config=config_of(directory / "agent", script, **fields))
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        on_event(event)

    with agents(environ=environ, backend=backend, cancel=cancel, may_instruct=may_instruct) as external:
        delegated = run_external(
            external,
            agent,
            prompt,
            workspace,
            Terms(timeout_s=timeout_s, emit=emit, read_only=tuple(protected), allowed=allowed),
        )
    return Did(delegated=delegated, workspace=workspace, events=events)
