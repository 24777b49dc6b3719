"""The commands. Each module of this package that holds commands registers them here."""

import os
from collections.abc import Collection, Sequence
from typing import Final

import typer
from typer.core import TyperGroup
from typer.exceptions import Exit, TyperException

from codur import __version__
from codur.cli.commands.agents import agents_app
from codur.cli.commands.batch import challenge_app, report, solve
from codur.cli.commands.changes import bisect, commit, diff, undo
from codur.cli.commands.inspect import config_app, graph, route, tools
from codur.cli.commands.mcp import acp, mcp_app
from codur.cli.commands.repair import repair, verify
from codur.cli.commands.run import plan, run
from codur.cli.commands.runs import resume, runs, show
from codur.cli.commands.setup import doctor, init, models, trust
from codur.cli.default_command import with_command
from codur.cli.plain_words import COMPLETION_VARIABLE
from codur.errors import UsageError

_APP_OPTIONS = ("--help", "-h", "--version", "-V", "--install-completion", "--show-completion")
_UNITS = {"S": "a number of seconds", "USD": "an amount of dollars"}

HELP = """A coding agent for the terminal whose fixes are checked.

A word that is no command is a task: codur "fix main.py".
At a terminal, codur alone begins a conversation."""

_COMMANDS: Final = (
    *(run, route, plan, solve, report, repair, verify, bisect, resume),
    *(runs, show, diff, undo, commit, init, models, graph, tools, trust, doctor, acp),
)
_GROUPS: Final = {
    "agents": (agents_app, "List, show, try and make agents."),
    "challenge": (challenge_app, "Make a challenge directory; check that one is sound."),
    "mcp": (mcp_app, "Look at the MCP servers and their tools, call and accept them; serve."),
    "config": (config_app, "Show and check the settings."),
}
_NO_TASK: Final = 2  # a script whose task is empty must not take the help for a task that is done
NAMES: Final = (*(command.__name__ for command in _COMMANDS), *_GROUPS)


def program(names: Collection[str] = NAMES) -> TyperGroup:
    """The program with these of its commands. To build all takes four times as long as what a task's own takes."""
    app = typer.Typer(
        name="codur",
        help=HELP,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=False)(_options)
    for command in _COMMANDS:
        if command.__name__ in names:
            app.command()(command)
    for name, (group, text) in _GROUPS.items():
        if name in names:
            app.add_typer(group, name=name, help=text)
    found = typer.main.get_command(app)
    assert isinstance(found, TyperGroup)
    return found


def _options(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version.", is_eager=True),
    go_on: bool = typer.Option(False, "--continue", help="Go on with the last conversation, or tasks, here."),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something goes wrong."),
) -> None:
    if version:
        typer.echo(f"codur {__version__}")
        raise typer.Exit


def invoke(argv: Sequence[str]) -> int:
    """Find and call the command. Raises UsageError: the options or arguments are wrong."""
    if COMPLETION_VARIABLE in os.environ:
        program().main(prog_name="codur", complete_var=COMPLETION_VARIABLE)
    words = with_command(argv, commands=NAMES, app_options=_APP_OPTIONS)
    group = program(words[:1] if words[:1] and words[0] in NAMES else NAMES)
    try:
        # `main` of the group would turn Ctrl-C and a broken pipe into exits of its own
        with group.make_context("codur", words or ["--help"]) as context:
            code = group.invoke(context)
    except Exit as stop:
        return stop.exit_code if words else _NO_TASK
    except TyperException as error:
        remedy = "Run `codur --help`, or `codur COMMAND --help`, for what there is."
        raise UsageError(_number_problem(error) or " ".join(error.format_message().split()), remedy=remedy) from error
    return code if isinstance(code, int) else 0


def _number_problem(error: TyperException) -> str:
    """What an option takes that got no number, or one out of its range; empty if that is not what is wrong."""
    option = getattr(error, "param", None)
    kind = getattr(option, "type", None)
    name = getattr(kind, "name", "")
    if option is None or not name.startswith(("float", "int")):
        return ""
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    number = _UNITS.get(option.metavar or "", "a whole number" if name.startswith("int") else "a number")
    bounds = "" if least is None else f", {least:g} or more" if most is None else f" from {least:g} to {most:g}"
    return f"{max(option.opts, key=len)} must be {number}{bounds}"
