"""Requests of many runs against services with rate limits, in simulated time."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from codur.errors import LimitReached
from codur.events import ModelWaiting
from codur.llm.model import ChatReply, ChatRequest, Quota
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.rate_limits.demand import Demand, Rules
from codur.llm.rate_limits.model_limits import ModelLimits
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.llm.request_failure import ServiceFailure
from codur.types import Limits, Message
from tests.llm.simulated import (
    Bucket,
    Crowd,
    FixedWindow,
    Service,
    SimulatedClock,
    SimulatedModel,
    crowd,
    ideal_s,
    settings_for,
    simulate,
)

DAY_S = 86_400.0


def free(**more: object) -> Service:
    """Groq's free plan: 8,000 tokens and 30 requests a minute, 1,000 requests a day."""
    return Service(tokens=Bucket(8000, 60), requests=Bucket(30, 60), daily=Bucket(1000, DAY_S), **more)  # type: ignore[arg-type]


def paid() -> Service:
    """Groq's developer plan: 250,000 tokens and 1,000 requests a minute."""
    return Service(tokens=Bucket(250_000, 60), requests=Bucket(1000, 60), daily=Bucket(500_000, DAY_S))


@pytest.mark.parametrize(
    ("service", "load"),
    [
        pytest.param(free(), {}, id="free plan"),
        pytest.param(free(), {"prompt": 60, "answer": 60}, id="free plan, small requests"),
        pytest.param(free(), {"factor": 1.3}, id="prompts count more than estimated"),
        pytest.param(free(), {"factor": 0.8}, id="prompts count less than estimated"),
        pytest.param(free(gives_back=True), {}, id="what an answer does not use is given back"),
        pytest.param(paid(), {"questions": 20}, id="paid plan"),
        pytest.param(paid(), {"prompt": 60, "answer": 60, "questions": 100}, id="paid plan, small requests"),
    ],
)
def test_fifty_runs_cause_no_refusal_and_lose_no_time(service: Service, load: dict[str, float]) -> None:
    done = simulate(crowd(service, **load))  # type: ignore[arg-type]
    assert done.errors == []
    assert Counter(service.statuses) == {200: done.answers}
    assert done.answers == 50 * load.get("questions", 4)
    assert service.last_sent <= 1.05 * ideal_s(service)


@pytest.mark.parametrize("limit", [8000, 250_000])
def test_windows_that_end_at_once_are_not_taken_for_steady_ones(limit: int) -> None:
    service = Service(tokens=FixedWindow(limit, 60))
    done = simulate(crowd(service, questions=4 if limit < 10_000 else 20))
    assert done.errors == []
    assert set(service.statuses) == {200}


def test_a_request_that_can_never_fit_gets_a_shorter_answer() -> None:
    service = free()
    done = simulate(crowd(service, runs=10, questions=2, prompt=3000, answer=9000))
    assert (done.answers, done.errors) == (20, [])
    assert Counter(service.statuses) == {200: 20, 413: 1}, "only the first one, before anything was known"


def test_limits_in_the_settings_are_kept_where_the_service_tells_none() -> None:
    settings, _ = settings_for(tokens_per_minute=8000, requests_per_minute=30)
    service = Service(tokens=Bucket(8000, 60), requests=Bucket(30, 60), tells=False)
    done = simulate(crowd(service, runs=20, questions=3, answer=3000, settings=settings))
    assert (done.answers, set(service.statuses)) == (60, {200})


@pytest.mark.parametrize("retry_after", [True, False])
def test_a_service_that_refuses_all_the_same_is_asked_less_often_and_nothing_is_lost(retry_after: bool) -> None:
    service = free(stolen=500.0, retry_after=retry_after)
    done = simulate(crowd(service, questions=2))
    assert (done.answers, done.errors) == (100, [])
    assert service.statuses.count(429) < 500
    left_over = 8000 - 500 * 6
    assert service.last_sent <= 1.1 * (service.counted - 8000) * 60 / left_over


def test_a_service_without_limits_is_asked_by_all_at_once() -> None:
    service = Service(tells=False, latency_s=(0.0, 2.0))
    done = simulate(crowd(service, runs=32, questions=1))
    assert done.answers == 32
    assert service.most_in_flight == 31, "all but the first one"
    assert done.seconds < 8


