"""`codur solve DIR…`."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from codur.batch.challenge import find_challenges
from codur.batch.solve import Solved, solve_all
from codur.cli import options
from codur.cli.run import limits_of
from codur.ui.output import show
from codur.ui.sanitise import sanitise
from codur.ui.tables import ChallengeRow, challenge_line, challenge_table


def solve(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Challenges, or directories that hold some.")
    ],
    agent: options.AgentName = None,
    offline: options.Offline = False,
    max_llm_calls: options.MaxCalls = None,
    max_iterations: options.MaxIterations = None,
    max_tokens: options.MaxTokens = None,
    timeout: options.Timeout = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> int:
    """Solve challenges, each in a copy; exit 0 if all were solved, else 1."""
    overrides = options.limits(calls=max_llm_calls, iterations=max_iterations, tokens=max_tokens, timeout=timeout)
    settings = options.settings_for(None, config, overrides).settings
    challenges = find_challenges(directories)
    rows: list[ChallengeRow] = []
    results: list[Solved] = []
    for solved in solve_all(
        challenges, settings, limits_of(settings), host=options.host(), agent=agent, offline=offline
    ):
        rows.append(_row(solved))
        results.append(solved)
        if not json:
            show(challenge_line(rows[-1], number=len(rows), total=len(challenges)), sys.stderr)
    if json:
        show(sanitise(json_module.dumps([item.to_json() for item in results])), sys.stdout)
    else:
        show(challenge_table(rows, color=sys.stdout.isatty(), width=options.width()), sys.stdout)
    return 0 if all(row.outcome == "solved" for row in rows) else 1


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
