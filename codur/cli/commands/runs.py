"""Commands on runs that are kept: `runs`, `show`, `resume`. `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options

ShownRun = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN",
        help="Id of a run, or its beginning (see `codur runs`), or `last`; RESULTS/NAME for one of `codur solve`.",
        autocompletion=options.run_ids,
    ),
]


def runs(
    directory: options.Directory = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Also the runs in other directories.")] = False,
    json: options.Json = False,
) -> None:
    """List the runs that are kept, newest first."""
    actions.runs.show_runs(directory, everywhere=everywhere, json=json)


def show(
    run: ShownRun = None,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where --html writes.")] = None,
    directory: options.Directory = Path(),
    prompts: Annotated[bool, typer.Option("--prompts", help="Also the requests to models, as they were sent.")] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Write one page with all of it to FILE, or to codur-RUN.html.")
    ] = False,
    test: Annotated[bool, typer.Option("--test", help="Only the test that was made for the task.")] = False,
    json: options.Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also who decided each way, and why.")] = False,
) -> None:
    """Show what a run did."""
    if html:
        if run is not None and file is None and run.endswith(".html"):
            file = Path(run)
            run = None
        actions.runs.write_page(run, directory, file)
    elif test:
        actions.runs.show_test(run, directory)
    else:
        actions.runs.show_run(run, directory, prompts=prompts, verbose=verbose, json=json)


def resume(
    run: options.RunId = None,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
    no_sandbox: options.NoSandbox = False,
    wait: options.Wait = False,
    yes: options.Yes = False,
    json: options.Json = False,
    json_stream: options.JsonStream = False,
    raw: options.Raw = False,
    explain_route: options.ExplainRoute = False,
    verbose: options.Verbose = False,
) -> int:
    """Go on with a run that was stopped or killed."""
    return actions.run.resume_run(
        actions.runs.cut_off(run, directory),
        actions.Showing(json=json, json_stream=json_stream, raw=raw, verbose=verbose, explain_route=explain_route),
        config_file=config,
        overrides=options.overrides(no_sandbox=no_sandbox),
        wait=wait,
        yes=yes,
    )
