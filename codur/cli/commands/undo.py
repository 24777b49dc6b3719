"""Commands on what a run changed: `undo`, `diff`. `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def undo(
    run: options.RunId = None,
    directory: options.Directory = Path(),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Take the last undo of the run back.")] = False,
    json: options.Json = False,
) -> int:
    """Put back what a run changed."""
    return actions.undo.undo_run(run, directory, dry=dry_run, again=redo, json=json)


def diff(run: options.RunId = None, directory: options.Directory = Path(), json: options.Json = False) -> None:
    """Show what a run changed."""
    actions.undo.show_diff(run, directory, json=json)
