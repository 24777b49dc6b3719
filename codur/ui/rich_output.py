"""The output for a person at a terminal: colours, and one live line while work goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from codur import ui
from codur.events import CheckBegan, Event, NodeEntered
from codur.structs import replace
from codur.types import RunResult
from codur.ui.plain_output import PlainOutput
from codur.ui.sanitise import Shown
from codur.ui.shown.diffs import TERMINAL_LIMIT, diff_lines
from codur.ui.shown.progress_lines import QUICK_NODES, Narrator, Status
from codur.ui.shown.run_report import answers_only, body_lines, is_prose, only_shows_repairs, summary_lines
from codur.ui.stream import Typing
from codur.ui.styled_lines import block, line

if TYPE_CHECKING:
    from codur.ui.screen import Screen


class RichOutput(PlainOutput):
    """The answer and the diff go to `stdout`, progress and summary to `stderr`.

    Args:
        stdout, stderr, verbose, typing: see `make_output`; colours and the live line appear on terminals alone.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, verbose: bool, typing: Typing | None) -> None:
        super().__init__(stdout, stderr, verbose=verbose)
        self._typing = typing
        self._start = time.monotonic()
        self._narrator = Narrator(verbose=verbose, works=self._err.isatty(), model=typing is None or verbose)
        self._status = Status()
        self._screen: Screen | None = None

    def event(self, event: Event) -> None:
        """Write the line of an event that matters; show the live line once there is something to wait for."""
        self._status.see(event)
        lines = self._narrator.lines(event)
        if lines:
            self._opened().log(lines)
        if isinstance(event, CheckBegan) and self._screen is None:
            self._err.show_placeholder(self._status.phase)
        if isinstance(event, NodeEntered) and event.node not in QUICK_NODES:
            self._opened().start()

    def result(self, result: RunResult) -> None:
        """Write the answer, the diff and the summary."""
        self.close()
        if result.answer == result.reason and self._out.isatty() and self._err.isatty():
            result = replace(result, answer="")  # one who sees both needs it once
        if self._screen is None and answers_only(result):  # it does not wait for rich to be imported
            super().result(result)
            return
        screen = self._opened()
        screen.log(self._narrator.rest())
        self._show_body(result, screen)
        screen.log(summary_lines(result, told=self._narrator.told, width=self._err.columns))

    def _show_body(self, result: RunResult, screen: Screen) -> None:
        """The answer as what its Markdown means, and the diff in colours; as they are where nobody looks at them."""
        if not self._out.isatty() or only_shows_repairs(result):
            screen.write(body_lines(result, limit=TERMINAL_LIMIT))
            return
        if is_prose(result):
            screen.write_answer(result.answer)
        else:
            screen.write(block(result.answer))
        if result.answer and result.diff:
            screen.write([line("")])
        screen.write_diff(diff_lines(result.diff, limit=TERMINAL_LIMIT))

    def close(self) -> None:
        """Take the live line away and show the cursor again."""
        if self._screen:
            self._screen.stop()

    def _opened(self) -> Screen:
        if self._screen is None:
            self._screen = ui.screen.Screen(
                self._out, self._err, typing=self._typing, status=self._now, above=self._status.above
            )
        return self._screen

    def _now(self) -> tuple[Shown, float]:
        seconds = time.monotonic() - self._start
        return self._status.text(seconds), seconds
