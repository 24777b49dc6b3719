"""A batch in words: how it goes on, and the table at its end."""

import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from codur.structs import Struct
from codur.ui.sanitise import Shown, sanitise
from codur.ui.shown.run_report import money, worker
from codur.ui.shown.tables import Column, table
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import Line, Style, count, line

BatchStatus = Literal["solved", "failed", "passes", "error", "limit"]

STATUS_STYLES: Final[dict[BatchStatus, Style]] = {
    "solved": "good",
    "failed": "bad",
    "passes": "warn",
    "error": "bad",
    "limit": "warn",
}
PHASES: Final = {
    "": "starting",
    "pattern_plan": "first check",
    "queued": "waits for its turn",
    "repair": "searching",
    "llm_pre_plan": "classifying",
    "llm_plan": "planning",
    "asking": "asking a model",
    "reading": "reading",
    "waiting": "waiting for a model",
    "coding": "editing",
    "execute": "agent at work",
    "choose": "choosing",
    "make_check": "making a test",
    "review": "checking",
    "accept": "judging",
    "tool": "using a tool",
}
_NAME_CELLS = 24


class BatchRow(Struct):
    """A finished piece of work.

    Attributes:
        agent: empty for the default one.
        tier: the way that solved it, or `none`.
        note: why it is not solved.
    """

    name: str
    agent: str = ""
    attempt: int = 1
    status: BatchStatus
    solved_by: str = ""
    tier: str = "none"
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    note: str = ""


class Progress:
    """How far a batch is.

    Args:
        total: pieces of work, those that were done before among them.
        before: what was done before.
    """

    def __init__(self, total: int, before: Sequence[BatchRow]) -> None:
        self.total = total
        self.done = len(before)
        self.solved = sum(row.status == "solved" for row in before)
        self.calls = sum(row.calls for row in before)
        self.cost = sum(row.cost for row in before)
        self.began = time.monotonic()
        self._done_before = len(before)

    def add(self, row: BatchRow) -> None:
        """Count what has finished."""
        self.done += 1
        self.solved += row.status == "solved"
        self.calls += row.calls
        self.cost += row.cost

    def left_s(self) -> float | None:
        """Seconds that the rest takes, if it goes on as until now; None if nothing tells yet."""
        finished = self.done - self._done_before
        return (time.monotonic() - self.began) / finished * (self.total - self.done) if finished else None

    def line(self) -> Line:
        """All of it in one line."""
        left = self.left_s()
        return line(
            (f"{self.solved} solved", "good"),
            f" of {self.done} done, {self.total} in all; {count(self.calls, 'call')}, {money(self.cost)}",
            (f"; about {_time(left)} left" if left is not None and self.done < self.total else "", "dim"),
        )


class BatchDisplay:
    """Shows a batch while it goes on; may be called from one other thread than the one that closes it.

    This one shows nothing.
    """

    def begin(self, progress: Progress) -> None:
        """It begins."""

    def started(self, number: int, title: str) -> None:
        """Work has begun."""

    def phase(self, number: int, phase: str, calls: int) -> None:
        """What it is at, and the model calls so far."""

    def finished(self, number: int, row: BatchRow, /) -> None:
        """It is done."""

    def again(self, number: int) -> None:
        """It will be started again."""

    def close(self) -> None:
        """Give the terminal back."""


class LineDisplay(BatchDisplay):
    """A line for each piece of work that is done: for pipes, logs and simple terminals."""

    def __init__(self, stream: SafeStream) -> None:
        self._stream = stream
        self._progress: Progress | None = None

    def begin(self, progress: Progress) -> None:
        """See `BatchDisplay`."""
        self._progress = progress

    def finished(self, _: int, row: BatchRow, /) -> None:
        """See `BatchDisplay`."""
        if self._progress is not None:
            self._progress.add(row)
            self._stream.put(row_line(row, self._progress).text)


