"""Commands on batches of challenges: `solve`, `report`, `challenge new|check`. `actions` does the work."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from codur.cli import actions, options


def solve(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Challenges, or directories that hold some, at any depth.")
    ],
    dataset: Annotated[
        Path | None,
        typer.Option(
            "--dataset", metavar="FILE", help="Instances of SWE-bench, one a line, each checked out in DIR/instance_id."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=1000,
            metavar="N",
            help="Challenges at the same time [as many as processors]; with a remote model more are worth it, say 16.",
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option("--engine", help="Who does the work: this machine, or a Ray cluster."),
    ] = "local",
    address: Annotated[
        str,
        typer.Option("--address", metavar="HOST:PORT", help="The Ray cluster; `auto`: that of this machine [its own]."),
    ] = "",
    resource: Annotated[
        list[str] | None,
        typer.Option(
            "--resource", metavar="NAME=N", help="What an attempt takes of a machine of the cluster [num_cpus=1]."
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            autocompletion=options.agents,
            help="Agent or llm:PROFILE to work with (see `codur agents`); given more than once, each of them is tried.",
        ),
    ] = None,
    attempts: Annotated[
        int, typer.Option("--attempts", min=1, max=1000, metavar="K", help="Independent attempts at each challenge.")
    ] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="GLOB", help="Only challenges whose name matches one of these, e.g. 'sums/*'."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N challenges.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds at most for each challenge.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0.0, metavar="USD", help="Dollars at most for the whole batch.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, metavar="N", help="Tokens at most for the whole batch.")
    ] = None,
    max_llm_calls: Annotated[
        int | None, typer.Option("--max-llm-calls", min=0, metavar="N", help="Model calls at most for each challenge.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option("--max-iterations", min=1, metavar="N", help="Tries at most within an attempt.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results", metavar="DIR", help="Where results are kept [codur-results/<time> in this directory]."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with earlier results: do what is missing.")] = False,
    rerun_failed: Annotated[
        bool, typer.Option("--rerun-failed", help="As --resume, and do again what was not solved.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Put earlier results aside and start over.")] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write what is solved back to the challenges themselves.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Show what would be done, and do nothing.")] = False,
    yes: options.Yes = False,
    offline: options.Offline = False,
    samples: options.Samples = None,
    scope: options.Scope = None,
    max_files: options.MaxFiles = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Also keep requests and answers with each challenge's results.")
    ] = False,
    show_prompts: options.ShowPrompts = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no table.")] = False,
    no_sandbox: options.NoSandbox = False,
) -> int:
    """Solve challenge directories, side by side, each in a copy."""
    given = locals()  # first: the request has each option under the same name
    lists = {name: tuple(given[name] or ()) for name in ("directories", "agent", "only", "scope", "resource")}
    modes = {name: given.pop(name) for name in ("resume", "rerun_failed", "fresh")}
    request = actions.SolveRequest(**{**given, **lists}, mode=actions.batch.solve.mode_of(**modes))
    return actions.batch.solve.solve_challenges(request)


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
