"""One budget and one rate limit for runs that go on side by side."""

from __future__ import annotations

import math

import pytest

from codur.errors import LimitReached
from codur.llm.clock import Clock
from codur.llm.model import ChatReply
from codur.llm.rate_limits.demand import Demand
from codur.llm.rate_limits.shared_limits import OVER_BUDGET, SharedBudget, SharedModels
from codur.llm.request_failure import ServiceFailure
from codur.structs import replace
from codur.types import Usage

DEMAND = Demand(provider="p", tokens=100, answer_tokens=50, cost_usd=0.1)


PLACE = ("p", "")


class Stopped(Clock):
    seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def random(self) -> float:
        return 0.5


def shared(clock: Clock | None = None, budget: SharedBudget | None = None) -> SharedModels:
    return SharedModels(budget, clock or Stopped())


def limited(seconds: float | None) -> ServiceFailure:
    return ServiceFailure("Slow down.", kind="rate_limit", retry_after_s=seconds)


def test_without_limits_everybody_asks_at_once() -> None:
    models = shared()
    assert [models.wait_s(DEMAND, math.inf) for _ in range(50)] == [0.0] * 50


def test_all_wait_as_long_as_the_service_says_and_other_providers_do_not() -> None:
    clock = Stopped()
    models = shared(clock)
    assert models.wait_s(DEMAND, math.inf) == 0.0
    assert models.refused(PLACE, limited(7.0)) == 7.0
    models.done(DEMAND)
    assert models.wait_s(DEMAND, math.inf) == 7.0
    assert models.wait_s(replace(DEMAND, provider="q"), math.inf) == 0.0
    clock.seconds += 6.5
    assert models.wait_s(DEMAND, math.inf) == 0.5
    clock.seconds += 0.5
    assert models.wait_s(DEMAND, math.inf) == 0.0


def test_a_wait_beyond_the_runs_own_time_is_its_failure() -> None:
    models = shared()
    models.refused(PLACE, limited(60.0))
    with pytest.raises(ServiceFailure, match="Slow down") as caught:
        models.wait_s(DEMAND, 59.0)
    assert caught.value.retry_after_s == 60.0


def test_after_a_refusal_fewer_ask_at_a_time_and_with_answers_more() -> None:
    clock = Stopped()
    models = shared(clock)
    for _ in range(8):
        assert models.wait_s(DEMAND, math.inf) == 0.0
    for _ in range(8):  # of many that are refused together, the first one counts
        models.refused(PLACE, limited(1.0))
        models.done(DEMAND)
    clock.seconds += 1.0

    def room() -> int:
        number = 0
        while models.wait_s(DEMAND, math.inf) == 0.0:
            number += 1
        for _ in range(number):
            models.done(DEMAND, ChatReply())
        return number

    assert [room() for _ in range(3)] == [4, 5, 6]


def test_without_a_time_the_waits_grow() -> None:
    clock = Stopped()
    models = shared(clock)
    waits = []
    for _ in range(4):
        waits.append(models.refused(PLACE, limited(None)))
        clock.seconds += waits[-1]
    assert waits == pytest.approx([0.35, 0.6, 1.1, 2.1])


def test_what_the_others_may_still_cost_is_waited_for_and_only_what_is_spent_ends_it() -> None:
    told: list[tuple[int, float]] = []
    models = shared(budget=SharedBudget(max_tokens=150, on_spent=lambda *spent: told.append(spent)))
    assert models.wait_s(DEMAND, math.inf) == 0.0
    assert models.wait_s(DEMAND, math.inf) > 0.0
    models.spend(Usage(calls=1, prompt_tokens=10, completion_tokens=10, cost_usd=0.01))
    models.done(DEMAND, ChatReply())
    assert models.wait_s(DEMAND, math.inf) == 0.0
    models.spend(Usage(calls=1, prompt_tokens=40, cost_usd=0.02))
    models.done(DEMAND, ChatReply())
    with pytest.raises(LimitReached, match=f"{OVER_BUDGET}: 60 of 150 tokens are spent"):
        models.wait_s(DEMAND, math.inf)
    assert told == [(20, 0.01), (60, pytest.approx(0.03))]


def test_dollars_that_were_spent_before_count() -> None:
    models = shared(budget=SharedBudget(max_cost_usd=1.0, cost_usd=0.95))
    with pytest.raises(LimitReached, match=r"\$0\.9500 of \$1\.0000 are spent") as caught:
        models.wait_s(DEMAND, math.inf)
    assert "--budget" in caught.value.remedy
