"""Command lines of words alone, and of `--offline`, without the parser, which takes 200 of 920 million instructions.

What a name means here, it means there: a test compares both.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codur.cli import actions
from codur.cli.default_command import TASK_COMMAND, with_command

COMMANDS: Final = (
    *("run", "route", "plan", "solve", "report", "repair", "verify", "bisect", "resume"),
    *("runs", "show", "diff", "undo", "commit", "init", "models", "graph", "tools", "trust", "doctor", "acp"),
    *("agents", "challenge", "mcp", "config"),
)
"""All commands; the parser has the same."""
COMPLETION_VARIABLE = "_CODUR_COMPLETE"
_MAX_CHARS = 100_000
_OFFLINE = "--offline"


def carry_out_words(argv: Sequence[str]) -> int | None:
    """Carry out a command line and give the exit code; None if that takes the parser.

    Raises:
        UsageError: it is nearly the name of a command.
    """
    given = [item for item in argv if item != _OFFLINE]
    odd = COMPLETION_VARIABLE in os.environ or any(item.startswith("-") for item in given)
    if odd or not 0 < len("".join(given).strip()) < _MAX_CHARS:
        return None
    command, *words = with_command(given, commands=COMMANDS, app_options=())
    offline, here, text = len(given) < len(argv), Path(), " ".join(words)
    if any(word.startswith("-") for word in words):
        return None  # said in words: "fix it and commit"
    if command == TASK_COMMAND and text.strip():
        task = actions.Task(prompt=text, workspace=str(here.absolute()), offline=offline)
        return actions.run.carry_out(task, actions.Showing(), overrides={})
    if command == "route" and text.strip() and not offline:
        actions.inspect.show_route(actions.Task(prompt=text, workspace=str(here)), here, None, json=False)
    elif [command, *argv[1:]] == ["runs"]:
        actions.runs.show_runs(here, everywhere=False, json=False)
    elif [command, *argv[1:]] == ["diff"]:
        actions.undo.show_diff(None, here, json=False)
    else:
        return None
    return 0
