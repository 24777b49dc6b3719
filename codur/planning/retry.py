"""What a review decides after an attempt: done, again, with a hint, with another agent, or stop. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codur.types import Attempt, Outcome, Verdict

Move = Literal["retry", "steer", "escalate", "near_miss", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the decision rests on.

    Attributes:
        attempt: the attempt just judged.
        earlier: attempts before it, oldest first.
        before: the verdict before anything was changed.
        best_progress: the best progress of earlier attempts, or of `before`; -1 if nothing was checked.
        stalls: attempts in a row without progress, before this one.
        iteration: attempts judged, this one included.
        near_miss_repair: whether an offline search may follow an attempt that came closer.
        another_agent: whether an agent is left to escalate to.
    """

    attempt: Attempt
    earlier: Sequence[Attempt]
    before: Verdict | None
    best_progress: float
    stalls: int
    iteration: int
    max_iterations: int
    near_miss_repair: bool
    another_agent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The next move.

    Attributes:
        stalls: attempts in a row without progress, now.
        outcome, reason: how the run ends, for `stop`.
        steer: the hint for the next attempt, for `steer` and `escalate`.
    """

    move: Move
    stalls: int = 0
    outcome: Outcome = "not_achieved"
    reason: str = ""
    steer: str = ""


def decide(now: Situation) -> Decision:
    """The next move after a failed attempt.

    Progress is what the check says, never how often a tool was called: an attempt stalls if it fails in the same way
    (equal signature) and just as far (equal progress) as the one before it, or as the untouched program.
    """
    if now.iteration >= now.max_iterations:
        return Decision(
            move="stop",
            outcome="limit",
            reason=f"the check still fails after {_count(now.iteration, 'attempt')}, the limit",
        )
    stalls = now.stalls + 1 if _stalled(now) else 0
    if stalls == 0:
        if now.near_miss_repair and now.attempt.progress > max(now.best_progress, 0.0):
            return Decision(move="near_miss", reason="the attempt came closer; searching nearby without a model")
        return Decision(move="retry", reason="the check fails; trying again with its output")
    if stalls == 1:
        return Decision(move="steer", stalls=1, steer=_hint(now), reason="no progress; trying again with a hint")
    if now.another_agent:
        return Decision(
            move="escalate", stalls=0, steer=_hint(now), reason="no progress; handing over to the next agent"
        )
    return Decision(
        move="stop", stalls=stalls, reason=f"stopped early: {stalls} attempts in a row failed without any progress"
    )


def _stalled(now: Situation) -> bool:
    if now.earlier:
        last = now.earlier[-1]
        return (now.attempt.signature, now.attempt.progress) == (last.signature, last.progress)
    before = now.before
    return before is not None and (now.attempt.signature, now.attempt.progress) == (before.signature, before.progress)


def _hint(now: Situation) -> str:
    tries = [attempt for attempt in now.earlier if attempt.signature == now.attempt.signature]
    if not tries:
        return (
            "The edit changed nothing in how the check fails. The cause is probably somewhere else: "
            "follow the failing value back to where it is made."
        )
    numbers = ", ".join(str(attempt.number) for attempt in [*tries, now.attempt])
    return (
        f"Attempts {numbers} failed in exactly the same way. Do not repeat them: question the assumption they share, "
        "and look at code that none of them touched."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
