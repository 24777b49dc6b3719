"""Runs the command line: finds the command, ends it in good order when it is stopped, gives the exit code.

Everything that takes time to import is imported inside `run`, so that Ctrl-C ends it quietly from the start.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from types import FrameType

from codur.cli.boundary import JsonKind, exit_code_of
from codur.errors import UsageError

_APP_OPTIONS = ("--help", "-h", "--version", "-V", "--install-completion", "--show-completion")
_COMPLETION_VARIABLE = "_CODUR_COMPLETE"
_STOP_SIGNALS = ("SIGTERM", "SIGHUP")


def run(argv: Sequence[str]) -> int:
    """Run a command line.

    Args:
        argv: the arguments after the program's name.

    Returns:
        The exit code.
    """
    end = list(argv).index("--") if "--" in argv else len(argv)
    options, rest = argv[:end], argv[end:]
    words = [*(item for item in options if item != "--debug"), *rest]
    debug = "--debug" in options or bool(os.environ.get("CODUR_DEBUG"))
    return exit_code_of(lambda: _invoke(words), json=_json_kind(options), debug=debug)


def _json_kind(options: Sequence[str]) -> JsonKind | None:
    """What an error is told in; found without the parser, which may be what refuses the options."""
    if "--json-stream" in options:
        return "json_stream"
    return "json" if "--json" in options else None


def _invoke(argv: Sequence[str]) -> int:
    """Find and call the command.

    Raises:
        UsageError: the options or arguments are wrong.
    """
    with _stopped_by_signals():
        import typer  # noqa: PLC0415 - lazy: see the module
        from typer.exceptions import Exit, TyperException  # noqa: PLC0415 - lazy: see the module

        from codur.cli.app import app  # noqa: PLC0415 - lazy: see the module
        from codur.cli.words import TASK_COMMAND, with_command  # noqa: PLC0415 - lazy: see the module

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
            # `main` of the group would turn Ctrl-C and a broken pipe into exits of its own
            with group.make_context("codur", words or ["--help"]) as context:
                code = group.invoke(context)
        except Exit as stop:
            return stop.exit_code
        except TyperException as error:
            remedy = "Run `codur --help`, or `codur COMMAND --help`, for what there is."
            raise UsageError(" ".join(error.format_message().split()), remedy=remedy) from error
        return code if isinstance(code, int) else 0


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Stop signals act as Ctrl-C does, but for those that the caller has us ignore, as `nohup` does."""
    before = {number: signal.getsignal(number) for number in _stop_signals()}
    ours = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}
    for number in ours:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Ask the run to end; a second signal (a shell and its terminal both send one) does not disturb how it ends."""
    for number in _stop_signals():
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _stop_signals() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _STOP_SIGNALS if name in signal.Signals.__members__]
