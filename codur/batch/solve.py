"""Solves challenges one after the other, each in a copy of its directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from codur.batch.challenge import DEFAULT_PROMPT, Challenge
from codur.batch.copying import copy_files
from codur.config.settings import Settings
from codur.errors import CodurError, Refused, UsageError
from codur.events import ignore
from codur.sandbox.probe import choose_backend
from codur.session.result import error_result
from codur.session.run import Host, run_task
from codur.session.stop import Stopped
from codur.types import Limits, RunResult, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A challenge and what came of it.

    Attributes:
        outcome: `solved` only if the check was red before and passes now.
        note: why not, in a line.
    """

    challenge: Challenge
    result: RunResult
    outcome: Literal["solved", "failed", "error"]
    note: str

    def to_json(self) -> dict[str, Any]:
        """The challenge's name and result as plain JSON types."""
        return {"challenge": self.challenge.name, "outcome": self.outcome, "result": asdict(self.result)}


def solve_all(
    challenges: Sequence[Challenge],
    settings: Settings,
    limits: Limits,
    *,
    host: Host,
    agent: str | None = None,
    offline: bool = False,
) -> Iterator[Solved]:
    """Solve each challenge in turn; the originals are not touched.

    Raises:
        KeyboardInterrupt: the user stopped the batch.
    """
    for challenge in challenges:
        result = _solve(challenge, settings, limits, host=host, agent=agent, offline=offline)
        if result.outcome == "interrupted":
            raise Stopped(result.exit_code)
        yield judged(challenge, result)


def require_sandbox(settings: Settings, host: Host) -> None:
    """Make sure that the programs of challenges are contained.

    Raises:
        Refused: nothing contains programs here.
    """
    chosen = choose_backend(settings.sandbox.backend, host.environ, cache=host.cache)
    if chosen.backend.name == "none":
        why = chosen.note or "the settings say so (sandbox.backend)"
        raise Refused(
            f"the programs of challenges would run without a sandbox: {why}",
            remedy="See `codur doctor` for how to get one, or add --no-sandbox.",
        )


def judged(challenge: Challenge, result: RunResult) -> Solved:
    """A result as a challenge's outcome: done means that the check was red before and is green now."""
    red_before = result.before is not None and result.before.status == "failed"
    if result.outcome == "done" and result.verdict is not None and result.verdict.passed and red_before:
        return Solved(challenge=challenge, result=result, outcome="solved", note="")
    if result.outcome == "usage":
        return Solved(challenge=challenge, result=result, outcome="error", note=result.reason)
    note = "needs a model" if result.outcome == "no_model" else result.reason
    if result.outcome == "done":
        note = "nothing shows that it is solved: the check was not red before, or does not pass"
    return Solved(challenge=challenge, result=result, outcome="failed", note=note)


def _solve(
    challenge: Challenge, settings: Settings, limits: Limits, *, host: Host, agent: str | None, offline: bool
) -> RunResult:
    task = Task(
        prompt=DEFAULT_PROMPT,
        workspace=str(challenge.directory),
        limits=limits,
        check_is_goal=True,
        agent=agent,
        offline=offline,
    )
    try:
        with TemporaryDirectory(prefix="codur-challenge-", ignore_cleanup_errors=True) as temporary:
            copy = Path(temporary) / challenge.directory.resolve().name
            left_out = copy_files(challenge, copy)
            task = replace(task, prompt=challenge.prompt(), workspace=str(copy))
            result = run_task(task, settings, host=replace(host, state=None), emit=ignore)
    except CodurError as error:
        return error_result(error, task)
    except OSError as error:
        reason = f"cannot be worked on: {(error.strerror or str(error)).lower()}"
        return error_result(UsageError(reason, remedy="Check the permissions and the free space of the disk."), task)
    notes = tuple(f"{name}: left out of the copy: not a regular file" for name in left_out)
    return replace(result, notes=(*result.notes, *notes))
