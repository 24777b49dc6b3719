"""`codur commit`: what it takes; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def commit(
    run: options.RunId = None,
    directory: options.Directory = Path(),
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="Commit message, in place of the one made.")
    ] = None,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Let no hook of the repository see it.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the message and the files.")] = False,
    json: options.Json = False,
) -> int:
    """Commit to git what a run changed, and nothing else."""
    wish = actions.commit.Wish(message=message, hooks=not no_verify, dry=dry_run)
    return actions.commit.commit_run(run, directory, wish, json=json)
