"""`codur init`: what it takes; `actions` does the work."""

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
