"""A whole batch: what is left to do is done, kept, and made into reports."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from codur.batch.engines.worker_supervisor import Supervisor
from codur.batch.reports import write_reports
from codur.batch.reports.totals import totals_of
from codur.batch.results.challenge_record import ChallengeResult, Status
from codur.batch.results.earlier import GOES_ON, Mode, counting, finished, of_other_settings, of_other_work
from codur.batch.results.kept_files import Keeper, Keys
from codur.batch.results.kept_run import RUNS
from codur.batch.results.progress import Ended, Watch
from codur.batch.results.result_lines import KeptResults
from codur.batch.results.results_directory import ResultsDirectory, has_results, read_results, read_spent
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.errors import CodurError, UsageError, reason_of
from codur.session.stop import TERMINATED, code_of
from codur.structs import Struct, replace
from codur.types import EXIT_CODES


class Engine(Protocol):
    """Has work done, keeps what comes of it, and tells a watch; see `Supervisor`."""

    def run(self) -> Ended:
        """Do all work; returns why it ended."""

    def stop(self, grace_s: float) -> None:
        """Start nothing more, and end what runs; may be called from any thread, and again to end it at once."""


EngineOf = Callable[[Setup, Sequence[Work], Keeper, Watch], Engine]

GRACE_S, SHORT_GRACE_S = 10.0, 1.0
"""Seconds in which what runs may end in good order, after the user's and after the system's signal."""


class BatchResult(Struct):
    """What came of a batch."""

    # of all work of the batch that is finished, in the batch's order, also of earlier parts
    results: Collection[ChallengeResult]
    ended: Ended  # `all` was done, or the `budget` was used up, or the user `stopped` it
    code: int  # the exit code
    reports: tuple[Path, ...] = ()  # files that were made of the results
    others: str = ""  # what earlier results do not count, as it was told when the batch began; empty if all do
    notes: tuple[str, ...] = ()  # what else the user should know
    seconds: float = 0.0  # wall time of this part


class Output(Struct):
    """Where a batch puts what comes of it."""

    results: Path  # the directory of results
    mode: Mode = "new"  # what to do with the results that are there already
    junit: Path | None = None  # where to write JUnit XML, if at all
    engine: EngineOf = Supervisor  # who does the work


def solve_batch(work: Sequence[Work], setup: Setup, output: Output, *, watch: Watch) -> BatchResult:
    """Do the work of a batch that is not done yet.

    Args:
        watch: sees it go on, from another thread.

    Raises:
        UsageError: the results directory holds results and the mode does not say what to do with them; or it cannot be
            used.
        WorkspaceBusy: another batch writes there.
        CodurError: the worker cannot be started.
    """
    begun, results, mode = time.monotonic(), output.results, output.mode
    if mode == "new" and has_results(results):
        raise UsageError(
            f"{results} holds results already",
            remedy="Go on with --resume or --rerun-failed, start over with --fresh, or name another with --results.",
        )
    keys = Keys.of_batch(setup)
    with ResultsDirectory(results) as directory:
        aside = directory.set_aside() if mode == "fresh" else None
        before = done_before(work, results, setup, keys, mode)
        missing = [item for item in work if item.number not in before.ended]
        keeping = replace(setup.keeping, below=str(results.absolute() / RUNS))
        setup = replace(setup, tokens=before.tokens, cost_usd=before.cost_usd, keeping=keeping)
        keeper = Keeper(directory, setup, keys)
        watch.begins(len(missing), before.results, before.others)
        ended, code = _supervised(output.engine(setup, missing, keeper, watch)) if missing else ("all", 0)
        found = read_results(results)
        ordered = found.at(item.place for item in work if item.number in keeper.kept or item.number in before.ended)
        elsewhere = of_other_work(work, found)
        everything = found.at(sorted((*ordered.places, *elsewhere.places)))
        reports, notes = _reports(directory, everything, setup, output.junit)
    return BatchResult(
        results=ordered,
        ended=ended,
        code=code or exit_code(ordered, ended),
        reports=reports,
        others=before.others,
        notes=((f"earlier results are in {aside}",) if aside else ()) + _told(elsewhere) + notes,
        seconds=round(time.monotonic() - begun, 3),
    )


class Before(Struct):
    """What earlier parts of a batch came to: how the work ended that counts as done, by its number, and its results;
    what all of it has cost; and what to know of the others."""

    ended: Mapping[int, Status]
    results: KeptResults
    tokens: int
    cost_usd: float
    others: str


def done_before(work: Sequence[Work], results: Path, setup: Setup, keys: Keys, mode: Mode) -> Before:
    """What the results in a directory are worth. Raises UsageError: they cannot be read."""
    earlier = read_results(results)
    valid = finished(work, earlier, keys, mode, in_place=setup.in_place)
    ended = counting(valid, mode)
    done = earlier.at(item.place for item in work if item.number in ended)
    spent = totals_of(done)
    tokens, cost_usd = spent.tokens, spent.cost_usd
    if mode in GOES_ON:  # what was under way when it was cut off, and what is done again, has been paid for too
        had_tokens, had_cost_usd = read_spent(results)
        tokens, cost_usd = max(tokens, had_tokens), max(cost_usd, had_cost_usd)
    others = of_other_settings(work, earlier, valid, keys.settings)
    return Before(ended=ended, results=done, tokens=tokens, cost_usd=cost_usd, others=others)


def exit_code(results: Collection[ChallengeResult], ended: Ended) -> int:
    """0 if every challenge was solved by every agent, in one attempt at least; 1 if not; 4 if the budget ended it."""
    if ended == "budget":
        return EXIT_CODES["limit"]
    solved: dict[tuple[str, str], bool] = {}
    for result in results:
        solved[result.name, result.agent] = result.solved or solved.get((result.name, result.agent), False)
    return 0 if all(solved.values()) else 1


def _supervised(engine: Engine) -> tuple[Ended, int]:
    """Run an engine, in a thread of its own: a signal ends the wait for it, and nothing that it does half-way.

    Returns:
        Why it ended, and the exit code that a signal asks for, or 0.
    """
    code = 0
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine") as pool:
        future = pool.submit(engine.run)
        while True:
            try:
                return future.result(), code
            except KeyboardInterrupt as stop:
                code = code_of(stop)
                engine.stop(SHORT_GRACE_S if code == TERMINATED else GRACE_S)


def _told(elsewhere: Collection[ChallengeResult]) -> tuple[str, ...]:
    """That the reports tell of more than the work of now."""
    if not elsewhere:
        return ()
    results = "1 result" if len(elsewhere) == 1 else f"{len(elsewhere):,} results"
    return (f"the reports also hold {results} of the directory that this command does not ask for",)


def _reports(
    directory: ResultsDirectory, results: Collection[ChallengeResult], setup: Setup, junit: Path | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The reports that were written, and what kept one from being written: the results are kept without them, too."""
    path = directory.path
    try:
        directory.write_predictions(results, setup.settings.agents.preferences.default_agent)
        return tuple(write_reports(path, results, title=f"codur solve: {path.name}", junit=junit)), ()
    except CodurError as error:
        return (), (f"the reports cannot be written: {error.message}",)
    except OSError as error:
        return (), (f"the reports cannot be written: {error.filename or path}: {reason_of(error)}",)
