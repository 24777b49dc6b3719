"""What `codur run` and `codur solve` do with what they were given."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.batch.challenge import find_challenges
from codur.batch.solve import Solved, solve_all
from codur.cli import surroundings
from codur.events import Note
from codur.session.run import run_task
from codur.types import Task
from codur.ui.output import Output, show
from codur.ui.sanitise import sanitise
from codur.ui.tables import ChallengeRow, challenge_line, challenge_table, route_text


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
    shown: Output = surroundings.output(**output)
    try:
        for note in loaded.notes:
            shown.event(Note(level="warning", text=note))
        result = run_task(asked, loaded.settings, host=surroundings.host(), emit=shown.event)
        shown.result(result)
    finally:
        shown.close()
    if explain_route:
        show(route_text(result.route), sys.stderr)
    return result.exit_code


def solve_challenges(
    directories: Sequence[Path],
    *,
    config: Path | None,
    overrides: Mapping[str, Any],
    agent: str | None,
    offline: bool,
    json: bool,
) -> int:
    """Solve challenges and show the table; 0 if all were solved, else 1."""
    settings = surroundings.settings_for(None, config, overrides).settings
    challenges = find_challenges(directories)
    solved: list[Solved] = []
    for item in solve_all(
        challenges,
        settings,
        surroundings.limits_of(settings),
        host=surroundings.host(),
        agent=agent,
        offline=offline,
    ):
        solved.append(item)
        if not json:
            show(challenge_line(_row(item), number=len(solved), total=len(challenges)), sys.stderr)
    if json:
        show(sanitise(json_module.dumps([item.to_json() for item in solved])), sys.stdout)
    else:
        rows = [_row(item) for item in solved]
        show(challenge_table(rows, color=sys.stdout.isatty(), width=surroundings.width()), sys.stdout)
    return 0 if all(item.outcome == "solved" for item in solved) else 1


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
