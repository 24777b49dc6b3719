"""`codur plan TASK`: what it takes; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options


def plan(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="What to plan; `-` reads it from standard input.")
    ] = None,
    directory: options.Directory = Path(),
    file: options.PromptFile = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the plan to FILE; print it otherwise.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    agent: options.AgentName = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Make a plan for a task; nothing is carried out."""
    text = options.read_prompt(prompt, file)

    task = actions.Task(
        prompt=text,
        workspace=str(directory.absolute()),
        check_is_goal=check is not None or expect is not None,
        check_command=options.read_check(check),
        expect_file=expect,
        agent=agent,
        plan_only=True,
    )
    showing = actions.Showing(json=json, raw=not json and to is None, verbose=verbose)
    return actions.plan.make(task, to=to, force=force, config=config, showing=showing)
