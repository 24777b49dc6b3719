"""What the commands on runs that are kept do."""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur import ui
from codur.batch import results as in_batch
from codur.cli import machine
from codur.cli.actions.undo import undone_since
from codur.cli.printing import say, say_json, tell, warn, write
from codur.errors import UsageError
from codur.graph.wiring import ROUTES, START_NODE
from codur.store.run_record import RunRecord
from codur.store.run_records import RunDirectory
from codur.ui.output_formats import show
from codur.ui.shown.run_list import KeptRun, run_text, runs_table
from codur.ui.stream import SafeStream


def show_runs(directory: Path, *, everywhere: bool, json: bool) -> None:
    """Print the runs of a directory, or of all."""
    runs = machine.kept_runs()
    records, unreadable = runs.scan(None if everywhere else _real(directory))
    undone = {record.id: undone_since(runs.open(record.id)) for record in records}
    if not records and not everywhere:
        machine.existing(directory)  # runs of a directory that is gone are still listed
    if json:
        say_json([{**listed(record), "undone": undone[record.id]} for record in records])
    elif records:
        table = runs_table(
            records,
            now=datetime.now(UTC),
            undone=undone,
            workspaces=everywhere,
            width=machine.table_width(),
        )
        show(table, sys.stdout)
    else:
        say("no run is kept" + ("" if everywhere else " of this directory; see `codur runs --all`"))
    for item in unreadable:
        warn(item.problem)


def listed(record: RunRecord) -> dict[str, Any]:
    """A run as `runs --json` gives it: without what only resuming needs."""
    kept = to_builtins(record)
    return {name: value for name, value in kept.items() if name not in {"task", "process"}}


def show_run(wanted: str | None, directory: Path, *, prompts: bool, verbose: bool, json: bool) -> None:
    """Print what a run did."""
    problems: list[str] = []
    run = _kept(wanted, directory, problems.append)
    if json:
        trace = [event for event in run.trace if prompts or event.get("event") != "model_prompted"]
        say_json({"record": run.record, "undone": run.undone, "trace": trace, "result": run.result})
    else:
        show(run_text(run, prompts=prompts, verbose=verbose, width=SafeStream(sys.stdout).columns), sys.stdout)
    for problem in problems:
        warn(problem)


def show_test(wanted: str | None, directory: Path) -> None:
    """Print the test that was made for a run's task, and tell where it belongs."""
    run = _kept(wanted, directory, warn)
    place, _, text = str((run.result or {}).get("made_test", "")).partition(":\n")
    if not text:
        raise UsageError(f"{run.record.id} kept no test that was made for it", remedy="`codur runs` lists the others.")
    tell(f"it belongs in {place}")
    sys.stdout.write(text)


def write_page(wanted: str | None, directory: Path, file: Path | None) -> None:
    """Write what a run did as one page, and tell where it is."""
    run = _kept(wanted, directory, warn)
    edges: dict[str, Sequence[str]] = {"start": (START_NODE,)}
    edges |= {str(name): targets for name, targets in ROUTES.items()}
    path = file if file is not None else Path(f"codur-{run.record.id}.html")
    write(path, ui.trace_page(run, edges), remedy="Name a file in a directory that exists and may be written.")
    say(str(path))


def _kept(wanted: str | None, directory: Path, on_damage: Callable[[str], None]) -> KeptRun:
    of_batch = in_batch.results_directory.kept_below(directory, wanted) if wanted and "/" in wanted else None
    run = of_batch or machine.kept_runs().find(wanted, workspace=_real(directory))
    trace = run.trace.read(on_damage=on_damage)
    return KeptRun(record=run.record(), trace=trace, result=run.result(), undone=undone_since(run))


def cut_off(wanted: str | None, directory: Path) -> RunDirectory:
    """The run of that id or beginning of one; the newest of the directory that was cut off, if none is named."""
    return machine.kept_runs().find(
        wanted, workspace=_real(directory), fits=lambda record: record.can_be_resumed, that="was cut off"
    )


def _real(directory: Path) -> Path:
    return directory.absolute().resolve()
