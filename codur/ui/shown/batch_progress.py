"""A batch in words: how it goes on, and the table at its end."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from codur.batch.reports.totals import Totals, totals_of
from codur.batch.results.challenge_outcome import NEEDS_MODEL, NOT_ALONE
from codur.batch.results.challenge_record import ChallengeResult, Status
from codur.batch.results.progress import Watch
from codur.batch.work import Work, titled
from codur.events import ModelPrompted
from codur.llm.request_retry import spoken
from codur.ui.sanitise import Shown, sanitise
from codur.ui.shown.progress_lines import NODE_WORDS, prompt_lines
from codur.ui.shown.run_report import money, worker
from codur.ui.shown.tables import table
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import Line, Style, count, joined, line

_STYLES: Final[dict[Status, Style]] = {
    "solved": "good",
    "failed": "bad",
    "passes": "warn",
    "error": "bad",
    "limit": "warn",
}
PHASES: Final = {
    **NODE_WORDS,
    "": "starting",
    "queued": "waits for its turn",
    "asking": "asking a model",
    "reading": "reading the answer",
    "waiting": "waiting for a model",
}
_NAME_CELLS = 24


class Progress:
    """How far a batch is.

    Args:
        total: pieces of work, those that were done before among them.
        before: what was done before.
    """

    def __init__(self, total: int, before: Collection[ChallengeResult]) -> None:
        self.total = total
        self.done = totals_of(before)
        self.began = time.monotonic()
        self._done_before = len(before)

    def left_s(self) -> float | None:
        """Seconds that the rest takes, if it goes on as until now; None if nothing tells yet."""
        finished = self.done.results - self._done_before
        return (time.monotonic() - self.began) / finished * (self.total - self.done.results) if finished else None

    def line(self) -> Line:
        """All of it in one line."""
        done, left = self.done, self.left_s()
        return line(
            (f"{done.solved} solved", "good"),
            f" of {done.results} done, {self.total} in all; {count(done.calls, 'call')}, {money(done.cost_usd)}",
            (f"; about {spoken(left)} left" if left is not None and done.results < self.total else "", "dim"),
        )


class BatchDisplay(Watch):
    """Shows a batch while it goes on; this one shows nothing but prompts, where these are asked for."""

    def __init__(self, stream: SafeStream) -> None:
        self._stream = stream
        self._progress: Progress | None = None

    def begins(self, missing: int, known: Collection[ChallengeResult], others: str) -> None:
        """See `Watch`."""
        if others:
            self._stream.put(line(f"note: {others}").text)
        self._progress = Progress(missing + len(known), known)

    def prompted(self, work: Work, request: ModelPrompted) -> None:
        """See `Watch`."""
        self._stream.put(joined([line(f"{work.title}:"), *prompt_lines(request)]))

    def close(self) -> None:
        """Give the terminal back."""


class LineDisplay(BatchDisplay):
    """A line for each piece of work that is done: for pipes, logs and simple terminals."""

    def finished(self, _: Work, result: ChallengeResult) -> None:
        """See `Watch`."""
        if self._progress is not None:
            self._progress.done.add(result)
            self._stream.put(row_line(result, self._progress).text)


def row_line(result: ChallengeResult, progress: Progress) -> Line:
    """A finished piece of work: `[ 12/200] solved  name  repair  0 calls  0.4 s`."""
    size = len(str(progress.total))
    # before it is measured
    name = sanitise(titled(result.name, result.agent, result.attempt), keep_newlines=False)
    note = f"  {result.reason}" if result.reason else ""
    return line(
        f"[{progress.done.results:>{size + 1}}/{progress.total}] ",
        (f"{result.status:<6}", _STYLES[result.status]),
        f"  {name:<{_NAME_CELLS}}  {result.way if result.solved else '-':<8}",
        f"  {count(result.calls, 'call')}  {result.seconds:.1f} s{note}",
    )


def batch_table(rows: Collection[ChallengeResult], *, wall_s: float | None = None, width: int = 0) -> Shown:
    """Give the table of a batch, with a line of totals.

    Args:
        wall_s: seconds from the begin to the end; None if that is not known.
        width: see `table`.
    """
    several = {"agent": len({row.agent for row in rows}) > 1, "attempt": any(row.attempt > 1 for row in rows)}
    spent = dict.fromkeys(("calls", "tokens", "cost"), any(row.calls for row in rows))
    titles = [title for title in _CELLS if {**several, **spent}.get(title, True)]
    cells = [[_CELLS[title](row) for title in titles] for row in rows]
    totals = _totals(totals_of(rows), attempts=any(several.values()))
    if wall_s is not None:
        totals["seconds"] = f"{wall_s:.1f} (sum {totals['seconds']})"
    footer = [line(totals.get(title, "")) for title in titles]
    return table(titles, cells, footer, right=_FIGURES, width=width)


def challenges_table(rows: Sequence[tuple[str, str, str]], *, width: int = 0) -> Shown:
    """Give the list of what would be run: names, directories, and whether it is done already."""
    return table(("challenge", "state", "directory"), [tuple(map(line, row)) for row in rows], width=width)


def _way(row: ChallengeResult) -> str:
    """Who solved it, and how."""
    if not row.solved:
        return ""
    return worker(row.solved_by) if row.solved_by in ("pattern", "repair") else f"{worker(row.solved_by)} ({row.way})"


def _checked(row: ChallengeResult) -> str:
    """What a pass rests on."""
    others = "; other repairs pass it, too" if any(note.startswith(NOT_ALONE) for note in row.notes) else ""
    return f"by `{row.check}`{others}" if row.check else ""


def _is_red(row: ChallengeResult) -> bool:
    return row.reason.startswith(NEEDS_MODEL) and bool(row.check)


def _totals(all_of: Totals, *, attempts: bool) -> dict[str, str]:
    """The cells of the last row, by their titles."""
    return {
        "challenge": f"{all_of.solved} of {count(all_of.results, 'attempt') if attempts else all_of.results} solved",
        "solved by": f"{all_of.without_model} without a model",
        "calls": f"{all_of.calls:,}",
        "tokens": f"{all_of.tokens:,}",
        "cost": money(all_of.cost_usd),
        "seconds": f"{all_of.seconds:.1f}",
    }


_FIGURES = frozenset({"attempt", "calls", "tokens", "cost", "seconds"})
_CELLS: dict[str, Callable[[ChallengeResult], Line]] = {
    "challenge": lambda row: line(row.name),
    "agent": lambda row: line(row.agent or "(default)"),
    "attempt": lambda row: line(str(row.attempt)),
    "result": lambda row: line((row.status, _STYLES[row.status])),
    "solved by": lambda row: line(_way(row)),
    "calls": lambda row: line(f"{row.calls:,}"),
    "tokens": lambda row: line(f"{row.tokens:,}"),
    "cost": lambda row: line(money(row.cost_usd)),
    "seconds": lambda row: line(f"{row.seconds:.1f}"),
    "note": lambda row: line(f"{row.reason}; `{row.check}` fails" if _is_red(row) else row.reason or _checked(row)),
}
