"""`codur models`: what it takes; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


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
