"""What follows a failed attempt, as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codur.planning.retry import Decision, Situation, decide
from codur.types import Attempt, Verdict


def attempt(number: int, signature: str, progress: float) -> Attempt:
    return Attempt(number=number, by="codur-coding", signature=signature, progress=progress)


BEFORE = Verdict(status="failed", signature="s0", progress=0.2)
BASE = Situation(
    attempt=attempt(1, "s1", 0.2),
    earlier=(),
    before=BEFORE,
    best_progress=0.2,
    stalls=0,
    iteration=1,
    max_iterations=10,
    near_miss_repair=False,
    another_agent=False,
)


@pytest.mark.parametrize(
    ("situation", "move", "stalls"),
    [
        pytest.param(BASE, "retry", 0, id="another failure is another chance"),
        pytest.param(replace(BASE, attempt=attempt(1, "s0", 0.2)), "steer", 1, id="as the untouched program"),
        pytest.param(replace(BASE, attempt=attempt(1, "s0", 0.5)), "retry", 0, id="equal failure, but further"),
        pytest.param(
            replace(BASE, attempt=attempt(2, "s1", 0.2), earlier=(attempt(1, "s1", 0.2),), iteration=2),
            *("steer", 1),
            id="as the attempt before",
        ),
        pytest.param(
            replace(BASE, attempt=attempt(3, "s1", 0.2), earlier=(attempt(2, "s1", 0.2),), stalls=1, iteration=3),
            *("stop", 2),
            id="a second stall stops",
        ),
        pytest.param(
            replace(
                BASE,
                attempt=attempt(3, "s1", 0.2),
                earlier=(attempt(2, "s1", 0.2),),
                stalls=1,
                another_agent=True,
            ),
            *("escalate", 0),
            id="a second stall hands over",
        ),
        pytest.param(
            replace(BASE, attempt=attempt(3, "s2", 0.2), earlier=(attempt(2, "s1", 0.2),), stalls=1),
            *("retry", 0),
            id="another failure ends a stall",
        ),
        pytest.param(
            replace(BASE, attempt=attempt(1, "s1", 0.6), near_miss_repair=True),
            *("near_miss", 0),
            id="a near miss is searched around",
        ),
        pytest.param(replace(BASE, near_miss_repair=True), "retry", 0, id="no nearer, no search"),
        pytest.param(replace(BASE, before=None), "retry", 0, id="nothing known before"),
        pytest.param(replace(BASE, iteration=10), "stop", 0, id="the limit of attempts"),
    ],
)
def test_decide(situation: Situation, move: str, stalls: int) -> None:
    decision = decide(situation)
    assert (decision.move, decision.stalls) == (move, stalls)
    assert decide(situation) == decision


def test_the_limit_is_an_outcome_of_its_own() -> None:
    assert decide(replace(BASE, iteration=10)) == Decision(
        move="stop", outcome="limit", reason="the check still fails after 10 attempts, the limit"
    )


def test_a_hint_names_what_repeats() -> None:
    twice = replace(BASE, attempt=attempt(2, "s1", 0.2), earlier=(attempt(1, "s1", 0.2),))
    assert decide(twice).steer.startswith("Attempts 1, 2 failed in exactly the same way.")
    assert decide(replace(BASE, attempt=attempt(1, "s0", 0.2))).steer.startswith("The edit changed nothing")
