"""Delegating over a real context, where the copy for the agent cannot be made."""

from __future__ import annotations

from pathlib import Path

from codur.config.settings import AgentPreferences, Settings
from codur.nodes.execute import _delegate
from codur.nodes.review import review
from codur.nodes.run_state import RunState, RunUpdate, initial_state
from codur.types import Check, Discovery, Plan, Step, Task, Verdict
from codur.workspace.copies import MAX_BYTES
from tests.agents.external.kit import config_of
from tests.runs.kit import NEEDS_MODEL, fill, host, settings_for
from tests.support.groq_server import GroqServer
from tests.support.opened import opened

RED = Verdict(status="failed", signature="s", progress=0.0)
CHECK = Check(kind="output", argv=("{python}", "main.py"), entry="main.py", expected_file="expected.txt", source="x")


def test_another_agent_stands_in_for_one_that_cannot_get_its_copy(tmp_path: Path) -> None:
    root = fill(tmp_path / "project", NEEDS_MODEL)
    with (root / "big.bin").open("wb") as big:
        big.truncate(MAX_BYTES + 1)  # takes no room: all of it is a hole
    its = config_of(tmp_path / "its", [], key_env=())
    task = Task(prompt="fix main.py", workspace=str(root))
    plan = Plan(steps=(Step(id="s", action="delegate", capability="its"),), origin="user")
    with GroqServer([]) as server:
        preferences = AgentPreferences(fallback_order=("its", "codur-coding"))
        configs = {**Settings().agents.configs, "its": its}
        settings = settings_for(server, agents={"preferences": preferences, "configs": configs})
        with opened(task, settings, host=host(), emit=lambda event: None) as context:
            discovery = Discovery(task_type="code_fix", files=("main.py",), check=CHECK)
            known: RunUpdate = {"plan": plan, "discovery": discovery, "before": RED, "verdict": RED}
            state = updated(initial_state(task), known)

            update = _delegate(context.agents.resolve("its"), state, context)

            assert [(record.code, record.capability) for record in update["records"]] == [("failed", "its")]
            assert update["reason"] == "its cannot work: the workspace holds more than 256 MiB, too much to copy"
            assert ".gitignore" in update["remedy"]
            assert review(updated(state, update), context)["coder"] == "codur-coding"


def updated(state: RunState, update: RunUpdate) -> RunState:
    return {**state, **update}
