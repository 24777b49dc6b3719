"""What a step is said to do that asks an MCP server, by how the server is reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import McpServer
from codur.nodes.parts.approval_question import effects
from codur.nodes.run_state import initial_state
from codur.types import Plan, Step, Task
from tests.runs.kit import host, settings_for
from tests.support.groq_server import GroqServer
from tests.support.opened import opened

SERVERS = {
    "far": McpServer(url="https://mcp.example/"),
    "open": McpServer(command=("true",), network=True),
    "near": McpServer(command=("true",)),
}


@pytest.mark.parametrize(
    ("tool", "arguments", "network"),
    [
        ("call_mcp_tool", {"tool": "mcp__far__ask"}, True),
        ("call_mcp_tool", {"tool": "mcp__open__ask"}, True),
        ("call_mcp_tool", {"tool": "mcp__near__ask"}, False),
        ("call_mcp_tool", {"tool": "${found}"}, True),
        ("read_mcp_resource", {"server": "far", "uri": "a"}, True),
        ("read_mcp_resource", {"server": "near", "uri": "a"}, False),
        ("list_mcp_resources", {"server": "open"}, True),
        ("list_mcp_tools", {}, True),
        ("list_mcp_tools", {"server": "near"}, False),
        ("run_check", {}, False),
    ],
)
def test_a_server_that_is_reached_over_the_network_uses_it(
    tool: str, arguments: dict[str, Any], network: bool, tmp_path: Path
) -> None:
    step = Step(id="ask", action="tool", capability=tool, arguments=arguments)
    task = Task(prompt="ask", workspace=str(tmp_path))
    with GroqServer([]) as server:
        settings = structs.replace(settings_for(server), mcp_servers=SERVERS)
        with opened(task, settings, host=host(), emit=lambda event: None) as context:
            does = effects(Plan(steps=(step,), origin="user"), initial_state(task), context)
    assert does.kinds == (("run", "network") if network else ("run",))
