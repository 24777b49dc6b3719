"""What `codur mcp` asks servers, and prints."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.config.settings import McpServer, Settings
from codur.errors import Refused, UsageError
from codur.mcp.connection import Place
from codur.mcp.offered_tools import Definition, Listing, shown_name
from codur.mcp.pins import Pins
from codur.mcp.servers import McpServers
from codur.redaction import Redactor
from codur.sandbox.launcher import Launcher
from codur.session.host import redactor_of
from codur.session.programs import uncontained
from codur.store.directory import StateDirectory
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise


def show_servers(directory: Path, config: Path | None, *, json: bool) -> int:
    """Print the servers of the settings."""
    servers = _settings(directory, config).mcp_servers
    if json:
        _print(json_module.dumps([{"name": name, **_described(server)} for name, server in sorted(servers.items())]))
    else:
        lines = [f"{name}  {_way(server)}" for name, server in sorted(servers.items())]
        _print("\n".join(lines) or "there are no MCP servers in the settings (mcp_servers)")
    return 0


def show_tools(name: str, directory: Path, config: Path | None, *, json: bool) -> int:
    """Print a server's tools.

    Raises:
        McpError: it cannot be used.
    """
    with _opened(directory, config) as (servers, redact):
        listing = servers.tools(name)
        states = servers.states(name, listing)
    tools = [{**to_builtins(tool), "state": states[tool.name]} for tool in listing.tools]
    if json:
        _print(redact(json_module.dumps({"server": name, "tools": tools, "left_out": listing.left_out})))
        return 0
    marks = {state: "" if state == "accepted" else f"[{state}] " for state in states.values()}
    lines = [f"{tool.name}  {marks[states[tool.name]]}{tool.description}" for tool in listing.tools]
    if listing.left_out:
        lines.append(f"{listing.left_out} more are left out")
    _print(redact("\n".join(lines)) or f"{name} has no tools")
    return 0


def call_tool(name: str, tool: str, arguments: str, directory: Path, config: Path | None, *, json: bool) -> int:
    """Call a tool and print what it gives; returns 1 if it says that it failed.

    Raises:
        UsageError: the arguments are no JSON object.
        McpError: the server cannot be used, or the tool is not as it was accepted.
    """
    given = _arguments(arguments)
    whole = tool if tool.startswith(f"mcp__{name}__") else shown_name(name, tool)
    with _opened(directory, config) as (servers, redact):
        servers.server(name)
        answer = servers.call(whole, given)
    if json:
        _print(redact(json_module.dumps({"tool": whole, **to_builtins(answer)})))
    else:
        _print(redact(answer.text))
    return 1 if answer.failed else 0


def show_resources(name: str, directory: Path, config: Path | None, *, json: bool) -> int:
    """Print what a server offers for reading.

    Raises:
        McpError: it cannot be used.
    """
    with _opened(directory, config) as (servers, redact):
        found = servers.resources(name)
    if json:
        _print(redact(json_module.dumps({"server": name, "resources": [to_builtins(entry) for entry in found]})))
    else:
        lines = [f"{entry.uri}  {entry.mime_type}  {entry.description or entry.name}" for entry in found]
        _print(redact("\n".join(lines)) or f"{name} has no resources")
    return 0


def consider(name: str, directory: Path, config: Path | None, *, accept: bool, json: bool) -> int:
    """Show what is new or has changed of a server's tools; ask whether to accept them, if there is somebody to ask.

    Raises:
        McpError: the server cannot be used.
        Refused: the user said no, or there is nobody to ask.
    """
    with _opened(directory, config) as (servers, redact):
        listing = servers.tools(name)
        news = _news(servers, name, listing, damaged_is_new=accept)
        if not json:
            _print(redact("\n".join(news) or f"{name}: all tools are as they were accepted"))
            accept = accept or (bool(news) and _asked())
        if accept:
            servers.trust(name, listing)
    if json:
        _print(redact(json_module.dumps({"server": name, "accepted": accept or not news, "news": news})))
    elif accept:
        _print("accepted")
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


def _asked() -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused(
            "the tools are not accepted: there is no terminal to ask in",
            remedy="Look at them, then run the same with --yes.",
        )
    _print("Accept these tools as they are now? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused("the tools are not accepted", remedy="What was accepted before still counts.")
    return True


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = json_module.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the arguments are no JSON", remedy="""Write them as '{"name": "value"}'.""") from error
    if not isinstance(given, dict):
        raise UsageError("the arguments are no JSON object", remedy="""Write them as '{"name": "value"}'.""")
    return given


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
            show(sanitise(f"warning: {uncontained(launcher.note)}"), sys.stderr)
        place = Place(launcher=launcher, environ=host.environ, workspace=workspace)
        with McpServers(settings.mcp_servers, place, pins=pins) as servers:
            yield servers, redactor_of(settings, host.environ)


def _described(server: McpServer) -> dict[str, Any]:
    """What may be shown: arguments and paths may hold secrets."""
    if server.url is not None:
        return {"transport": "http", "host": server.url.split("/")[2], "network": True}
    return {"transport": "stdio", "program": server.command[0], "network": server.network}


def _way(server: McpServer) -> str:
    told = _described(server)
    return f"http {told['host']}" if server.url is not None else f"stdio {told['program']}"


def _print(text: str) -> None:
    show(sanitise(text), sys.stdout)
