"""Agents that are a tool of an MCP server: a real server works in the copy, and the check decides."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.settings import AgentConfig, McpServer, Settings
from codur.events import ignore
from codur.session.task_run import run_task
from codur.types import RunResult, Task
from tests.mcp.kit import HONEST, LONG_S
from tests.runs.kit import contents, fill, host

FILES = {"main.py": "print(1)\n"}
NEVER = f'{sys.executable} -c "raise SystemExit(1)"'
CHECK = f"{sys.executable} -c \"assert 'four' in open('answer.txt').read()\""


def run(
    place: Path,
    *,
    prompt: str = "write four",
    servers: Mapping[str, McpServer] | None = None,
    check: str = CHECK,
    **fields: Any,
) -> RunResult:
    project = place / "project"
    project.mkdir()
    fill(project, FILES)
    config = AgentConfig(type="mcp", server="helper", tool="work", **fields)
    settings = Settings()
    settings = structs.replace(
        settings,
        agents=structs.replace(settings.agents, configs={**settings.agents.configs, "its": config}),
        mcp_servers={"helper": McpServer(command=HONEST, timeout_s=LONG_S)} if servers is None else servers,
        repair=structs.replace(settings.repair, mode="off"),
    )
    task = Task(prompt=prompt, workspace=str(project), agent="its", check_command=check, check_is_goal=True)
    return run_task(task, settings, host=host(key=None), emit=ignore)


def test_what_the_tool_writes_is_taken_over_and_checked(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.outcome, result.solved_by) == ("done", "its"), result.reason
    assert result.changed_files == ("answer.txt",)
    assert "write four" in contents(tmp_path / "project")["answer.txt"]


def test_its_arguments_are_made_from_the_settings(tmp_path: Path) -> None:
    result = run(tmp_path, arguments={"prompt": "four words: {{x}} {prompt}"})
    assert result.outcome == "done", result.reason
    assert contents(tmp_path / "project")["answer.txt"].startswith("four words: {x} ")


def test_work_that_does_not_pass_is_not_done(tmp_path: Path) -> None:
    result = run(tmp_path, check=NEVER)
    assert (result.outcome, result.exit_code) == ("not_achieved", 1)
    assert result.attempts
    assert contents(tmp_path / "project") == FILES


def test_a_tool_that_there_is_not_changes_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, servers={"helper": McpServer(command=(sys.executable, "-c", "pass"), timeout_s=LONG_S)})
    assert result.exit_code == 1
    assert contents(tmp_path / "project") == FILES
