"""The ways to show a run, and which one fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TextIO

from codur import ui
from codur.events import Event
from codur.types import RunResult
from codur.ui.placeholder import is_simple
from codur.ui.plain_output import PlainOutput
from codur.ui.sanitise import Shown
from codur.ui.stream import Appearance, SafeStream

OutputKind = Literal["rich", "plain", "json", "json_stream", "raw"]


class Output(Protocol):
    """Where a run's events and its result go. `event` is an `Emit`."""

    def event(self, event: Event) -> None: ...

    def result(self, result: RunResult) -> None: ...

    def close(self) -> None:
        """Give the terminal back as it was, at the end or before a question; the next event takes it again."""
        ...


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


def make_output(kind: OutputKind, appearance: Appearance, *, stdout: TextIO, stderr: TextIO) -> Output:
    """Give the output of that kind.

    Args:
        kind: see `choose_kind`.
        stdout: gets the answer and the diff, or the JSON.
        stderr: gets the progress and the summary.
        appearance: how much is shown.
    """
    match kind:
        case "rich":
            return ui.rich_output.RichOutput(stdout, stderr, appearance)
        case "plain":
            return PlainOutput(stdout, stderr, verbose=appearance.verbose)
        case "json":
            return ui.json_output.JsonOutput(stdout, stderr, verbose=appearance.verbose)
        case "json_stream":
            return ui.json_output.JsonStreamOutput(stdout, stderr, verbose=appearance.verbose)
        case "raw":
            return ui.json_output.RawOutput(stdout, stderr, verbose=appearance.verbose)


def show(text: Shown, stream: TextIO) -> None:
    """Write a text of `tables` (or of `sanitise`) and end the line; a reader that has gone ends it quietly."""
    SafeStream(stream).put(text)
