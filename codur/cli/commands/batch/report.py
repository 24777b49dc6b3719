"""`codur report RESULTS…`: what it takes; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS…", help="Result files of `codur solve`, or their directories.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="Write there; by default beside the results, or in codur-report for several.",
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    json: options.Json = False,
) -> int:
    """Build the page of batches again, and compare agents."""
    return actions.batch.report.build(results, output=output, junit=junit, json=json)
