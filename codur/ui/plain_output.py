"""Plain text without colour, control codes or live lines: for pipes, logs and simple terminals."""

from collections.abc import Sequence
from typing import TextIO

from codur.events import Event
from codur.types import RunResult
from codur.ui.shown.diffs import TERMINAL_LIMIT
from codur.ui.shown.progress_lines import Narrator
from codur.ui.shown.run_report import body_lines, summary_lines
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import Line, folded, joined


class PlainOutput:
    """The answer and the diff go to `stdout`, everything else to `stderr`."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, verbose: bool) -> None:
        self._out = SafeStream(stdout)
        self._err = SafeStream(stderr)
        self._narrator = Narrator(verbose=verbose)

    def event(self, event: Event) -> None:
        """Write the line of an event that matters."""
        put_folded(self._err, self._narrator.lines(event))

    def result(self, result: RunResult) -> None:
        """Write the answer, the diff and the summary."""
        put_folded(self._err, self._narrator.rest())
        put_lines(self._out, body_lines(result, limit=TERMINAL_LIMIT if self._out.isatty() else None))
        put_folded(self._err, summary_lines(result, told=self._narrator.told, width=self._err.columns))

    def close(self) -> None:
        """Nothing is held back."""


def put_lines(stream: SafeStream, lines: Sequence[Line]) -> None:
    """Write lines without their styles."""
    if lines:
        stream.put(joined(lines))


def put_folded(stream: SafeStream, lines: Sequence[Line]) -> None:
    """Write lines that are for reading alone; on a terminal no word is broken at its edge."""
    put_lines(stream, folded(lines, stream.columns))
