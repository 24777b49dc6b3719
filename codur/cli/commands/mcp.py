"""`mcp`: the configured MCP servers, and being one; `acp`. `actions` and `serving` do the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options, serving

mcp_app = options.group()

Name = Annotated[str, typer.Argument(metavar="NAME", help="A server of mcp_servers.")]


@mcp_app.command("list")
def mcp_list(
    directory: options.Directory = Path(), config: options.ConfigFile = None, json: options.Json = False
) -> int:
    """List the servers of the settings; nothing is started."""
    return actions.mcp.show_servers(directory, config, json=json)


@mcp_app.command("tools")
def mcp_tools(
    name: Name, directory: options.Directory = Path(), config: options.ConfigFile = None, json: options.Json = False
) -> int:
    """Start a server and list its tools, and whether they are as they were accepted."""
    return actions.mcp.show_tools(name, directory, config, json=json)


@mcp_app.command("call")
def mcp_call(
    name: Name,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The server's name for it, or mcp__NAME__TOOL.")],
    arguments: Annotated[str, typer.Argument(metavar="[JSON]", help="Its arguments, as a JSON object.")] = "{}",
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> int:
    """Call a tool. The exit code is 1 if the tool says that it failed."""
    return actions.mcp.call_tool(name, actions.mcp.read_call(name, tool, arguments), directory, config, json=json)


@mcp_app.command("resources")
def mcp_resources(
    name: Name, directory: options.Directory = Path(), config: options.ConfigFile = None, json: options.Json = False
) -> int:
    """List what a server offers for reading."""
    return actions.mcp.show_resources(name, directory, config, json=json)


@mcp_app.command("trust")
def mcp_trust(
    name: Name,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept without asking.")] = False,
    json: options.Json = False,
) -> int:
    """Show a server's tools that are new or have changed, and accept them all as they are now."""
    return actions.mcp.consider(name, directory, config, accept=yes, json=json)


@mcp_app.command("serve")
def mcp_serve(
    directory: options.Directory = Path(),
    http: Annotated[
        int | None,
        typer.Option("--http", min=0, max=65535, metavar="PORT", help="Serve HTTP on loopback (0: any free port)."),
    ] = None,
) -> int:
    """Offer checks, repairs and explanations to other agents, over standard input and output."""
    return serving.serve_mcp(directory, http)


def acp() -> int:
    """Be the agent of an editor, by the Agent Client Protocol over standard input and output."""
    return serving.serve_acp()
