"""The ways to show a run, and which one fits."""

from collections.abc import Mapping
from typing import Literal, TextIO

from codur import ui
from codur.ui.json_output import MachineKind, MachineOutput
from codur.ui.placeholder import is_simple
from codur.ui.plain_output import PlainOutput
from codur.ui.sanitise import Shown
from codur.ui.stream import SafeStream, Typing

OutputKind = Literal["rich", "plain"] | MachineKind


Output = PlainOutput | MachineOutput
"""Where a run's events and its result go. `event` is an `Emit`; `close` gives the terminal back as it was, at the end
or before a question, and the next event takes it again."""


def choose_kind(
    *, stdout_is_tty: bool, environ: Mapping[str, str], json: bool = False, json_stream: bool = False, raw: bool = False
) -> OutputKind:
    """Give the output that fits: what was asked for, else `rich` on a terminal that can do it, else `plain`."""
    if json_stream:
        return "json_stream"
    if json:
        return "json"
    if raw:
        return "raw"
    return "rich" if stdout_is_tty and not is_simple(environ) else "plain"


def make_output(
    kind: OutputKind, *, stdout: TextIO, stderr: TextIO, verbose: bool = False, typing: Typing | None = None
) -> Output:
    """Give the output of that kind.

    Args:
        stdout: gets the answer and the diff, or the JSON.
        stderr: gets the progress and the summary.
        verbose: also routes, model requests and tools.
        typing: reads what is typed while work goes on; it is shown below the live line.
    """
    if kind == "rich":
        return ui.rich_output.RichOutput(stdout, stderr, verbose=verbose, typing=typing)
    if kind == "plain":
        return PlainOutput(stdout, stderr, verbose=verbose)
    return MachineOutput(kind, stdout, stderr, verbose=verbose)


def show(text: Shown, stream: TextIO) -> None:
    """Write a text of `tables` (or of `sanitise`) and end the line; a reader that has gone ends it quietly."""
    SafeStream(stream).put(text)
