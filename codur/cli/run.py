"""`codur TASK` and `codur run TASK`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from codur.cli import options
from codur.config.settings import Settings
from codur.events import Note
from codur.session.run import run_task
from codur.types import Limits, Task
from codur.ui.output import Output, show
from codur.ui.tables import route_text


def run(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="What to do; `-` reads it from standard input.")
    ] = None,
    directory: options.Directory = Path(),
    file: options.PromptFile = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    offline: options.Offline = False,
    agent: options.AgentName = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the best attempt even if the check never passed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Work in a copy; print the diff, change nothing.")] = False,
    max_llm_calls: options.MaxCalls = None,
    max_iterations: options.MaxIterations = None,
    max_tokens: options.MaxTokens = None,
    timeout: options.Timeout = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    json_stream: Annotated[bool, typer.Option("--json-stream", help="Print each event as a JSON line.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print only the answer, or only the diff.")] = False,
    explain_route: Annotated[
        bool, typer.Option("--explain-route", help="At the end, show each decision and who took it.")
    ] = False,
    verbose: options.Verbose = False,
) -> int:
    """Carry out a task."""
    text = options.read_prompt(prompt, file)
    overrides = options.limits(calls=max_llm_calls, iterations=max_iterations, tokens=max_tokens, timeout=timeout)
    loaded = options.settings_for(directory, config, overrides)
    task = Task(
        prompt=text,
        workspace=str(directory.absolute()),
        limits=limits_of(loaded.settings),
        check_is_goal=check is not None or expect is not None,
        check_command=check,
        expect_file=expect,
        agent=agent,
        offline=offline,
        keep=keep,
        dry_run=dry_run,
    )
    shown = options.output(json=json, json_stream=json_stream, raw=raw, verbose=verbose)
    return _carry_out(task, loaded.settings, loaded.notes, shown, explain_route=explain_route)


def _carry_out(task: Task, settings: Settings, notes: tuple[str, ...], shown: Output, *, explain_route: bool) -> int:
    try:
        for note in notes:
            shown.event(Note(level="warning", text=note))
        result = run_task(task, settings, host=options.host(), emit=shown.event)
        shown.result(result)
    finally:
        shown.close()
    if explain_route:
        show(route_text(result.route), sys.stderr)
    return result.exit_code


def limits_of(settings: Settings) -> Limits:
    """The run's limits, as the settings say."""
    runtime = settings.runtime
    return Limits(
        max_iterations=runtime.max_iterations,
        max_llm_calls=runtime.max_llm_calls,
        max_tokens=runtime.max_tokens,
        max_cost_usd=runtime.max_cost_usd,
        max_runtime_s=runtime.max_runtime_s,
    )
