"""`codur solve DIR…`: what it takes. `working` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import options


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
    no_sandbox: options.NoSandbox = False,
) -> int:
    """Solve challenges, each in a copy; exit 0 if all were solved, else 1."""
    from codur.cli import working  # noqa: PLC0415 - lazy: `codur --help` needs none of it

    return working.solve_challenges(
        directories,
        config=config,
        overrides=options.overrides(
            no_sandbox=no_sandbox, calls=max_llm_calls, iterations=max_iterations, tokens=max_tokens, timeout=timeout
        ),
        no_sandbox=no_sandbox,
        agent=agent,
        offline=offline,
        json=json,
    )
