"""What `codur solve` does with what it was given."""

from __future__ import annotations

import json as json_module
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from codur.batch.finding import find_challenges
from codur.batch.record import ChallengeResult
from codur.batch.results import new_directory, newest
from codur.batch.setup import Setup
from codur.batch.solve import BatchResult, Mode, require_sandbox, solve_batch
from codur.batch.work import Work, work_of
from codur.cli import surroundings
from codur.errors import UsageError
from codur.ui.batch import (
    BatchDisplay,
    BatchRow,
    LineDisplay,
    NoDisplay,
    Progress,
    batch_table,
    challenges_table,
)
from codur.ui.lines import count
from codur.ui.output import choose_kind, show
from codur.ui.sanitise import sanitise
from codur.ui.stream import SafeStream

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which work: see `work_of`."""

    agents: tuple[str, ...] = ()
    attempts: int = 1
    pattern: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How it is done; `jobs` of None stands for the number of processors."""

    jobs: int | None = None
    budget_usd: float | None = None
    max_tokens: int | None = None
    offline: bool = False
    in_place: bool = False
    no_sandbox: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where results go, and what becomes of those that are there."""

    results: Path | None = None
    mode: Mode = "new"
    junit: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAs:
    """What is shown of it."""

    json: bool = False
    quiet: bool = False
    list_only: bool = False


def mode_of(*, resume: bool, rerun_failed: bool, fresh: bool) -> Mode:
    """What becomes of earlier results.

    Raises:
        UsageError: more than one of the options was given.
    """
    given: dict[Mode, bool] = {"resume": resume, "rerun_failed": rerun_failed, "fresh": fresh}
    chosen = [mode for mode, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise UsageError("--resume, --rerun-failed and --fresh exclude each other", remedy="Give one of them.")
    return chosen[0] if chosen else "new"


def solve_challenges(
    directories: Sequence[Path],
    *,
    which: Which,
    how: How,
    where: Where,
    shown: ShownAs,
    config: Path | None,
    overrides: Mapping[str, Any],
) -> int:
    """Solve challenges and show the table, also of a batch that is interrupted.

    Returns:
        0 if all were solved, 1 if not, 4 if the budget ended it, 130 or 143 after an interrupt.

    Raises:
        Refused: nothing would contain the programs, and `--no-sandbox` does not say that this is wanted.
        UsageError: there are no challenges, or the options do not fit together.
    """
    settings = surroundings.settings_for(None, config, overrides).settings
    work = work_of(
        find_challenges(directories),
        agents=which.agents,
        attempts=which.attempts,
        pattern=which.pattern,
        limit=which.limit,
    )
    if shown.list_only:
        return _listed(work, json=shown.json)
    if how.in_place and (len(which.agents) > 1 or which.attempts > 1):
        raise UsageError("--in-place takes one attempt with one agent", remedy="Leave one of the options out.")
    host = surroundings.host()
    if not how.no_sandbox:
        require_sandbox(settings, host)
    setup = Setup(
        settings=settings,
        limits=surroundings.limits_of(settings),
        host=host,
        offline=how.offline,
        jobs=min(how.jobs or processors(), len(work)),
        processors=processors(),
        max_tokens=how.max_tokens,
        max_cost_usd=how.budget_usd,
        in_place=how.in_place,
    )
    results = _results(where, work)
    display = _display(shown)
    try:
        batch = solve_batch(
            work,
            setup,
            results,
            mode=where.mode,
            watch=_Watch(display),
            begins=lambda missing, known: display.begin(Progress(len(missing) + len(known), list(map(_row, known)))),
            junit=Path.cwd() / where.junit if where.junit else None,
        )
    finally:
        display.close()
    _show(batch, work, results, shown, resume=_resume_words(directories, results, which, how, config, overrides))
    return batch.code


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Watch:
    """Tells a display what the batch does."""

    def __init__(self, display: BatchDisplay) -> None:
        self._display = display

    def started(self, work: Work) -> None:
        """See `Watch`."""
        self._display.started(work.number, work.title)

    def phase(self, work: Work, phase: str, calls: int) -> None:
        """See `Watch`."""
        self._display.phase(work.number, phase, calls)

    def finished(self, work: Work, result: ChallengeResult) -> None:
        """See `Watch`."""
        self._display.finished(work.number, _row(result))

    def again(self, work: Work) -> None:
        """See `Watch`."""
        self._display.again(work.number)


def _results(where: Where, work: Sequence[Work]) -> Path:
    """The directory of results, absolute.

    Raises:
        UsageError: there are none to go on with, or it is inside a challenge.
    """
    here = Path.cwd()
    if where.results is not None:
        path = here / where.results
        real = path.resolve()
        inside = next((item for item in work if real.is_relative_to(item.challenge.directory)), None)
        if inside is not None:
            raise UsageError(
                f"the results directory {where.results} is inside the challenge {inside.challenge.name}",
                remedy="Name one outside of it with --results.",
            )
        return path
    return newest(here) if where.mode in ("resume", "rerun_failed") else new_directory(here, datetime.now())


def _display(shown: ShownAs) -> BatchDisplay:
    if shown.json or shown.quiet:
        return NoDisplay()
    stream = SafeStream(sys.stderr)
    kind = choose_kind(json=False, json_stream=False, raw=False, stdout_is_tty=sys.stderr.isatty(), environ=os.environ)
    if kind != "rich":
        return LineDisplay(stream)
    from codur.ui.batch_live import LiveDisplay  # noqa: PLC0415 - lazy: rich is for terminals only

    return LiveDisplay(stream, color=True)


def _listed(work: Sequence[Work], *, json: bool) -> int:
    if json:
        rows = [
            {
                "name": item.challenge.name,
                "directory": str(item.challenge.directory),
                "agent": item.agent,
                "attempt": item.attempt,
                "problem": item.challenge.problem,
            }
            for item in work
        ]
        show(sanitise(json_module.dumps(rows)), sys.stdout)
        return 0
    lines = [(item.title, item.challenge.problem or "to do", str(item.challenge.directory)) for item in work]
    show(challenges_table(lines, color=sys.stdout.isatty(), width=surroundings.width()), sys.stdout)
    show(sanitise(count(len(work), "challenge")), sys.stderr)
    return 0


def _show(batch: BatchResult, work: Sequence[Work], results: Path, shown: ShownAs, *, resume: str) -> None:
    if shown.json:
        show(sanitise(json_module.dumps(_as_json(batch, work, results))), sys.stdout)
    elif not shown.quiet:
        rows = list(map(_row, batch.results))
        show(batch_table(rows, color=sys.stdout.isatty(), width=surroundings.width()), sys.stdout)
    for note in batch.notes:
        show(sanitise(f"note: {note}"), sys.stderr)
    if not shown.json and not shown.quiet:
        page = next((path for path in batch.reports if path.suffix == ".html"), results)
        show(sanitise(f"results: {_short(page)}"), sys.stderr)
    left = len(work) - len(batch.results)
    if batch.ended == "budget":
        show(sanitise(f"the budget is used up; go on with a higher one: {resume}"), sys.stderr)
    elif batch.ended == "stopped":
        show(sanitise(f"go on with: {resume}"), sys.stderr)
        words = count(len(work), "challenge")
        show(sanitise(f"interrupted; {len(work) - left} of {words} finished"), sys.stderr)


def _as_json(batch: BatchResult, work: Sequence[Work], results: Path) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA,
        "exit_code": batch.code,
        "ended": batch.ended,
        "results_directory": str(results),
        "challenges": len(work),
        "finished": len(batch.results),
        "solved": sum(item.solved for item in batch.results),
        "model_calls": sum(item.calls for item in batch.results),
        "tokens": sum(item.tokens for item in batch.results),
        "cost_usd": round(sum(item.cost_usd for item in batch.results), 6),
        "seconds": batch.seconds,
        "reports": [str(path) for path in batch.reports],
        "notes": list(batch.notes),
        "results": [item.to_json() for item in batch.results],
    }


def _resume_words(
    directories: Sequence[Path],
    results: Path,
    which: Which,
    how: How,
    config: Path | None,
    overrides: Mapping[str, Any],
) -> str:
    """What to type to go on: with other settings, the same challenges would be other work."""
    runtime: Mapping[str, Any] = overrides.get("runtime", {})
    values: list[tuple[str, object]] = [
        *(("--agent", name) for name in which.agents),
        ("--attempts", which.attempts if which.attempts > 1 else None),
        ("--filter", which.pattern or None),
        ("--limit", which.limit),
        ("--jobs", how.jobs),
        ("--timeout", runtime.get("max_runtime_s")),
        ("--max-llm-calls", runtime.get("max_llm_calls")),
        ("--max-iterations", runtime.get("max_iterations")),
        ("--budget", how.budget_usd),
        ("--max-tokens", how.max_tokens),
        ("--config", config),
    ]
    flags = [("--offline", how.offline), ("--in-place", how.in_place), ("--no-sandbox", how.no_sandbox)]
    words = [word for name, value in values if value is not None for word in (name, str(value))]
    words += [name for name, is_given in flags if is_given]
    return shlex.join(["codur", "solve", *map(str, directories), *words, "--resume", "--results", _short(results)])


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _row(result: ChallengeResult) -> BatchRow:
    return BatchRow(
        name=result.name,
        agent=result.agent,
        attempt=result.attempt,
        status=result.status,
        solved_by=result.solved_by,
        tier=result.tier,
        calls=result.calls,
        tokens=result.tokens,
        cost=result.cost_usd,
        seconds=result.seconds,
        note=result.reason,
    )
