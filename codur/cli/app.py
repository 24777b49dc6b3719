"""The commands. Each module of this package that holds commands registers them here."""

from __future__ import annotations

import typer

from codur import __version__
from codur.cli.commands.agents import agents_app
from codur.cli.commands.bisect import bisect
from codur.cli.commands.challenge import challenge_app
from codur.cli.commands.doctor import doctor
from codur.cli.commands.inspect import config_app, graph, route, tools
from codur.cli.commands.mcp import mcp_app
from codur.cli.commands.plan import plan
from codur.cli.commands.repair import repair
from codur.cli.commands.report import report
from codur.cli.commands.run import run
from codur.cli.commands.runs import resume, runs, show
from codur.cli.commands.solve import solve
from codur.cli.commands.trust import trust
from codur.cli.commands.undo import diff, undo

HELP = """A coding agent for the terminal whose fixes are checked.

A word that is no command is a task: codur "fix main.py".
At a terminal, codur alone begins a conversation."""

app = typer.Typer(
    name="codur",
    help=HELP,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(help="Carry out a task (the same as `codur TASK`).")(run)
app.command(help="Show what is decided about a task without a model; nothing is carried out.")(route)
app.command(help="Make a plan for a task; nothing is carried out.")(plan)
app.command(help="Solve challenge directories, side by side, each in a copy.")(solve)
app.command(help="Build the page of batches again, and compare agents.")(report)
app.command(help="Search for a repair without a model, by the check alone.")(repair)
app.command(help="Find the commit since which the check fails.")(bisect)
app.command(help="Go on with a run that was stopped or killed.")(resume)
app.command(help="List the runs that are kept, newest first.")(runs)
app.command(help="Show what a run did.")(show)
app.command(help="Show what a run changed.")(diff)
app.command(help="Put back what a run changed.")(undo)
app.command(help="Show the graph that every run takes.")(graph)
app.command(help="List the tools, and which can follow which.")(tools)
app.command(help="Look at a project's settings and instructions, and accept them.")(trust)
app.command(help="Show how programs are contained here, and what else a run needs.")(doctor)
app.add_typer(agents_app, name="agents", help="List, show, try and make agents.")
app.add_typer(challenge_app, name="challenge", help="Make a challenge directory; check that one is sound.")
app.add_typer(mcp_app, name="mcp", help="Look at the MCP servers and their tools, call them, and accept them.")
app.add_typer(config_app, name="config", help="Show and check the settings.")


@app.callback(invoke_without_command=False)
def _options(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version.", is_eager=True),
    go_on: bool = typer.Option(False, "--continue", help="Go on with the last conversation here."),  # noqa: ARG001 - as below
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something goes wrong."),  # noqa: ARG001 - taken out by `main`, listed here for the help
) -> None:
    if version:
        typer.echo(f"codur {__version__}")
        raise typer.Exit
