"""Commands on what runs need: `init`, `trust`, `models`, `doctor`. `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def init(
    directory: options.Directory = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write it without asking.")] = False,
    json: options.Json = False,
) -> int:
    """Write a commented settings file for the project.

    Nothing is overwritten.
    """
    return actions.init.begin(directory, yes=yes, json=json)


def trust(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="The project; else the current one.")] = Path(),
    every: Annotated[bool, typer.Option("--list", help="List all accepted projects.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Accept nothing of the project any more.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept without asking.")] = False,
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> int:
    """Look at a project's settings and instructions, and accept them."""
    if every:
        return actions.trust.show_accepted(json=json)
    if revoke:
        return actions.trust.revoke(directory, json=json)
    return actions.trust.consider(directory, config, accept=yes, json=json)


def models(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROFILE…]", help="Only these; else all that are configured.", autocompletion=options.profiles
        ),
    ] = None,
    test: Annotated[
        bool, typer.Option("--test", help="Ask each that can be asked for a word; exit 3 if one does not answer.")
    ] = False,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds for each test.")] = 20.0,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> int:
    """List the models: keys, prices, and who answers.

    Of a key it tells where it comes from, never the key itself.
    """
    seconds = timeout if test else None
    return actions.models.show_models(names or (), directory, config, test_s=seconds, json=json)


_Strict = Annotated[bool, typer.Option("--strict", help="Fail if something that is promised is not held here.")]


def doctor(
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
    strict: _Strict = False,
) -> int:
    """Show how programs are contained here, and what else a run needs."""
    return actions.doctor.show_health(directory, config, json=json, strict=strict)
