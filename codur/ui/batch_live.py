"""A batch on a terminal: what runs, line by line, below what has finished."""

import threading
import time
from collections.abc import Collection

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.work import Work
from codur.structs import Struct
from codur.ui.screen import console_for, live_on, text_of
from codur.ui.shown.batch_progress import PHASES, BatchDisplay, row_line
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import count, line

_REFRESH_PER_SECOND = 4
_OTHER_LINES = 4
"""Lines of the terminal that are left to what is not running."""


class _Row(Struct, frozen=False, kw_only=False):
    title: str
    began: float
    phase: str = ""
    calls: int = 0


class LiveDisplay(BatchDisplay):
    """The table of what runs, renewed in place on a terminal; what has finished goes up as lines."""

    def __init__(self, stream: SafeStream) -> None:
        super().__init__(stream)
        self._console = console_for(stream, terminal=True)
        self._lock = threading.Lock()
        self._running: dict[int, _Row] = {}
        self._live: Live | None = None

    def begins(self, missing: int, known: Collection[ChallengeResult], others: str) -> None:
        """See `Watch`."""
        super().begins(missing, known, others)
        self._live = live_on(self._console, self._table, per_second=_REFRESH_PER_SECOND)

    def started(self, work: Work) -> None:
        """See `Watch`."""
        with self._lock:
            self._running[work.number] = _Row(title=work.title, began=time.monotonic())

    def phase(self, work: Work, phase: str, calls: int) -> None:
        """See `Watch`."""
        with self._lock:
            if row := self._running.get(work.number):
                row.phase, row.calls = phase, calls

    def finished(self, work: Work, result: ChallengeResult) -> None:
        """See `Watch`."""
        self.again(work)
        if self._progress is not None:
            self._progress.done.add(result)
            self._console.print(text_of(row_line(result, self._progress)))

    def again(self, work: Work) -> None:
        """See `Watch`."""
        with self._lock:
            self._running.pop(work.number, None)

    def close(self) -> None:
        """See `BatchDisplay`."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _table(self) -> RenderableType:
        with self._lock:
            rows = sorted(self._running.values(), key=lambda row: row.began)
        now = time.monotonic()
        room = max(1, self._console.height - _OTHER_LINES)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=40)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis")
        for row in rows[:room]:
            calls = f", {count(row.calls, 'call')}" if row.calls else ""
            what = line((f"{PHASES.get(row.phase, row.phase)}{calls}", "dim"))
            table.add_row(text_of(line(row.title)), f"{now - row.began:.0f} s", text_of(what))
        more = [Text(f"and {len(rows) - room} more running", style="dim")] if len(rows) > room else []
        head = text_of(self._progress.line()) if self._progress is not None else Text("")
        return Group(table, *more, head)
