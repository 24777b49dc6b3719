"""`trust`: accepts the files of a project that tell Codur what to do. `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


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
