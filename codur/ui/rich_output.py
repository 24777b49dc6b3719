"""The output for a person at a terminal: colours, and one live line while work goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from codur.events import Event, NodeEntered
from codur.types import RunResult
from codur.ui.plain_output import put_lines
from codur.ui.sanitise import Shown
from codur.ui.shown.diffs import TERMINAL_LIMIT
from codur.ui.shown.progress_lines import QUICK_NODES, Narrator, Status
from codur.ui.shown.run_report import answers_only, body_lines, summary_lines
from codur.ui.stream import SafeStream

if TYPE_CHECKING:
    from codur.ui.screen import Screen


class RichOutput:
    """The answer and the diff go to `stdout`, progress and summary to `stderr`.

    Args:
        stdout, stderr: the streams; colours and the live line appear only where they are terminals.
        verbose: also routes, model requests and tools.
        color: whether colours may be used.
        clock: seconds, for the live line.
    """

    def __init__(
        self,
        stdout: TextIO,
        stderr: TextIO,
        *,
        verbose: bool,
        color: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out = SafeStream(stdout)
        self._err = SafeStream(stderr)
        self._color = color
        self._clock = clock
        self._start = clock()
        self._narrator = Narrator(verbose=verbose)
        self._status = Status()
        self._screen: Screen | None = None

    def event(self, event: Event) -> None:
        """Write the line of an event that matters; show the live line once there is something to wait for."""
        self._status.see(event)
        lines = self._narrator.lines(event)
        if lines:
            self._opened().log(lines)
        if isinstance(event, NodeEntered) and event.node not in QUICK_NODES:
            self._opened().start()

    def result(self, result: RunResult) -> None:
        """Write the answer, the diff and the summary."""
        self.close()
        body, summary = body_lines(result, limit=TERMINAL_LIMIT), summary_lines(result, told=self._narrator.told)
        if self._screen is None and answers_only(result):
            put_lines(self._out, body)  # an instant answer does not wait for rich to be imported
            put_lines(self._err, summary)
            return
        screen = self._opened()
        screen.log(self._narrator.rest())
        screen.write(body)
        screen.log(summary)

    def close(self) -> None:
        """Take the live line away and show the cursor again."""
        if self._screen:
            self._screen.stop()

    def _opened(self) -> Screen:
        from codur.ui.screen import Screen  # noqa: PLC0415 - lazy: rich costs more than an instant answer

        if self._screen is None:
            self._screen = Screen(self._out, self._err, color=self._color, status=self._now, words=self._status.words)
        return self._screen

    def _now(self) -> tuple[Shown, float]:
        seconds = self._clock() - self._start
        return self._status.text(seconds), seconds
