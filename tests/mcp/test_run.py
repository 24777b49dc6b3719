"""Servers in a run: started at first use, ended with it, their keys blanked, their definitions kept."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import structs

from codur.config.settings import McpServer, Settings
from codur.session.host import Host, redactor_of
from codur.types import Task
from tests.mcp import kit
from tests.support.opened import opened


def test_a_run_has_its_servers_and_ends_them(tmp_path: Path) -> None:
    work, state = tmp_path / "work", tmp_path / "state"
    work.mkdir()
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    settings = structs.replace(Settings(), mcp_servers={"mine": kit.hostile("", mark)})
    host = Host(environ={"PATH": os.environ["PATH"]}, home=tmp_path, state=state)

    with opened(Task(prompt="x", workspace=str(work)), settings, host=host, emit=lambda _: None) as context:
        assert context.toolbox.mcp is not None
        assert not _running(mark)
        assert context.toolbox.call("call_mcp_tool", {"tool": "mcp__mine__act"}).text == "done"
        assert _running(mark)

    assert not _running(mark)
    assert (state / "mcp.json").stat().st_mode & 0o777 == 0o600
    assert list(work.iterdir()) == []


def test_a_run_without_servers_has_none(tmp_path: Path) -> None:
    host = Host(environ={"PATH": os.environ["PATH"]}, home=tmp_path)
    work = tmp_path / "work"
    work.mkdir()

    with opened(Task(prompt="x", workspace=str(work)), Settings(), host=host, emit=lambda _: None) as context:
        assert context.toolbox.mcp is None


def test_what_servers_are_given_is_blanked(tmp_path: Path) -> None:
    servers = {
        "a": kit.hostile(environment=("MINE",)),
        "b": McpServer(url="https://mcp.example/", headers_env={"Authorization": "OTHER"}),
    }
    redact = redactor_of(
        structs.replace(Settings(), mcp_servers=servers), {"MINE": "first-value", "OTHER": "second-value"}, tmp_path
    )

    assert redact("it says first-value and second-value") == "it says [redacted] and [redacted]"


def _running(mark: str) -> bool:
    found = False
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found = found or mark.encode() in path.read_bytes()
        except OSError:
            continue
    return found


def test_why_tools_of_a_server_are_not_there_is_told(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    settings = structs.replace(
        Settings(), mcp_servers={"mine": kit.hostile(""), "none": McpServer(command=("absent",))}
    )
    host = Host(environ={"PATH": os.environ["PATH"]}, home=tmp_path)

    with opened(Task(prompt="x", workspace=str(work)), settings, host=host, emit=lambda _: None) as context:
        assert context.toolbox.missing(["read_file", "mcp__mine__act"]) == []
        (why,) = context.toolbox.missing(["read_file", "mcp__none__one", "mcp__none__two"])
        assert why.startswith("none's tools are not offered: ")
