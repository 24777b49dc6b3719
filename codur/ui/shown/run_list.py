"""Runs that are kept, in words: the list of them, and what one of them did."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from codur.store.run_record import RunRecord
from codur.structs import Struct, convert
from codur.types import RunResult
from codur.ui.sanitise import Shown
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.progress_lines import Narrator
from codur.ui.shown.run_report import body_lines, money, summary_lines
from codur.ui.shown.run_tree import traced_nodes, tree_lines
from codur.ui.shown.tables import table
from codur.ui.styled_lines import Line, Style, block, clip, folded, joined, line, percent
from codur.workspace.history.undo_run import Undone

_STYLES: Mapping[str, Style] = {"done": "good", "running": "strong", "interrupted": "warn", "crashed": "warn"}
UNDONE: Mapping[Undone, str] = {"part": "undone in part", "all": "undone"}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_TITLES = ("run", "age", "outcome", "check", "calls", "cost", "task")


_SHOWN = (
    *("outcome", "exit_code", "reason", "remedy", "answer", "explanation", "before", "verdict", "best", "solved_by"),
    *("model_calls", "usage", "duration_s", "changed_files", "diff", "attempts", "notes", "made_test"),
)


def runs_table(
    records: Sequence[RunRecord],
    *,
    now: datetime,
    undone: Mapping[str, Undone],
    workspaces: bool = False,
    width: int = 0,
) -> Shown:
    """Give the list of runs.

    Args:
        undone: how much of what each changed was undone since, by its id.
        workspaces: also say where each was.
        width: use colours and fold long cells to so many columns; 0 for neither.
    """
    titles = (*_TITLES, "directory") if workspaces else _TITLES
    cells = []
    for record in records:
        outcome = state_of(record)
        since = undone.get(record.id, "")
        # What the check said; a run is done with one that fails in nothing but what failed before
        said = record.summary.verdict or "-"
        row = (
            line(record.id),
            line(age(record.started, now)),
            line((outcome, _STYLES.get(outcome, "bad")), f", {UNDONE[since]}" if since else ""),
            line("as before" if (said, record.summary.outcome) == ("failed", "done") else said),
            line(f"{record.summary.model_calls:,}"),
            line(money(record.summary.cost_usd)),
            line(clip(" ".join(record.prompt.split()), width=60)),
        )
        cells.append((*row, line(record.workspace)) if workspaces else row)
    return table(titles, cells, right={"age", "calls", "cost"}, width=width)


class KeptRun(Struct):
    """A run as it was kept."""

    record: RunRecord
    trace: Sequence[Mapping[str, Any]]  # its events
    result: Mapping[str, Any] | None  # its whole result as plain JSON; None if it never came to one
    undone: Undone = ""  # how much of what it changed was undone since


def run_text(run: KeptRun, *, prompts: bool = False, verbose: bool = False, width: int | None = None) -> Shown:
    """Give what a run did, from its start to its result.

    Args:
        prompts: also the requests to models, as they were sent.
        verbose: also who decided where each node went, and why.
        width: of the terminal, in columns; None if it is none.
    """
    record, result = run.record, run.result
    lines = [*run_head(record, run.undone), line("")]
    narrator = Narrator(verbose=True)
    lines += tree_lines(traced_nodes(run.trace), narrator, prompts=prompts, reasons=verbose)
    if result is not None:
        ended = result_of(result)
        tried = _attempts(ended) if ended.outcome != "done" else []
        lines = [*folded(lines, width), *tried, line(""), *body_lines(ended, limit=None)]
        lines += folded(summary_lines(ended, told=narrator.told, width=width), width)
        return joined(lines)
    if record.can_be_resumed:
        lines += [line(""), line(("→ ", "strong"), f"codur resume {record.id}")]
    return joined(folded(lines, width))


def run_head(record: RunRecord, undone: Undone) -> list[Line]:
    """Give what a run was: its task, where and when, and what became of it."""
    since = f", {UNDONE[undone]}: `codur undo {record.id} --redo` takes that back" if undone else ""
    return [
        line(("run ", "dim"), record.id),
        line(("task: ", "dim"), clip(" ".join(record.prompt.split()), width=500)),
        line(("directory: ", "dim"), record.workspace),
        line(("started: ", "dim"), record.started),
        line(("outcome: ", "dim"), (state_of(record), _STYLES.get(state_of(record), "bad")), since),
    ]


def _attempts(result: RunResult) -> list[Line]:
    """What each attempt changed, and what the check said of it."""
    lines: list[Line] = []
    for each in result.attempts:
        head = f"attempt {each.number}, by {each.by} ({percent(each.progress)} of the check): {each.summary}"
        lines += [line(""), line((head, "strong")), *diff_lines(each.diff), *block(each.error, prefix="  ")]
    return lines


def state_of(record: RunRecord) -> str:
    """What became of a run, in a word or two."""
    if record.status != "finished":
        return record.status
    return record.summary.outcome.replace("_", " ") or "finished"


def age(started: str, now: datetime) -> str:
    """How long ago a run was started: `3 min`, `2 h`, `5 d`."""
    try:
        seconds = (now - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):  # no time, or one without a zone
        return "-"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def result_of(value: Mapping[str, Any]) -> RunResult:
    """What of a result is shown."""
    result: RunResult = convert({name: value[name] for name in _SHOWN if name in value}, RunResult)
    return result
