"""What is kept of a finished challenge: a line of `results.jsonl`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, ValidationError, to_builtins

from codur.batch.work import Work
from codur.structs import Struct, convert, field

Status = Literal["solved", "failed", "passes", "error", "limit"]
"""Solved: the check was red before and passes now. Passes: it was green before. Error: it could not be worked on.
Limit: a limit ended it."""

SolvedTier = Literal["none", "pattern", "repair", "pre_plan", "plan", "retry", "agent"]
"""The cheapest way that solved it; `retry` and `agent` are told apart further by `retries` and `solved_by`."""

SCHEMA: Final = 1

Count = Annotated[int, Meta(ge=0, le=10**15)]
Amount = Annotated[float, Meta(ge=0, le=1e15)]
"""Numbers such as a person can have meant: results may be anyone's."""


class UnusableResult(ValueError):
    """A line is no result, or not one of this version; the text says why."""


class RouteEntry(Struct):
    """One decision on the way: which node decided, where to, who, how much was left to a model, and why."""

    node: str
    route: str
    origin: str
    tier: str
    reason: str = ""


class ChallengeResult(Struct):
    """What came of one attempt at a challenge."""

    schema: Count = SCHEMA
    name: str  # the name it is listed under; unique in a batch
    directory: str  # where it was found, absolute
    agent: str = ""  # the agent's name; empty for the default one
    attempt: Count = 1  # 1 to the batch's number of attempts
    # identifies the work: a hash of the challenge's files, the agent, the settings that matter and the attempt
    key: str
    status: Status
    verdict: str = ""  # status of the check's last verdict, or empty
    solved_by: str = ""  # who solved it, as a run's result names it; empty if nobody did
    tier: SolvedTier = "none"  # the way that solved it
    reason: str = ""  # why it was not solved, in a line
    explanation: str = ""  # what was wrong, where it is known
    prompt: str = ""  # the task, bounded
    check: str = ""  # the check's command as a person would type it
    # calls, tokens, cost_usd, seconds: what it took; dollars, wall seconds
    calls: Count = 0
    tokens: Count = 0
    cost_usd: Amount = 0.0
    seconds: Amount = 0.0
    attempts: Count = 0  # how many tries of the run were judged
    signature: str = ""  # of the last failure; empty if it passes
    changed_files: tuple[str, ...] = ()  # paths in the challenge
    patch: str = ""  # path of the patch relative to the results directory; empty if nothing was changed
    diff: str = ""  # the patch itself, bounded for the page (`patch` is whole)
    # output_before, output_after: what the check showed before and at the end, bounded
    output_before: str = ""
    output_after: str = ""
    verified: str = ""  # SHA-256 of the changed files' bytes as they were when the check passed; empty if it did not
    sandbox: str = ""
    notes: tuple[str, ...] = ()
    route: tuple[RouteEntry, ...] = ()  # decisions in their order
    started: str = ""  # UTC, ISO 8601
    # the key that the same work has once the verified files are written back; empty if they are not
    key_written: str = ""
    settings: str = ""  # a hash of the settings and limits, which is part of the key; empty if it was not kept
    retries: Count = 0  # which retry it was, if `tier` is `retry`; else 0
    kept: str = ""  # where the run is kept, relative to the results directory: its record, trace, attempts and result

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON types."""
        plain: dict[str, Any] = to_builtins(self)
        return plain

    @property
    def place(self) -> tuple[str, str, int]:
        """What tells its work from all other of a batch; see `Work.place`."""
        return self.name, self.agent, self.attempt

    @property
    def solved(self) -> bool:
        """Whether it is solved."""
        return self.status == "solved"

    @property
    def way(self) -> str:
        """The tier, and which retry it was: `retry 2`."""
        return f"{self.tier} {self.retries}" if self.retries else self.tier


class Attempted(Struct):
    """What came of an attempt."""

    result: ChallengeResult
    patch: str = ""  # all that was changed, as a unified diff
    # the verified contents of the changed files, by path; None for one that was deleted. Empty if not solved.
    files: dict[str, bytes | None] = field(default_factory=dict)
    interrupted: bool = False  # it was cancelled before it came to an end
    kept: bytes = b""  # an archive of what is kept of it, on its way from another machine


def result_for(work: Work, key: str, status: Status, **more: Any) -> ChallengeResult:
    """The result of a piece of work, of which nothing else is known."""
    name, directory = work.challenge.name, str(work.challenge.directory)
    return ChallengeResult(
        name=name, directory=directory, agent=work.agent, attempt=work.attempt, key=key, status=status, **more
    )


def result_from(value: Any) -> ChallengeResult:
    """The result that a JSON object is; fields that this version does not know are passed over.

    Raises:
        UnusableResult: it is none.
    """
    if not isinstance(value, Mapping):
        raise UnusableResult("it is no JSON object")
    if isinstance(value.get("schema"), int) and value["schema"] > SCHEMA:
        raise UnusableResult("it was written by a newer version of Codur")
    try:
        result: ChallengeResult = convert(value, ChallengeResult)
    except ValidationError as error:
        raise UnusableResult("it is damaged") from error
    return result