def test_who_comes_first_is_served_first() -> None:
    service = free()
    done = simulate(crowd(service, runs=20, questions=2, answer=3000))
    rounds = [done.order[:20], done.order[20:]]
    assert [sorted(numbers) for numbers in rounds] == [list(range(20))] * 2


def test_a_wait_is_told_and_a_cancelled_run_gives_its_place_back() -> None:
    async def play() -> tuple[Crowd, Service, list[ModelWaiting]]:
        service = free()
        shared = SharedModels(clock=SimulatedClock())
        settings, profile = settings_for()
        waits: list[ModelWaiting] = []
        found = Crowd()

        async def one(number: int) -> None:
            pool = ModelPool(
                settings,
                {},
                Limits(),
                PoolOptions(
                    emit=lambda event: waits.append(event) if isinstance(event, ModelWaiting) else None,
                    models={"main": SimulatedModel(service, "main", profile)},
                    shared=shared,
                ),
            )
            message = Message(role="user", content="x" * 3500)
            await pool.complete("main", ChatRequest(messages=(message,), purpose="test", max_completion_tokens=6000))
            found.order.append(number)

        tasks = []
        for number in range(4):
            tasks.append(asyncio.create_task(one(number)))
            await asyncio.sleep(5)
        tasks[1].cancel()
        await asyncio.wait(tasks)
        found.seconds = service.last_sent
        return found, service, waits

    done, service, waits = simulate(play())
    assert done.order == [0, 2, 3]
    assert service.statuses == [200] * 3
    assert done.seconds == pytest.approx(2 * 7000 * 60 / 8000, abs=12)
    assert 40 < waits[0].seconds < 60
    assert waits[0].reason == "the rate limit is shared"


def test_a_wait_beyond_the_runs_time_ends_it_with_the_time_to_come_back() -> None:
    service = free()
    done = simulate(crowd(service, runs=3, questions=2, answer=6000, time_left=20.0))
    assert done.answers == 1
    assert all(isinstance(error, LimitReached) for error in done.errors)
    assert set(service.statuses) == {200}, "what cannot be answered in time is not asked"


def test_a_window_of_a_minute_that_once_looks_like_a_day_is_none() -> None:
    limits = ModelLimits()
    wanted = Demand(provider="p", model="m", tokens=10, answer_tokens=5, cost_usd=0.0)
    for remaining, reset_s in ((3998.0, 43.0), (3900.0, 42.0)):  # 2 of 4,000 come back in 43 s, where 4,000 do a day
        limits.tell((Quota(unit="requests", limit=4000, remaining=remaining, reset_s=reset_s),), 0.0, 60.0 - reset_s)
    assert limits.at_once(wanted, 1000, 20.0) == 1000


def test_the_first_request_goes_alone_and_a_failed_one_does_not_hold_up_the_others() -> None:
    models = SharedModels()

    def demand() -> Demand:
        return Demand(provider="p", model="m", tokens=10, answer_tokens=5, cost_usd=0.0, rules=Rules(probes=True))

    first, second, third = demand(), demand(), demand()
    assert models.wait_s(first, 100.0) == 0.0
    assert models.wait_s(second, 100.0) > 0.0
    models.done(first)
    assert models.wait_s(second, 100.0) == 0.0, "the first was broken off, so the next one goes alone"
    assert models.wait_s(third, 100.0) > 0.0
    models.done(second, ServiceFailure("Down.", kind="service"))
    assert [models.wait_s(item, 100.0) for item in (third, demand(), demand())] == [0.0] * 3


def test_a_prompt_that_is_too_large_is_not_sent() -> None:
    settings, profile = settings_for(tokens_per_minute=1000)
    service = free()
    options = PoolOptions(models={"main": SimulatedModel(service, "main", profile)})
    pool = ModelPool(settings, {}, Limits(), options)
    message = Message(role="user", content="x" * 3500)

    async def ask() -> ChatReply:
        return await pool.complete("main", ChatRequest(messages=(message,), purpose="test"))

    with pytest.raises(Exception, match=r"needs 1,260 tokens, and service \(m\) takes 1,000 at a time") as caught:
        simulate(ask())
    assert caught.value.remedy == (  # type: ignore[attr-defined]
        "Lower llm.profiles.main.request_tokens to 1000, or use another profile."
    )
    assert service.statuses == []
    assert pool.sizes.fitted("main").request_tokens == 1000
