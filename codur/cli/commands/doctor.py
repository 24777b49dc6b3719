"""`doctor`: says whether programs are contained here, and what else a run needs. `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options

_Strict = Annotated[bool, typer.Option("--strict", help="Fail if something that is promised is not held here.")]


def doctor(
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    json: options.Json = False,
    strict: _Strict = False,
) -> int:
    """Show how programs are contained here, and what else a run needs."""
    return actions.doctor.show_health(directory, config, json=json, strict=strict)
