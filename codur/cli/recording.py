"""What the commands on runs that are kept do."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codur.cli import surroundings
from codur.cli.asking import shows_plans, user_at
from codur.cli.working import shown_result
from codur.config.agent_files import shipped_names
from codur.events import Note
from codur.session.run import resume_task
from codur.store.run_record import RunRecord
from codur.ui.output import show
from codur.ui.records import run_text, runs_table
from codur.ui.sanitise import sanitise


def show_runs(directory: Path, *, everywhere: bool, json: bool) -> None:
    """Print the runs of a directory, or of all."""
    records, unreadable = surroundings.kept_runs().scan(None if everywhere else _real(directory))
    if not records and not everywhere:
        surroundings.existing(directory)  # runs of a directory that is gone are still listed
    if json:
        _print(json_module.dumps([_listed(record) for record in records]))
    elif records:
        table = runs_table(
            records,
            now=datetime.now(UTC),
            workspaces=everywhere,
            color=sys.stdout.isatty(),
            width=surroundings.width(),
        )
        show(table, sys.stdout)
    else:
        _print("no run is kept" + ("" if everywhere else " of this directory; see `codur runs --all`"))
    for item in unreadable:
        show(sanitise(f"warning: {item.problem}", keep_newlines=False), sys.stderr)


def _listed(record: RunRecord) -> dict[str, Any]:
    """A run as `runs --json` gives it: without what only resuming needs."""
    kept = asdict(record)
    return {name: value for name, value in kept.items() if name not in {"task", "process"}}


def show_run(wanted: str | None, directory: Path, *, prompts: bool, json: bool) -> None:
    """Print what a run did.

    Raises:
        UsageError: there is no such run, or its record cannot be used.
    """
    run = surroundings.kept_runs().find(wanted, workspace=_real(directory))
    record, result = run.record(), run.result()
    problems: list[str] = []
    trace = run.trace.read(on_damage=problems.append)
    if json:
        trace = [event for event in trace if prompts or event.get("event") != "model_prompted"]
        _print(json_module.dumps({"record": asdict(record), "trace": trace, "result": result}))
    else:
        show(run_text(record, trace, result, prompts=prompts), sys.stdout)
    for problem in problems:
        show(sanitise(f"warning: {problem}", keep_newlines=False), sys.stderr)


def resume_run(
    wanted: str | None,
    directory: Path,
    *,
    config: Path | None,
    overrides: Mapping[str, Any],
    output: Mapping[str, bool],
    explain_route: bool,
    wait: bool,
    yes: bool,
) -> int:
    """Go on with a run.

    Args:
        wanted: its id or the beginning of one; None for the newest of the directory that was cut off.
        overrides: settings of the command line.
        output: the arguments of `surroundings.output`.
        yes: the user approves of any plan.

    Returns:
        The exit code.

    Raises:
        UsageError: there is no such run, or it cannot be gone on with.
        WorkspaceBusy: another run works in its directory, and `wait` is not given.
    """
    run = surroundings.kept_runs().find(
        wanted, workspace=_real(directory), fits=lambda record: record.can_be_resumed, that="was cut off"
    )
    record = run.record()
    workspace = Path(record.workspace)
    loaded = surroundings.settings_for(workspace, config, overrides, agents=shipped_names())
    shown = surroundings.output(**output)
    try:
        for note in loaded.notes:
            shown.event(Note(level="warning", text=note))
        user = user_at(shown, task=record.prompt, workspace=workspace, approves=yes)
        host = replace(surroundings.host(), stream=surroundings.shows_words(**output), consult=user)
        result = resume_task(run, loaded.settings, host=host, emit=shows_plans(shown), wait=wait)
    finally:
        shown.close()
    return shown_result(result, shown, explain_route=explain_route)


def _real(directory: Path) -> Path:
    return directory.absolute().resolve()


def _print(text: str) -> None:
    show(sanitise(text), sys.stdout)
