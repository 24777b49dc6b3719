"""What `codur mcp` asks servers, and prints."""

import json as json_module
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.cli.printing import require_yes, say, say_found, tell
from codur.config.settings import McpServer, Settings
from codur.errors import UsageError
from codur.mcp.connection import Place
from codur.mcp.offered_tools import Definition, Listing, shown_name
from codur.mcp.servers import McpServers, Pins
from codur.parsing.json_values import read_json
from codur.redaction import Redactor
from codur.sandbox.launcher import Launcher
from codur.session.host import redactor_of
from codur.session.programs import uncontained
from codur.store.directory import StateDirectory
from codur.types import ToolCall


def show_servers(directory: Path, config: Path | None, *, json: bool) -> int:
    """Print the servers of the settings."""
    servers = _settings(directory, config).mcp_servers
    rows = [{"name": name, **_described(server)} for name, server in sorted(servers.items())]
    lines = [f"{row['name']}  {row['transport']} {row.get('host') or row['program']}" for row in rows]
    say_found(rows, lines, as_json=json, none="there are no MCP servers in the settings (mcp_servers)")
    return 0


def show_tools(name: str, directory: Path, config: Path | None, *, json: bool) -> int:
    """Print a server's tools."""
    with _opened(directory, config) as (servers, redact):
        listing = servers.tools(name)
        states = servers.states(name, listing)
    tools = [{**to_builtins(tool), "state": states[tool.name]} for tool in listing.tools]
    marks = {state: "" if state == "accepted" else f"[{state}] " for state in states.values()}
    lines = [f"{tool.name}  {marks[states[tool.name]]}{tool.description}" for tool in listing.tools]
    if listing.left_out:
        lines.append(f"{listing.left_out} more are left out")
    found = {"server": name, "tools": tools, "left_out": listing.left_out}
    say_found(found, lines, as_json=json, redact=redact, none=f"{name} has no tools")
    return 0


def call_tool(name: str, call: ToolCall, directory: Path, config: Path | None, *, json: bool) -> int:
    """Call a tool and print what it gives; returns 1 if it says that it failed."""
    with _opened(directory, config) as (servers, redact):
        servers.server(name)
        answer = servers.call(call.name, call.arguments)
    say_found({"tool": call.name, **to_builtins(answer)}, [answer.text], as_json=json, redact=redact)
    if answer.failed and not json:
        tell(f"✘ {call.name} says that it failed")
    return 1 if answer.failed else 0


def show_resources(name: str, directory: Path, config: Path | None, *, json: bool) -> int:
    """Print what a server offers for reading."""
    with _opened(directory, config) as (servers, redact):
        found = servers.resources(name)
    lines = [f"{entry.uri}  {entry.mime_type}  {entry.description or entry.name}" for entry in found]
    none = f"{name} has no resources"
    say_found({"server": name, "resources": found}, lines, as_json=json, redact=redact, none=none)
    return 0


def consider(name: str, directory: Path, config: Path | None, *, accept: bool, json: bool) -> int:
    """Show what is new or has changed of a server's tools; ask whether to accept them, if there is somebody to ask."""
    with _opened(directory, config) as (servers, redact):
        listing = servers.tools(name)
        news = _news(servers, name, listing, damaged_is_new=accept)
        if not json:
            say(redact("\n".join(news) or f"{name}: all tools are as first seen, or as last accepted"))
            if news and not accept:
                require_yes(
                    "Accept these tools as they are now?",
                    refused="the tools are not accepted",
                    unasked="Look at them, then run the same with --yes.",
                    declined="What was accepted before still counts.",
                )
                accept = True
        if accept:
            servers.trust(name, listing)
    if json:
        say(redact(json_module.dumps({"server": name, "accepted": accept or not news, "news": news})))
    elif accept:
        say("accepted")
    return 0


def _news(servers: McpServers, name: str, listing: Listing, *, damaged_is_new: bool) -> list[str]:
    try:
        known = servers.known(name)
    except UsageError:
        if not damaged_is_new:
            raise
        known = None
    if known is None:
        return [_news_line(tool, "new") for tool in listing.tools]
    states = [(tool, known.state_of(tool.tool, tool.digest)) for tool in listing.tools]
    gone = sorted(set(known.tools) - {tool.tool for tool in listing.tools})
    return [_news_line(tool, state) for tool, state in states if state != "accepted"] + [
        f"gone: {tool}" for tool in gone
    ]


def _news_line(tool: Definition, state: str) -> str:
    """All that is accepted is shown."""
    return f"{state}: {tool.name}: {tool.description}\n  {json_module.dumps(tool.schema)}"


def read_call(server: str, tool: str, arguments: str) -> ToolCall:
    """A call as a command line words it: the server's or the whole name of a tool, and JSON."""
    given = read_json(arguments)
    if not isinstance(given, dict):
        raise UsageError("the arguments are no JSON object", remedy="""Write them as '{"name": "value"}'.""")
    whole = tool if tool.startswith(f"mcp__{server}__") else shown_name(server, tool)
    return ToolCall(name=whole, arguments=given)


def _settings(directory: Path, config: Path | None) -> Settings:
    return machine.settings_for(directory, config, {}).settings


@contextmanager
def _opened(directory: Path, config: Path | None) -> Iterator[tuple[McpServers, Redactor]]:
    workspace = machine.existing(directory).resolve()
    settings = _settings(workspace, config)
    host = machine.host()
    pins = Pins(StateDirectory(host.state).mcp_file if host.state else None)
    with Launcher(host.environ, sandbox=settings.sandbox, state_cache=host.cache) as launcher:
        if launcher.name == "none" and any(server.command for server in settings.mcp_servers.values()):
            tell(f"warning: {uncontained(launcher.note)}")
        place = Place(launcher=launcher, environ=host.environ, workspace=workspace)
        with McpServers(settings.mcp_servers, place, pins=pins) as servers:
            yield servers, redactor_of(settings, host.environ, workspace)


def _described(server: McpServer) -> dict[str, Any]:
    """What may be shown: arguments and paths may hold secrets."""
    if server.url is not None:
        return {"transport": "http", "host": server.url.split("/")[2], "network": True}
    return {"transport": "stdio", "program": server.command[0], "network": server.network}
