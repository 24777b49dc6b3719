"""`codur TASK`, `codur run TASK` and `codur plan TASK`: what they take; `actions` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from codur import cli
from codur.cli import actions, options


def run(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="What to do; `-` reads it from standard input.")
    ] = None,
    directory: options.Directory = Path(),
    file: options.PromptFile = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    hint: options.Hint = None,
    plan: options.ShowPlan = False,
    plan_file: options.PlanFile = None,
    yes: options.Yes = False,
    offline: options.Offline = False,
    agent: options.AgentName = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the best attempt even if the check never passed.")] = False,
    keep_test: options.KeepTest = False,
    may_edit_tests: options.MayEditTests = False,
    commit: Annotated[
        bool, typer.Option("--commit", help="Commit what was changed, and nothing else, once it is done.")
    ] = False,
    goes_on: Annotated[
        bool, typer.Option("--continue", help="Go on with the last tasks here: it is told of them.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Work in a copy; print the diff, change nothing.")] = False,
    max_llm_calls: options.MaxCalls = None,
    max_iterations: options.MaxIterations = None,
    max_tokens: options.MaxTokens = None,
    timeout: options.Timeout = None,
    budget: options.Budget = None,
    samples: options.Samples = None,
    scope: options.Scope = None,
    max_files: options.MaxFiles = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    json_stream: options.JsonStream = False,
    raw: options.Raw = False,
    explain_route: options.ExplainRoute = False,
    record: options.RecordFile = None,
    replay: options.ReplayFile = None,
    show_prompts: options.ShowPrompts = False,
    no_sandbox: options.NoSandbox = False,
    wait: options.Wait = False,
    verbose: options.Verbose = False,
) -> int:
    """Carry out a task (the same as `codur TASK`)."""
    text = "" if plan_file is not None and not prompt and file is None else options.read_prompt(prompt, file)
    given = actions.plan.read(plan_file, directory) if plan_file is not None else None
    task = actions.Task(
        prompt=text or (given.task if given is not None else ""),
        workspace=str(directory.absolute()),
        check_is_goal=check is not None or expect is not None,
        check_command=options.read_check(check),
        expect_file=expect,
        hint=options.read_hint(hint),
        agent=agent,
        offline=offline,
        keep=keep,
        keep_test=keep_test,
        may_edit_tests=may_edit_tests,
        dry_run=dry_run,
        wait=wait,
        show_plan=plan,
        approved=yes,
        plan=given.plan if given is not None else None,
    )
    task = cli.continued(task) if goes_on else task
    carry_out = actions.commit.carry_out if commit else actions.run.carry_out
    return carry_out(
        task,
        actions.Showing(json=json, json_stream=json_stream, raw=raw, verbose=verbose, explain_route=explain_route),
        config=config,
        overrides=options.overrides(
            no_sandbox=no_sandbox,
            scope=scope,
            max_files=max_files,
            samples=samples,
            max_llm_calls=max_llm_calls,
            max_iterations=max_iterations,
            max_tokens=max_tokens,
            max_runtime_s=timeout,
            max_cost_usd=budget,
        ),
        exchanges=actions.run.exchanges(record, replay, show=show_prompts, offline=offline),
    )


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
