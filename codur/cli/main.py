"""Runs the command line: finds the command, tells errors in a line, gives the exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import typer
from typer.exceptions import Exit, TyperException

from codur.cli.app import app
from codur.cli.words import TASK_COMMAND, with_command
from codur.errors import CodurError, UsageError

_APP_OPTIONS = ("--help", "-h", "--version", "-V", "--install-completion", "--show-completion")
_COMPLETION_VARIABLE = "_CODUR_COMPLETE"


def run(argv: Sequence[str]) -> int:
    """Run a command line.

    Args:
        argv: the arguments after the program's name.

    Returns:
        The exit code.
    """
    signal.signal(signal.SIGTERM, _stop)
    debug = "--debug" in argv or bool(os.environ.get("CODUR_DEBUG"))
    try:
        return _invoke([item for item in argv if item != "--debug"])
    except (CodurError, TyperException) as error:
        if debug:
            raise
        return _tell(error)
    except KeyboardInterrupt:
        return 130


def _invoke(argv: Sequence[str]) -> int:
    group = typer.main.get_command(app)
    if _COMPLETION_VARIABLE in os.environ:
        group.main(prog_name="codur", complete_var=_COMPLETION_VARIABLE)
    commands = getattr(group, "commands", {})
    value_options = [
        name
        for parameter in commands[TASK_COMMAND].params
        for name in parameter.opts
        if name.startswith("-") and not getattr(parameter, "is_flag", False)
    ]
    words = with_command(argv, commands=commands, value_options=value_options, app_options=_APP_OPTIONS)
    try:
        code = group.main(args=words or ["--help"], prog_name="codur", standalone_mode=False)
    except Exit as stop:
        return stop.exit_code
    return code if isinstance(code, int) else 0


def _tell(error: CodurError | TyperException) -> int:
    if isinstance(error, TyperException):
        remedy = "Run `codur --help`, or `codur COMMAND --help`, for what there is."
        error = UsageError(_one_line(error), remedy=remedy)
    from codur.ui.output import show  # noqa: PLC0415 - lazy: only an error needs it
    from codur.ui.tables import error_text  # noqa: PLC0415 - lazy: only an error needs it

    show(error_text(error), sys.stderr)
    return error.exit_code


def _one_line(error: TyperException) -> str:
    return " ".join(error.format_message().split())


def _stop(_number: int, _frame: FrameType | None) -> None:
    """A stop signal ends a run as Ctrl-C does."""
    raise KeyboardInterrupt
