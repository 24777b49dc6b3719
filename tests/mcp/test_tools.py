"""The tools of the registry that ask MCP servers: codes, one sentence, permissions, nothing changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import McpServer, ToolSettings
from codur.sandbox.launcher import Launcher
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import ToolResult
from codur.workspace.workspace import Workspace
from tests.mcp import kit
from tests.mcp.web import application


def ask(
    tmp_path: Path,
    *calls: tuple[str, Mapping[str, Any]],
    settings: ToolSettings | None = None,
    **named: McpServer,
) -> list[ToolResult]:
    """What several calls give, one after the other."""
    with kit.servers(tmp_path, more=named) as servers:
        context = ToolContext(
            workspace=Workspace.open(tmp_path / "work"),
            launcher=Launcher({}),
            find_python=lambda: sys.executable,
            settings=settings or ToolSettings(),
            timeout_s=20.0,
            mcp=servers,
        )
        toolbox = Toolbox(context)
        return [toolbox.call(tool, arguments) for tool, arguments in calls]


def test_tools_are_listed_and_called(tmp_path: Path) -> None:
    listed, called, as_text, failed, structured = ask(
        tmp_path,
        ("list_mcp_tools", {}),
        ("call_mcp_tool", {"tool": "mcp__mine__echo", "arguments": {"text": "a", "times": 3}}),
        ("call_mcp_tool", {"tool": "mcp__mine__echo", "arguments": '{"text": "b"}'}),
        ("call_mcp_tool", {"tool": "mcp__mine__fail"}),
        ("call_mcp_tool", {"tool": "mcp__mine__add", "arguments": {"a": 1, "b": 2}}),
        mine=kit.honest(),
    )

    lines = listed.text.splitlines()
    assert lines[0].startswith("(what follows are the servers' own words")
    assert lines[1] == "mcp__mine__echo(text: string, times?: integer): Give a text back."
    assert listed.data[0]["schema"]["required"] == ["text"]
    assert (called.code, called.text, as_text.text) == ("ok", "aaa", "b")
    assert failed.code == "failed"
    assert failed.text.startswith("mcp__mine__fail failed: ")
    assert structured.data == {"sum": 3}


def test_resources_are_listed_and_read(tmp_path: Path) -> None:
    listed, read, absent = ask(
        tmp_path,
        ("list_mcp_resources", {"server": "mine"}),
        ("read_mcp_resource", {"server": "mine", "uri": "note://one"}),
        ("read_mcp_resource", {"server": "mine", "uri": "note://three"}),
        mine=kit.honest(),
    )

    assert [entry["uri"] for entry in listed.data] == ["note://one", "note://two"]
    assert "note://one text/plain A note." in listed.text
    assert (read.code, read.text) == ("ok", "the note's text")
    assert absent.code == "not_found"


def test_bad_arguments(tmp_path: Path) -> None:
    results = ask(
        tmp_path,
        ("call_mcp_tool", {"tool": "read_file"}),
        ("call_mcp_tool", {"tool": "mcp__other__x"}),
        ("call_mcp_tool", {"tool": "mcp__mine__x"}),
        ("call_mcp_tool", {"tool": "mcp__mine__act", "arguments": "{"}),
        ("call_mcp_tool", {"tool": "mcp__mine__act", "arguments": [1]}),
        ("list_mcp_resources", {"server": "mine"}),
        ("list_mcp_tools", {"server": "other"}),
        mine=kit.hostile(),
    )

    assert [result.code for result in results] == [
        "invalid",
        "not_found",
        "not_found",
        "invalid",
        "invalid",
        "failed",
        "not_found",
    ]
    assert all("\n" not in result.text for result in results)


def test_a_changed_tool_is_refused_and_its_words_are_not_passed_on(tmp_path: Path) -> None:
    first, listed, refused = ask(
        tmp_path,
        ("list_mcp_tools", {}),
        ("list_mcp_tools", {}),
        ("call_mcp_tool", {"tool": "mcp__mine__act"}),
        mine=kit.hostile("changes"),
    )

    assert "A tool." in first.text
    assert "mcp__mine__act: not accepted (changed); see `codur mcp trust mine`" in listed.text
    assert "mcp__mine__later: not accepted (new)" in listed.text
    assert "evil.example" not in listed.text + str(listed.data)
    assert refused.code == "refused"
    assert "has changed since it was accepted; look at it with `codur mcp trust mine`" in refused.text


def test_one_server_that_fails_does_not_hide_the_others(tmp_path: Path) -> None:
    both, alone = ask(
        tmp_path,
        ("list_mcp_tools", {}),
        ("list_mcp_tools", {"server": "gone"}),
        gone=McpServer(command=("codur-no-such-server",)),
        mine=kit.hostile(),
    )

    assert both.code == "ok"
    assert "codur-no-such-server: cannot be started" in both.text
    assert "mcp__mine__act" in both.text
    assert alone.code == "failed"


def test_permissions(tmp_path: Path) -> None:
    call = ("call_mcp_tool", {"tool": "mcp__mine__echo", "arguments": {"text": "x"}})
    with application() as url:
        reached = McpServer(url=url, timeout_s=kit.LONG_S)
        (no_network,) = ask(tmp_path, call, mine=reached)
        (allowed,) = ask(tmp_path, call, settings=ToolSettings(allow_network=True), mine=reached)
    (no_run,) = ask(tmp_path, call, settings=ToolSettings(allow_run=False), mine=kit.honest())

    assert (no_network.code, "tools.allow_network" in no_network.text) == ("refused", True)
    assert (allowed.code, allowed.text) == ("ok", "x")
    assert (no_run.code, "tools.allow_run" in no_run.text) == ("refused", True)


@pytest.mark.parametrize("tool", ["list_mcp_tools", "call_mcp_tool"])
def test_without_servers(tool: str, tmp_path: Path) -> None:
    context = ToolContext(
        workspace=Workspace.open(tmp_path),
        launcher=Launcher({}),
        find_python=lambda: sys.executable,
        settings=ToolSettings(),
        timeout_s=20.0,
    )
    result = Toolbox(context).call(tool, {"tool": "mcp__a__b"} if tool == "call_mcp_tool" else {})

    assert (result.code, result.text) == ("not_found", "there are no MCP servers in the settings (mcp_servers)")
