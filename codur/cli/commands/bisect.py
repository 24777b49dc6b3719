"""`codur bisect`: what it takes; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def bisect(
    directory: options.Directory = Path(),
    good: Annotated[
        str | None,
        typer.Option("--good", metavar="REV", help="A commit at which the check passes; else one is sought."),
    ] = None,
    bad: Annotated[
        str | None, typer.Option("--bad", metavar="REV", help="A commit at which it fails; by default the last one.")
    ] = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    timeout: options.Timeout = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    no_sandbox: options.NoSandbox = False,
) -> int:
    """Find the commit since which the check fails."""
    return actions.bisect.find_commit(
        directory,
        actions.Wanted(
            good=actions.run.read_revision("--good", good),
            bad=actions.run.read_revision("--bad", bad),
            check_command=options.read_check(check),
            expect_file=expect,
        ),
        config=config,
        overrides=options.overrides(no_sandbox=no_sandbox, max_runtime_s=timeout),
        json=json,
    )
