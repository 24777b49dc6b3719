"""`codur agents list|show|test|new`: what they take; `actions` does the work."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options

agents_app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]
Known = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.", autocompletion=options.agents)]


class NewType(StrEnum):
    """The types that a template is written for."""

    cli = "cli"
    llm = "llm"
    coding = "coding"
    python = "python"


@agents_app.callback()
def _agents(
    context: typer.Context,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> None:
    if context.invoked_subcommand is None:
        agents_list(directory, config, json)


@agents_app.command("list")
def agents_list(
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> None:
    """List the agents: what each needs, and whether it can run here."""
    actions.agents.show_agents(directory, config, json=json)


@agents_app.command("show")
def agents_show(
    name: Known,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> None:
    """Show how an agent is declared, where each value comes from, and what it gets and may do."""
    actions.agents.show_agent(name, directory, config, json=json)


@agents_app.command("test")
def agents_test(
    name: Known,
    config: options.ConfigFile = None,
    json: options.Json = False,
    timeout: options.Timeout = None,
    no_sandbox: options.NoSandbox = False,
    verbose: options.Verbose = False,
) -> int:
    """Let an agent do a small task in an empty directory, and check it; exit 0 if the check passes."""
    overrides = options.overrides(no_sandbox=no_sandbox, max_runtime_s=timeout)
    return actions.agents.try_agent(name, config, overrides, json=json, verbose=verbose)


@agents_app.command("new")
def agents_new(
    name: Name,
    kind: Annotated[NewType, typer.Option("--type", help="What kind of agent.")] = NewType.cli,
) -> None:
    """Write a commented declaration of a new agent beside your settings; nothing is overwritten."""
    actions.agents.make_agent(name, kind.value)