def row_line(row: BatchRow, progress: Progress) -> Line:
    """A finished piece of work: `[ 12/200] solved  name  repair  0 calls  0.4 s`."""
    size = len(str(progress.total))
    name = sanitise(title_of(row), keep_newlines=False)  # before it is measured
    note = f"  {row.note}" if row.note else ""
    return line(
        f"[{progress.done:>{size + 1}}/{progress.total}] ",
        (f"{row.status:<6}", STATUS_STYLES[row.status]),
        f"  {name:<{_NAME_CELLS}}  {row.tier if row.status == 'solved' else '-':<8}",
        f"  {count(row.calls, 'call')}  {row.seconds:.1f} s{note}",
    )


def title_of(row: BatchRow) -> str:
    """The name, and what else tells the work apart."""
    more = [row.agent] if row.agent else []
    more += [f"attempt {row.attempt}"] if row.attempt > 1 else []
    return f"{row.name} ({', '.join(more)})" if more else row.name


def batch_table(
    rows: Sequence[BatchRow], *, wall_s: float | None = None, color: bool = False, width: int = 100
) -> Shown:
    """Give the table of a batch, with a line of totals.

    Args:
        rows: in the order to show them.
        wall_s: seconds from the begin to the end; None if that is not known.
        color: use colours and fold long cells to `width` columns.
    """
    several = {"agent": len({row.agent for row in rows}) > 1, "attempt": any(row.attempt > 1 for row in rows)}
    titles = [title for title in _CELLS if several.get(title, True)]
    columns = [Column(title, right=title in _FIGURES) for title in titles]
    cells = [[_CELLS[title](row) for title in titles] for row in rows]
    totals = _totals(rows, attempts=any(several.values()))
    if wall_s is not None:
        totals["seconds"] = f"{wall_s:.1f} (sum {totals['seconds']})"
    footer = [line(totals.get(title, "")) for title in titles]
    return table(columns, cells, footer, color=color, width=width)


def challenges_table(rows: Sequence[tuple[str, str, str]], *, color: bool = False, width: int = 100) -> Shown:
    """Give the list of what would be run: names, directories, and whether it is done already."""
    columns = (Column("challenge"), Column("state"), Column("directory"))
    return table(columns, [tuple(map(line, row)) for row in rows], (), color=color, width=width)


def _way(row: BatchRow) -> str:
    """Who solved it, and how."""
    if row.status != "solved":
        return ""
    return worker(row.solved_by) if row.solved_by in ("pattern", "repair") else f"{worker(row.solved_by)} ({row.tier})"


def _totals(rows: Sequence[BatchRow], *, attempts: bool) -> dict[str, str]:
    """The cells of the last row, by their titles."""
    solved = [row for row in rows if row.status == "solved"]
    return {
        "challenge": f"{len(solved)} of {count(len(rows), 'attempt') if attempts else len(rows)} solved",
        "solved by": f"{sum(row.calls == 0 for row in solved)} without a model",
        "calls": f"{sum(row.calls for row in rows):,}",
        "tokens": f"{sum(row.tokens for row in rows):,}",
        "cost": money(sum(row.cost for row in rows)),
        "seconds": f"{sum(row.seconds for row in rows):.1f}",
    }


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


_FIGURES = frozenset({"attempt", "calls", "tokens", "cost", "seconds"})
_CELLS: dict[str, Callable[[BatchRow], Line]] = {
    "challenge": lambda row: line(row.name),
    "agent": lambda row: line(row.agent or "(default)"),
    "attempt": lambda row: line(str(row.attempt)),
    "result": lambda row: line((row.status, STATUS_STYLES[row.status])),
    "solved by": lambda row: line(_way(row)),
    "calls": lambda row: line(f"{row.calls:,}"),
    "tokens": lambda row: line(f"{row.tokens:,}"),
    "cost": lambda row: line(money(row.cost)),
    "seconds": lambda row: line(f"{row.seconds:.1f}"),
    "note": lambda row: line(row.note),
}
