"""What `codur report` does with what it was given."""

import sys
from collections.abc import Sequence
from pathlib import Path

from codur.batch.reports import write_reports
from codur.batch.reports.comparison import Comparison, compare
from codur.batch.reports.report_inputs import read_results
from codur.batch.reports.totals import Totals, totals_of
from codur.batch.results.result_lines import RESULTS_FILE
from codur.cli.printing import say_found, unwritable
from codur.ui.output_formats import show
from codur.ui.shown.run_report import money
from codur.ui.styled_lines import Line, block, count, joined, line

_SEVERAL = Path("codur-report")


def build(paths: Sequence[Path], *, output: Path | None, junit: Path | None, json: bool) -> int:
    """Write the reports of the batches at `paths` and say where they are.

    Returns:
        0, also if some lines could not be used: what is left out is told.
    """
    found = read_results(paths)
    results = sorted(found.results, key=lambda item: (*item.place, item.key))
    target = output or _beside(paths)
    title = f"codur solve: {', '.join(dict.fromkeys(_title(path) for path in paths))}"
    try:
        written = write_reports(target, results, title=title, junit=junit)
    except OSError as error:
        raise unwritable(
            error.filename or target, error, "Name a directory that you may write with --output."
        ) from error
    comparison = compare(found.results)
    if found.notes and not json:
        show(joined(line(note) for note in found.notes), sys.stderr)
    totals = totals_of(found.results)
    told = {
        "written": [str(path) for path in written],
        "notes": found.notes,
        "totals": totals,
        "agents": comparison.agents,
        "solved_by_any": comparison.by_any,
        "pass_at_k": comparison.pass_at_k,
    }
    say_found(told, (item.text for item in _lines(totals, comparison, written)), as_json=json)
    return 0


def _beside(paths: Sequence[Path]) -> Path:
    if len(paths) > 1:
        return _SEVERAL
    return paths[0] if paths[0].is_dir() else paths[0].parent


def _title(path: Path) -> str:
    full = path.resolve()
    return full.parent.name if full.name == RESULTS_FILE else full.name


def _lines(totals: Totals, comparison: Comparison, written: Sequence[Path]) -> list[Line]:
    lines = [
        line(
            f"{totals.solved:,} of {totals.results:,} solved, {totals.without_model:,} without a model; "
            f"{count(totals.calls, 'model call')}, {count(totals.tokens, 'token')}, {money(totals.cost_usd)}"
        )
    ]
    if len(comparison.agents) > 1:
        for one in comparison.agents:
            cost = "" if one.cost_per_solved is None else f", {money(one.cost_per_solved)} for each"
            lines.append(line(f"  {one.agent}: {one.solved:,} of {count(one.challenges, 'challenge')}{cost}"))
        lines.append(line(f"  by any of them: {comparison.by_any:,}"))
    return [*lines, *(part for path in written for part in block(str(path)))]
