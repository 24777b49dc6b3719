"""`codur repair` and `codur verify`: what they take; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def repair(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files to repair, or the directory; by default what the check runs."),
    ] = None,
    directory: options.Directory = Path(),
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    hint: options.Hint = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds to search; 60 by default.")
    ] = None,
    budget: Annotated[float | None, typer.Option("--budget", min=0.1, metavar="S", hidden=True)] = None,
    order: Annotated[int | None, typer.Option("--max-order", min=1, metavar="N", help="Edits in one repair.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, metavar="N", help="Processes side by side.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Go on after the first, show every repair that passes, change nothing.")
    ] = False,
    pick: Annotated[
        int,
        typer.Option(
            "--pick",
            min=1,
            metavar="N",
            help="Apply repair N of those that --all shows with the same --timeout: another one may find others.",
        ),
    ] = 1,
    since: Annotated[
        str | None, typer.Option("--since", metavar="REV", help="Suspect what changed since this commit or tag.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Work in a copy; print the diff, change nothing.")] = False,
    scope: options.Scope = None,
    max_files: options.MaxFiles = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    json_stream: options.JsonStream = False,
    raw: options.Raw = False,
    explain_route: options.ExplainRoute = False,
    no_sandbox: options.NoSandbox = False,
    wait: options.Wait = False,
    verbose: options.Verbose = False,
) -> int:
    """Search for a repair without a model, by the check alone."""
    root, files = actions.run.repair_place(paths or [], directory)
    if budget is not None:
        actions.warn("--budget means dollars elsewhere; --timeout takes the seconds of a search")
    searching = {"offline_budget_s": budget if timeout is None else timeout, "max_order": order, "workers": workers}
    given = {name: value for name, value in searching.items() if value is not None}
    task = actions.Task(
        prompt=" ".join(["repair", *files]),
        workspace=str(root.absolute()),
        check_is_goal=True,
        check_command=options.read_check(check),
        expect_file=expect,
        hint=options.read_hint(hint),
        offline=True,
        dry_run=dry_run or every,
        wait=wait,
        repair=actions.run.repair_request(files, every=every, pick=pick, since=since),
    )
    return actions.run.carry_out(
        task,
        actions.Showing(json=json, json_stream=json_stream, raw=raw, verbose=verbose, explain_route=explain_route),
        config=config,
        overrides={
            **options.overrides(no_sandbox=no_sandbox, scope=scope, max_files=max_files),
            **({"repair": given} if given else {}),
        },
    )


def verify(
    directory: options.Directory = Path(),
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    timeout: options.Timeout = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    json_stream: options.JsonStream = False,
    no_sandbox: options.NoSandbox = False,
    wait: options.Wait = False,
    verbose: options.Verbose = False,
) -> int:
    """Find the check and run it; nothing is changed."""
    task = actions.Task(
        prompt="verify",
        workspace=str(directory.absolute()),
        check_is_goal=True,
        check_command=options.read_check(check),
        expect_file=expect,
        offline=True,
        wait=wait,
        repair=actions.RepairRequest(until="verdict"),
    )
    return actions.run.carry_out(
        task,
        actions.Showing(json=json, json_stream=json_stream, verbose=verbose),
        config=config,
        overrides=options.overrides(no_sandbox=no_sandbox, max_runtime_s=timeout),
    )
