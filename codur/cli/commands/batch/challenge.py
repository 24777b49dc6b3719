"""`codur challenge new|check`: what they take; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options

challenge_app = options.group()


@challenge_app.command("new")
def challenge_new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of its directory.")],
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Make it in DIR.")] = Path(),
    tests: Annotated[bool, typer.Option("--tests", help="Check it by tests rather than by what it prints.")] = False,
) -> int:
    """Make a challenge directory with a small example to replace; nothing is overwritten."""
    return actions.batch.challenge.make(name, output, tests=tests)


@challenge_app.command("check")
def challenge_check(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Challenges, or directories that hold some.")
    ],
    config: options.ConfigFile = None,
    json: options.Json = False,
    no_sandbox: options.NoSandbox = False,
) -> int:
    """Say of each challenge whether its check is found, red, and the same in two runs; exit 1 if one is not sound."""
    return actions.batch.challenge.check(directories, config=config, json=json, no_sandbox=no_sandbox)
