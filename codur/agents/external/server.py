"""Runs agents of type `mcp`: one tool of one MCP server gets the task, and works in the copy of the workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from codur.agents.external.protocol import Answer, End, Job, McpRunner
from codur.config.reading.setting_rules import PLACE
from codur.mcp.offered_tools import shown_name
from codur.mcp.server_errors import McpError

if TYPE_CHECKING:
    from codur.agents.registry import Agent
    from codur.mcp.servers import McpServers


def server_runner(servers: Callable[[], McpServers]) -> McpRunner:
    """What runs agents on the servers that are asked for when one runs."""

    def run(agent: Agent, job: Job) -> Answer:
        config = agent.config
        places = {"prompt": job.prompt, "workspace": str(job.directory)}
        try:
            text = servers().delegate(
                shown_name(config.server, config.tool),
                job.directory,
                {name: _filled(value, places) for name, value in config.arguments.items()},
                prompt=None if any(map(_has_prompt, config.arguments.values())) else job.prompt,
                timeout_s=job.timeout_s,
            )
        except McpError as error:
            end: End = "timed_out" if error.code == "timeout" else "ended"
            return Answer(error=error.message, end=end)
        return Answer(text=text)

    return run


def _has_prompt(value: Any) -> bool:
    return isinstance(value, str) and any(found[1] == "prompt" for found in PLACE.finditer(value))


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    """The value with the places in its texts filled; what is put in is not looked at for places again."""
    if isinstance(value, str):
        return PLACE.sub(lambda found: places.get(found[1], found[0]) if found[1] else found[0][0], value)
    if isinstance(value, Mapping):
        return {name: _filled(item, places) for name, item in value.items()}
    return [_filled(item, places) for item in value] if isinstance(value, list | tuple) else value
