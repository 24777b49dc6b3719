"""The terminal by way of rich: coloured lines, a live status line, tables. The only module that imports rich."""

import io
from collections.abc import Callable, Iterable, Sequence
from typing import IO, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from codur import ui
from codur.ui.sanitise import Shown, sanitise
from codur.ui.stream import SafeStream, Typing
from codur.ui.styled_lines import Line, Style, folded, folds

_STYLES: dict[Style, str] = {
    "plain": "",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "dim": "dim",
    "strong": "bold",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
}
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_FRAMES = "|/-\\"
_FRAMES_PER_SECOND = 8
_KEPT_LINES = 4
"""Lines of the terminal that are left to what was told before."""


def text_of(item: Line) -> Text:
    """A `Text`, never a string: rich looks for markup, emoji codes and links in strings only."""
    return Text.assemble(*((span.text, _STYLES[span.style]) for span in item.spans))


def console_for(stream: SafeStream | IO[str], *, terminal: bool, width: int | None = None) -> Console:
    return Console(
        file=cast("IO[str]", stream),
        color_system="standard" if terminal else None,
        force_terminal=terminal,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
        legacy_windows=False,
        _environ={},  # the caller has read the environment; rich must not do so again
    )


def live_on(console: Console, content: Callable[[], RenderableType], *, per_second: float) -> Live:
    """Something renewed in place, shown from now on until it is stopped."""
    live = Live(
        get_renderable=content,
        console=console,
        transient=True,
        refresh_per_second=per_second,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    live.start(refresh=True)
    return live


class Screen:
    """Lines on two streams, and a live line below them while work goes on.

    Args:
        out, err: the streams; colours and the live line appear only on terminals.
        typing: reads what is typed while the live line is there; it is shown below it.
        status: gives the live line's text, and the seconds since the start.
        above: gives the lines above it, for the columns it is given.
    """

    def __init__(
        self,
        out: SafeStream,
        err: SafeStream,
        *,
        typing: Typing | None,
        status: Callable[[], tuple[Shown, float]],
        above: Callable[[int], Sequence[Line]],
    ) -> None:
        self._out = console_for(out, terminal=out.isatty())
        self._err = console_for(err, terminal=err.isatty())
        self._status = status
        self._above = above
        self._typing = typing
        self._stream = err
        self._frames = _FRAMES if self._err.encoding.startswith("utf") else _ASCII_FRAMES
        self._live: Live | None = None

    def start(self) -> None:
        """Show the live line."""
        if self._live is None and self._err.is_terminal:
            if self._typing is not None:
                self._typing.start()
            self._live = live_on(self._err, self._live_text, per_second=_FRAMES_PER_SECOND)

    def stop(self) -> None:
        """Take the live line away."""
        live, self._live = self._live, None
        if live:
            live.stop()
            if self._typing is not None:
                self._typing.stop()

    def log(self, lines: Iterable[Line]) -> None:
        """Write lines on `err`, above the live line; on a terminal no word is broken at its edge."""
        for item in folded(lines, self._stream.columns):
            self._err.print(text_of(item))

    def write(self, lines: Sequence[Line]) -> None:
        """Write lines on `out`; the live line must not be there."""
        for item in lines:
            self._out.print(text_of(item))

    def write_answer(self, text: str) -> None:
        """Write an answer in Markdown on `out`, as what it means."""
        ui.formatted_text.print_markdown(text, self._out)

    def write_diff(self, lines: Sequence[Line]) -> None:
        """Write the lines of a diff on `out`, in the colours of its language."""
        for text in ui.formatted_text.diff_texts(lines, [text_of(item) for item in lines]):
            self._out.print(text)

    def _live_text(self) -> Group:
        words, seconds = self._status()
        frame = self._frames[int(seconds * _FRAMES_PER_SECOND) % len(self._frames)]
        status = Text(f"{frame} {words}", style="dim", no_wrap=True, overflow="ellipsis")
        width, height = self._err.size
        rows = [text_of(item) for item in self._above(width - 1)][-max(0, height - _KEPT_LINES) :]
        typed = [
            Text(sanitise(row, keep_newlines=False)[1 - width :])
            for row in (self._typing.rows() if self._typing else ())
        ]
        for row in (*rows, *typed):
            row.no_wrap, row.overflow = True, "ellipsis"
        return Group(*rows, status, *typed)


def render_table(
    header: Sequence[Line], rows: Sequence[Sequence[Line]], footer: Sequence[Line], *, width: int
) -> Shown:
    """Give a coloured table as text with terminal codes.

    Args:
        header: one line a column; a column whose header's style is `strong` is aligned left, else right.
        rows, footer: cells; the footer may be empty.
        width: columns of the terminal; long cells are folded.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_footer=bool(footer), header_style="bold")
    for index, head in enumerate(header):
        right = head.spans[0].style != "strong"
        sentences = folds([row[index] for row in rows])
        table.add_column(
            text_of(head),
            footer=text_of(footer[index]) if footer else "",
            justify="right" if right else "left",
            no_wrap=not sentences,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(text_of, row))
    file = io.StringIO()
    console_for(file, terminal=True, width=width).print(table, soft_wrap=False)
    return Shown(file.getvalue().rstrip("\n"))
