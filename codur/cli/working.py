"""What `codur run` and `codur solve` do with what they were given."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from codur.batch.challenge import find_challenges
from codur.batch.solve import Solved, require_sandbox, solve_all
from codur.cli import surroundings
from codur.events import Note
from codur.session.run import run_task
from codur.session.stop import code_of
from codur.types import RunResult, Task
from codur.ui.lines import count
from codur.ui.output import Output, show
from codur.ui.sanitise import sanitise
from codur.ui.tables import ChallengeRow, challenge_line, challenge_table, route_text

NO_HOME = "no home directory is known."


def carry_out(
    prompt: str,
    directory: Path,
    *,
    config: Path | None,
    overrides: Mapping[str, Any],
    output: Mapping[str, bool],
    explain_route: bool,
    **task: Any,
) -> int:
    """Carry out one task and show it.

    Args:
        overrides: settings of the command line.
        output: the arguments of `surroundings.output`.
        task: further fields of `Task`.

    Returns:
        The exit code.
    """
    loaded = surroundings.settings_for(directory, config, overrides)
    asked = Task(
        prompt=prompt,
        workspace=str(directory.absolute()),
        limits=surroundings.limits_of(loaded.settings),
        **task,
    )
    host = surroundings.host()
    unkept = () if host.state or asked.dry_run else (f"the run is not kept: {NO_HOME} {surroundings.STATE_REMEDY}",)
    notes = (*loaded.notes, *unkept)
    shown: Output = surroundings.output(**output)
    try:
        for note in notes:
            shown.event(Note(level="warning", text=note))
        result = run_task(asked, loaded.settings, host=host, emit=shown.event)
    finally:
        shown.close()
    if output["json"]:  # the one object is all that is printed
        result = replace(result, notes=(*notes, *result.notes))
    return shown_result(result, shown, explain_route=explain_route)


def shown_result(result: RunResult, output: Output, *, explain_route: bool) -> int:
    """Show a result; give the exit code."""
    route = route_text(result.route) if explain_route else None
    try:
        output.result(result)
        if route is not None:
            show(route, sys.stderr)
    except KeyboardInterrupt as stop:  # not passed on: standard output has (part of) the result and gets no other one
        return code_of(stop)
    finally:
        output.close()
    return result.exit_code


def solve_challenges(
    directories: Sequence[Path],
    *,
    config: Path | None,
    overrides: Mapping[str, Any],
    agent: str | None,
    offline: bool,
    json: bool,
    no_sandbox: bool,
) -> int:
    """Solve challenges and show the table, also of a batch that is interrupted.

    Returns:
        0 if all were solved, 1 if not, 130 or 143 after an interrupt.

    Raises:
        Refused: nothing would contain the programs, and `no_sandbox` does not say that this is wanted.
    """
    settings = surroundings.settings_for(None, config, overrides).settings
    challenges = find_challenges(directories)
    host = surroundings.host()
    if not no_sandbox:
        require_sandbox(settings, host)
    items = solve_all(
        challenges,
        settings,
        surroundings.limits_of(settings),
        host=host,
        agent=agent,
        offline=offline,
    )
    solved: list[Solved] = []
    code = 0
    try:
        for item in items:
            solved.append(item)
            if not json:
                show(challenge_line(_row(item), number=len(solved), total=len(challenges)), sys.stderr)
    except KeyboardInterrupt as stop:
        code = code_of(stop)
        show(sanitise(f"interrupted; {len(solved)} of {count(len(challenges), 'challenge')} finished"), sys.stderr)
    _show_batch(solved, json=json)
    if code:
        return code
    return 0 if all(item.outcome == "solved" for item in solved) else 1


def _show_batch(solved: Sequence[Solved], *, json: bool) -> None:
    if json:
        show(sanitise(json_module.dumps([item.to_json() for item in solved])), sys.stdout)
    else:
        rows = [_row(item) for item in solved]
        show(challenge_table(rows, color=sys.stdout.isatty(), width=surroundings.width()), sys.stdout)


def _row(solved: Solved) -> ChallengeRow:
    result = solved.result
    return ChallengeRow(
        name=solved.challenge.name,
        outcome=solved.outcome,
        solved_by=result.solved_by,
        calls=result.model_calls,
        tokens=result.usage.total_tokens,
        cost=result.usage.cost_usd,
        seconds=result.duration_s,
        note=solved.note,
    )
