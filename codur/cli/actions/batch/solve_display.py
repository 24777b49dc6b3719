"""What `codur solve` shows: while it goes on, and at its end."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from codur import ui
from codur.batch.batch_run import BatchResult
from codur.batch.reports.totals import totals_of
from codur.batch.results.challenge_record import Status
from codur.batch.work import Work
from codur.cli import machine
from codur.cli.actions.batch.solve_request import SolveRequest
from codur.cli.printing import say_json, say_json_with, tell
from codur.ui.output_formats import choose_kind, show
from codur.ui.shown.batch_progress import BatchDisplay, LineDisplay, batch_table, challenges_table
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import count

SCHEMA: Final = 2
"""In 1, `challenges`, `finished` and `solved` counted attempts."""


def display_of(request: SolveRequest) -> BatchDisplay:
    stream = SafeStream(sys.stderr)
    if request.json or request.quiet:
        return BatchDisplay(stream)
    kind = choose_kind(stdout_is_tty=sys.stderr.isatty(), environ=os.environ)
    if kind != "rich" or request.show_prompts:
        return LineDisplay(stream)
    return ui.batch_live.LiveDisplay(stream)


def show_list(work: Sequence[Work], done: Mapping[int, Status], *, json: bool) -> int:
    """Show what would be done; gives 0.

    Args:
        done: how what is done already ended, by the number of its work.
    """
    if json:
        rows = [
            {
                "name": item.challenge.name,
                "directory": str(item.challenge.directory),
                "agent": item.agent,
                "attempt": item.attempt,
                "done": item.number in done,
                "status": done.get(item.number, ""),
                "problem": item.challenge.problem,
            }
            for item in work
        ]
        say_json(rows)
        return 0
    lines = [
        (
            item.title,
            (f"done: {done[item.number]}" if item.number in done else item.challenge.problem or "to do"),
            str(item.challenge.directory),
        )
        for item in work
    ]
    show(challenges_table(lines, width=machine.table_width()), sys.stdout)
    tell(f"{_amount(work)}, {len(done)} done" if done else _amount(work))
    return 0


def show_batch(batch: BatchResult, work: Sequence[Work], results: Path, request: SolveRequest) -> None:
    if request.json:
        say_json_with(_as_json(batch, work, results), "results", (item.to_json() for item in batch.results))
    elif not request.quiet:
        show(
            batch_table(batch.results, wall_s=batch.seconds, width=machine.table_width()),
            sys.stdout,
        )
    for note in batch.notes:
        show_note(note)
    if not request.json and not request.quiet:
        page = next((path for path in batch.reports if path.suffix == ".html"), results)
        written = [item for item in batch.results if item.key_written]
        if request.in_place and written:
            one = shlex.join(["codur", "undo", "-C", short(Path(written[0].directory))])
            tell(f"{count(len(written), 'challenge')} written back, each to be undone by itself: {one}")
        tell(f"results: {short(page)}")
    resume = request.resume_words(short(results))
    if batch.ended == "budget":
        resume = request.with_twice_the_budget().resume_words(short(results))
        tell(f"the budget is used up; go on with twice as much: {resume}")
    elif batch.ended == "stopped":
        tell(f"go on with: {resume}")
        tell(f"interrupted; {len(batch.results)} of {_amount(work)} finished")


def _amount(work: Sequence[Work]) -> str:
    challenges = count(len({item.challenge.directory for item in work}), "challenge")
    one_each = len(work) == len({item.challenge.directory for item in work})
    return challenges if one_each else f"{count(len(work), 'attempt')} at {challenges}"


def show_note(note: str) -> None:
    tell(f"note: {note}")


def _as_json(batch: BatchResult, work: Sequence[Work], results: Path) -> dict[str, Any]:
    """All but the results, which may be many."""
    totals = totals_of(batch.results)
    return {
        "schema_version": SCHEMA,
        "exit_code": batch.code,
        "ended": batch.ended,
        "results_directory": str(results),
        "challenges": len({item.challenge.directory for item in work}),
        "challenges_solved": len({item.directory for item in batch.results if item.solved}),
        "attempts": len(work),
        "attempts_finished": totals.results,
        "attempts_solved": totals.solved,
        "model_calls": totals.calls,
        "tokens": totals.tokens,
        "cost_usd": round(totals.cost_usd, 6),
        "seconds": batch.seconds,
        "reports": [str(path) for path in batch.reports],
        "notes": [note for note in (batch.others, *batch.notes) if note],
    }


def short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
