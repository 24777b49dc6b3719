"""What follows a failed attempt: as a table, and as a machine that plays models of all kinds against it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codur.planning.retry import Decision, Situation, decide
from codur.structs import replace
from codur.types import Attempt, Verdict

PATIENCE = 3


def attempt(number: int, signature: str, progress: float = 0.2, edit: str | None = None) -> Attempt:
    given_edit = f"e{number}" if edit is None else edit
    return Attempt(number=number, by="codur-coding", signature=signature, progress=progress, edit=given_edit)


BEFORE = Verdict(status="failed", signature="s0", progress=0.2)
BASE = Situation(
    attempt=attempt(1, "s1"),
    earlier=(),
    before=BEFORE,
    gained=False,
    stalls=0,
    patience=PATIENCE,
    iteration=1,
    max_iterations=10,
    near_miss_repair=False,
    another_agent=False,
)


def after(*earlier: Attempt, then: Attempt, stalls: int, **fields: object) -> Situation:
    return replace(BASE, earlier=earlier, attempt=then, stalls=stalls, iteration=len(earlier) + 1, **fields)  # type: ignore[arg-type]


ONE, TWO = attempt(1, "s1"), attempt(2, "s1")


@pytest.mark.parametrize(
    ("situation", "move", "stalls"),
    [
        pytest.param(BASE, "retry", 1, id="the first failure is told"),
        pytest.param(replace(BASE, attempt=attempt(1, "s0")), "retry", 1, id="as the untouched program"),
        pytest.param(replace(BASE, gained=True), "retry", 0, id="further"),
        pytest.param(replace(BASE, gained=True, stalls=2), "retry", 0, id="a gain ends a stall"),
        pytest.param(replace(BASE, gained=True, near_miss_repair=True), "near_miss", 0, id="a near miss"),
        pytest.param(replace(BASE, near_miss_repair=True), "retry", 1, id="no nearer, no search"),
        pytest.param(replace(BASE, before=None), "retry", 1, id="nothing known before"),
        pytest.param(replace(BASE, iteration=10), "stop", 0, id="the limit of attempts"),
        pytest.param(replace(BASE, iteration=10, gained=True), "stop", 0, id="the limit, though further"),
        pytest.param(after(ONE, then=TWO, stalls=1), "steer", 2, id="the same failure"),
        pytest.param(after(ONE, then=attempt(2, "s2"), stalls=1), "steer", 2, id="another failure, no further"),
        pytest.param(after(ONE, TWO, then=attempt(3, "s1"), stalls=2), "stop", 3, id="three times the same"),
        pytest.param(after(ONE, TWO, then=attempt(3, "s0"), stalls=2), "stop", 3, id="back to the untouched one's"),
        pytest.param(
            after(ONE, attempt(2, "s2"), then=attempt(3, "s1"), stalls=2), "stop", 3, id="back and forth between two"
        ),
        pytest.param(after(ONE, attempt(2, "s2"), then=attempt(3, "s3"), stalls=2), "steer", 3, id="still new"),
        pytest.param(
            after(ONE, attempt(2, "s2"), attempt(3, "s3"), then=attempt(4, "s4"), stalls=3), "stop", 4, id="always new"
        ),
        pytest.param(
            after(ONE, attempt(2, "s2"), then=attempt(3, "s3", edit="e1"), stalls=2), "stop", 3, id="a repeated edit"
        ),
        pytest.param(
            after(attempt(1, "edit: x", edit=""), then=attempt(2, "edit: x", edit=""), stalls=1),
            *("steer", 2),
            id="twice no edit",
        ),
        pytest.param(after(ONE, TWO, then=attempt(3, "s1"), stalls=2, another_agent=True), "escalate", 0, id="next"),
        pytest.param(
            after(ONE, TWO, then=attempt(3, "s1"), stalls=2, another_agent=True, affordable=False),
            *("stop", 3),
            id="the next agent cannot be paid",
        ),
        pytest.param(
            after(ONE, attempt(2, "s2"), attempt(3, "s3"), then=attempt(4, "s4"), stalls=2), "stop", 3, id="had a gain"
        ),
        pytest.param(replace(BASE, affordable=False), "retry", 1, id="money matters only for the next agent"),
        pytest.param(after(ONE, then=TWO, stalls=1, patience=2), "stop", 2, id="little patience"),
        pytest.param(replace(BASE, patience=1, attempt=attempt(1, "s0")), "stop", 1, id="no patience"),
        pytest.param(after(ONE, TWO, then=attempt(3, "s1"), stalls=2, patience=5), "steer", 3, id="much patience"),
    ],
)
def test_decide(situation: Situation, move: str, stalls: int) -> None:
    decision = decide(situation)
    assert (decision.move, decision.stalls) == (move, stalls)
    assert bool(decision.steer) == (move in {"steer", "escalate"})
    assert decide(situation) == decision


def test_how_a_run_ends() -> None:
    assert decide(replace(BASE, iteration=10)) == Decision(
        move="stop", outcome="limit", reason="the check still fails after 10 attempts, the limit"
    )
    given_up = after(ONE, TWO, then=attempt(3, "s1"), stalls=2)
    assert decide(given_up) == Decision(
        move="stop", stalls=3, reason="stopped early: 3 attempts in a row came no further"
    )
    broke = decide(replace(given_up, another_agent=True, affordable=False))
    assert broke.outcome == "limit"
    assert "does not pay for an attempt of the next agent" in broke.reason


@pytest.mark.parametrize(
    ("situation", "hint"),
    [
        (after(ONE, then=TWO, stalls=1), "Attempts 1, 2 failed in exactly the same way."),
        (after(ONE, then=attempt(2, "s0"), stalls=1), "The edit changed nothing"),
        (after(ONE, then=attempt(2, "s1", edit="e1"), stalls=1), "Attempt 2 made the same change as attempt 1"),
        (after(ONE, then=attempt(2, "s2"), stalls=1), "The last attempts failed in different ways"),
        (
            after(attempt(1, "edit: x", edit=""), then=attempt(2, "edit: x", edit=""), stalls=1),
            "Nothing was applied in attempts 1, 2.",
        ),
    ],
)
def test_a_hint_says_what_stalls(situation: Situation, hint: str) -> None:
    assert decide(situation).steer.startswith(hint)


# --- the machine ------------------------------------------------------------------------------------------------------

ANSWERS = st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 0.2, 0.5, 0.8]), st.sampled_from(["", "x", "y"]))


@given(
    answers=st.lists(ANSWERS, min_size=1, max_size=40),
    agents=st.integers(1, 3),
    patience=st.integers(1, 5),
    limit=st.integers(1, 12),
    calls=st.integers(0, 12),
)
def test_every_run_ends_in_time(
    answers: list[tuple[str, float, str]], agents: int, patience: int, limit: int, calls: int
) -> None:
    """Plays runs: they end, keep to the limits, give each agent one turn, and stop only without progress."""
    earlier: list[Attempt] = []
    turns, stalls, best = [0], 0, 0.0
    while True:
        number = len(earlier) + 1
        signature, progress, edit = answers[(number - 1) % len(answers)]
        present = replace(attempt(number, signature, progress, edit or f"e{number}"), by=str(len(turns)))
        turns[-1] += 1
        gained = progress > best
        now = replace(
            BASE,
            attempt=present,
            earlier=tuple(earlier),
            gained=gained,
            stalls=stalls,
            patience=patience,
            iteration=number,
            max_iterations=limit,
            another_agent=len(turns) < agents,
            affordable=number < calls,
        )
        decision = decide(now)
        assert number <= limit
        earlier.append(present)
        best = max(best, progress)
        stalls = decision.stalls
        if decision.move == "stop":
            break
        if decision.move == "escalate":
            assert number < calls
            assert not gained
            turns.append(0)
    assert len(turns) <= agents
    assert gained is False or number == limit
    gains = sum(
        1 for index, item in enumerate(earlier) if item.progress > max([0.0, *(e.progress for e in earlier[:index])])
    )
    assert number <= (patience + 1) * (len(turns) + gains)
    if number < limit:
        assert min(turns) >= min(patience, 1)
        last = [item.progress for item in earlier[-min(patience, number) :]]
        assert best == max(item.progress for item in earlier) if best else max(last) == 0.0
