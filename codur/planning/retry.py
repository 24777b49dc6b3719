"""What a review decides after an attempt: again, with a hint, with another agent, or stop. Pure."""

from collections.abc import Sequence
from typing import Literal

from codur.structs import Struct
from codur.types import Attempt, Outcome, Verdict

Move = Literal["retry", "steer", "escalate", "near_miss", "stop"]

UNAFFORDABLE = "what is left of the limits does not pay for an attempt of the next agent"


class Situation(Struct):
    """What the decision rests on."""

    attempt: Attempt  # the attempt just judged
    earlier: Sequence[Attempt]  # attempts before it, of any agent, oldest first
    before: Verdict | None  # the verdict before anything was changed
    gained: bool  # the attempt came further than the state that it started from, so the next one starts from it
    stalls: int  # attempts in a row of this agent that gained nothing, before this one
    # attempts in a row without a gain that an agent is given; one more if it gained nothing at all so far and still
    # fails in new ways
    patience: int
    iteration: int  # attempts judged, this one included
    max_iterations: int
    near_miss_repair: bool  # whether an offline search may follow an attempt that came closer
    another_agent: bool  # whether an agent is left to escalate to
    affordable: bool = True  # whether what is left of the run's limits pays for an attempt of that agent


class Decision(Struct):
    """The next move."""

    move: Move
    stalls: int = 0  # attempts in a row without a gain of the agent at work, now
    # outcome, reason: how the run ends, for `stop`
    outcome: Outcome = "not_achieved"
    reason: str = ""
    steer: str = ""  # the hint for the next attempt, for `steer` and `escalate`


def decide(now: Situation) -> Decision:
    """The next move after a failed attempt.

    Progress is what the check says, never how often a tool was called. An attempt that came further is followed by
    another one, whatever it fails of. Of those that did not, the first is followed by a retry with its failure, the
    next by one with a hint; then the agent is given up: at once if it fails in a way that was seen before (which a
    program that goes back and forth between two failures does, too) or if it had its gains, else after one more.
    """
    # Before what the attempt gained: the user's limit holds also for a run that comes closer each time.
    if now.iteration >= now.max_iterations:
        tries = f"{now.iteration} attempt{'' if now.iteration == 1 else 's'}"
        failed = "the check still fails after" if now.attempt.edit else "no edit came of the last of"
        return Decision(move="stop", outcome="limit", reason=f"{failed} {tries}, the limit")
    if now.gained:
        if now.near_miss_repair:
            return Decision(move="near_miss", reason="the attempt came closer; searching nearby without a model")
        return Decision(move="retry", reason="the attempt came further; going on from it")
    stalls = now.stalls + 1
    # The agent's turn has more attempts than those without a gain at its end.
    had_gains = 1 + sum(attempt.by == now.attempt.by for attempt in now.earlier) > stalls
    if stalls > now.patience or (stalls == now.patience and (_seen(now) or had_gains)):
        # An agent whose attempt cannot be paid for to its end would use up what is left and change nothing.
        if now.another_agent and now.affordable:
            return Decision(move="escalate", steer=_hint(now), reason="no progress; handing over to the next agent")
        tries = "1 attempt" if stalls == 1 else f"{stalls} attempts in a row"
        early = f"stopped early: {tries} came no further"
        if now.another_agent:
            return Decision(move="stop", stalls=stalls, outcome="limit", reason=f"{early}, and {UNAFFORDABLE}")
        return Decision(move="stop", stalls=stalls, reason=early)
    if stalls == 1:
        return Decision(move="retry", stalls=1, reason="the check fails; trying again with its output")
    return Decision(move="steer", stalls=stalls, steer=_hint(now), reason="no progress; trying again with a hint")


def _seen(now: Situation) -> bool:
    """Whether the attempt told nothing new: it fails as an earlier one or the untouched program, or repeats an edit."""
    known = {attempt.signature for attempt in now.earlier}
    if now.before is not None:
        known.add(now.before.signature)
    return now.attempt.signature in known or _repeated(now) is not None


def _repeated(now: Situation) -> Attempt | None:
    # No edit is no repetition: two answers that could not be applied may have been different ones.
    same = [attempt for attempt in now.earlier if attempt.edit and attempt.edit == now.attempt.edit]
    return same[0] if same else None


def _hint(now: Situation) -> str:
    tries = [attempt for attempt in now.earlier if attempt.signature == now.attempt.signature]
    numbers = ", ".join(str(attempt.number) for attempt in [*tries, now.attempt])
    repeated = _repeated(now)
    if not now.attempt.edit:
        return (
            f"Nothing was applied in attempt{'s' if tries else ''} {numbers}. Edit now, from the lines that are shown; "
            "where a piece of text did not match, replace the whole function."
        )
    if repeated is not None:
        return (
            f"Attempt {now.attempt.number} made the same change as attempt {repeated.number}, which fails as told. "
            "Make another one: follow the wrong value from the failing lines back to where it is made."
        )
    if tries:
        return (
            f"Attempts {numbers} failed in exactly the same way. Do not repeat them: question the assumption they "
            "share, and read again the lines that fail and what they call."
        )
    if now.before is not None and now.attempt.signature == now.before.signature:
        return (
            "The edit changed nothing in how the check fails: it was not enough, or the failing run does not reach it. "
            "Follow the failing value from the failing lines back to where it is made."
        )
    return (
        "The last attempts failed in different ways, and none came further. Begin with the first difference only: "
        "find the statement that makes this value, and work out by hand what it should be."
    )
