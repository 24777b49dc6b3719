"""One rate limit and one budget for the workers of a cluster."""

from __future__ import annotations

import math
import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codur.batch.engines.cluster_limits import SPARE_S, Account, Answer, Ask, ClusterLimits
from codur.batch.engines.leased_limits import LeasedLimits
from codur.errors import LimitReached
from codur.llm.clock import Clock
from codur.llm.model import ChatReply, Quota
from codur.llm.rate_limits.demand import Demand, Rules
from codur.llm.rate_limits.shared_limits import OVER_BUDGET
from codur.llm.request_failure import ServiceFailure
from codur.types import Usage
from tests.batch.engines.simulated_cluster import Cluster, Service

PLACE = ("p", "m")


class Stopped(Clock):
    seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def random(self) -> float:
        return 0.5


class Net:
    """A limiter and the ways to it, at a time that stands still until a test moves it."""

    def __init__(self, **budget: float | None) -> None:
        self.clock = Stopped()
        self.limiter: ClusterLimits | None = ClusterLimits(self.clock)
        self.account = Account(batch="b", **budget)  # type: ignore[arg-type]
        self.asks: list[Ask] = []

    def line(self, ask: Ask) -> Answer | None:
        self.asks.append(ask)
        return self.limiter.ask(ask) if self.limiter else None

    def worker(self) -> LeasedLimits:
        return LeasedLimits(self.line, self.account, self.clock)


def demand(tokens: int = 100, *, probes: bool = False, a_minute: int | None = None, cost: float = 0.0) -> Demand:
    rules = Rules(probes=probes, tokens_per_minute=a_minute)
    return Demand(provider="p", model="m", tokens=tokens, answer_tokens=tokens // 2, cost_usd=cost, rules=rules)


def send(models: LeasedLimits, wanted: Demand) -> float:
    return models.wait_s(wanted, math.inf)


def answer(remaining: float, limit: float = 1000, *, tokens: int = 0) -> ChatReply:
    missing = (limit - remaining) * 60 / limit
    told = Quota(unit="tokens", limit=limit, remaining=remaining, reset_s=missing)
    return ChatReply(text="secret words", usage=Usage(calls=1, prompt_tokens=tokens), limits=(told,))


def test_what_one_worker_is_told_holds_for_all() -> None:
    net = Net()
    first, second = net.worker(), net.worker()
    probe, second_one = demand(probes=True), demand(300, probes=True)
    assert send(first, probe) == 0.0
    assert send(second, second_one) > 0.0, "the first request goes alone"
    first.done(probe, answer(400))
    net.clock.seconds += 0.6  # 10 tokens
    assert send(second, second_one) == 0.0
    assert send(first, demand(300)) == pytest.approx((300 + 50 - 110) * 60 / 1000), "50 are always left"
    assert "secret" not in repr(net.asks), "what was answered is told to nobody"


def test_who_comes_first_is_served_first_and_a_large_request_is_not_overtaken() -> None:
    net = Net()
    workers = [net.worker() for _ in range(3)]
    probe = demand(probes=True)
    send(workers[0], probe)
    workers[0].done(probe, answer(0))
    net.clock.seconds += 12.0  # 200 tokens are there again
    large, small = demand(700), demand(100)
    assert send(workers[1], large) > 0.0
    assert send(workers[2], small) > 0.0, "the small one would fit, but is not the first"
    net.clock.seconds += 36.0
    assert send(workers[2], small) > 0.0
    assert send(workers[1], large) == 0.0


def test_a_worker_that_dies_with_leases_exceeds_nothing_and_one_that_waits_no_longer_holds_up_nobody() -> None:
    net = Net()
    dying, other = net.worker(), net.worker()
    probe = demand(probes=True)
    send(other, probe)
    other.done(probe, answer(600))
    assert send(dying, demand(500)) == 0.0  # and never tells of it
    assert send(dying, demand(900)) > 0.0  # and never asks again
    net.clock.seconds += 0.6
    assert send(other, demand(500)) > 0.0, "what it was given counts as used"
    net.clock.seconds += 61.0
    late = demand(900)
    for _ in range(40):
        net.clock.seconds += 2.0
        if send(other, late) == 0.0:
            break
    else:
        pytest.fail("it waits for one that has died")


def test_a_probe_whose_worker_died_is_not_waited_for() -> None:
    net = Net()
    assert send(net.worker(), demand(probes=True)) == 0.0
    other, waiting = net.worker(), demand(probes=True)
    assert send(other, waiting) > 0.0
    net.clock.seconds += 40.0
    assert send(other, waiting) == 0.0


def test_where_there_is_room_many_requests_cost_one_ask() -> None:
    net = Net()
    models = net.worker()
    for _ in range(100):
        wanted = demand()
        assert send(models, wanted) == 0.0
        net.clock.seconds += 0.1
        models.done(wanted, ChatReply())
    assert len(net.asks) < 25
    models.close()
    assert net.limiter is not None
    assert not net.limiter._workers[net.asks[0].worker].leases, "what is left over is given back"


def test_a_lease_that_was_not_used_in_time_is_given_back_and_not_used() -> None:
    net = Net()
    models = net.worker()
    first = demand(a_minute=1000)
    assert send(models, first) == 0.0
    models.done(first, ChatReply())
    net.clock.seconds += 0.1
    assert send(models, demand(a_minute=1000)) == 0.0
    net.clock.seconds += SPARE_S + 1
    asks = len(net.asks)
    assert send(models, demand(a_minute=1000)) == 0.0
    assert len(net.asks) == asks + 1


def test_a_refusal_is_for_all_workers() -> None:
    net = Net()
    first, second = net.worker(), net.worker()
    refused = demand()
    assert send(first, refused) == 0.0
    assert first.refused(PLACE, ServiceFailure("Slow down.", kind="rate_limit", retry_after_s=7.0)) == 7.0
    assert send(second, demand()) == 7.0
    with pytest.raises(ServiceFailure, match="Slow down") as caught:
        net.worker().wait_s(demand(), 5.0)
    assert (caught.value.kind, caught.value.retry_after_s) == ("rate_limit", 7.0)


def test_the_budget_is_that_of_all_workers() -> None:
    net = Net(max_tokens=250, tokens=20)
    first, second = net.worker(), net.worker()
    one, two = demand(), demand()
    assert [send(first, one), send(second, two)] == [0.0, 0.0]
    assert send(first, demand()) > 0.0, "what is under way may cost as much"
    for models, wanted in ((first, one), (second, two)):
        models.spend(Usage(calls=1, prompt_tokens=70))
        models.done(wanted, ChatReply())
        models.close()
    with pytest.raises(LimitReached, match=f"{OVER_BUDGET}: 160 of 250 tokens are spent") as caught:
        send(second, demand())
    assert "--max-tokens" in caught.value.remedy


def test_a_limiter_that_takes_over_learns_what_was_spent_and_lets_nobody_through_until_it_knows() -> None:
    net = Net(max_tokens=10_000)
    first, second = net.worker(), net.worker()
    probe, under_way = demand(probes=True), demand(a_minute=6000)
    assert send(first, probe) == 0.0
    first.spend(Usage(calls=1, prompt_tokens=1000))
    first.done(probe, answer(900))
    assert send(second, under_way) == 0.0

    net.limiter = None
    second.spend(Usage(calls=1, prompt_tokens=500))
    net.clock.seconds += 6.0
    alone = demand(a_minute=6000, probes=True)
    assert send(first, alone) > 0.0, "nobody answers"
    net.limiter = ClusterLimits(net.clock, restarted=True)
    net.clock.seconds += 1.0
    second.done(under_way, answer(800))
    assert send(first, alone) > 1.0, "leases of the one before may still be used"
    net.clock.seconds += SPARE_S + 2.0

    assert send(first, alone) > 0.0, "limits of the settings count as used up"
    while send(first, alone) > 0.0:
        net.clock.seconds += 1.0
    assert net.clock.seconds < 125.0
    assert send(second, demand(probes=True)) > 0.0, "one goes alone, until it is known what is left"
    first.done(alone, answer(700))
    first.close()
    assert first._mark.tokens == 1500


def test_a_limiter_that_never_answers_ends_the_wait() -> None:
    net = Net()
    models, wanted = net.worker(), demand()
    net.limiter = None

    def wait() -> None:
        while send(models, wanted) > 0.0:
            net.clock.seconds += 1.0

    with pytest.raises(ServiceFailure, match="cannot be asked"):
        wait()
    assert 60.0 < net.clock.seconds - Stopped.seconds < 300.0


def test_threads_of_a_worker_share_its_asks() -> None:
    limiter, lock, asks = ClusterLimits(), threading.Lock(), list[Ask]()

    def line(ask: Ask) -> Answer:
        with lock:
            asks.append(ask)
            return limiter.ask(ask)

    models = LeasedLimits(line, Account(batch="b"))
    sent = list[Demand]()

    def work() -> None:
        for _ in range(25):
            wanted = demand()
            while (wait := send(models, wanted)) > 0:
                time.sleep(min(wait, 0.01))
            sent.append(wanted)
            models.done(wanted, ChatReply())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    models.close()
    assert len(sent) == 200
    assert len(asks) < 200
    assert not limiter._workers[asks[0].worker].leases


@pytest.mark.parametrize("steady", [True, False], ids=["bucket", "windows"])
@pytest.mark.parametrize("dies", [{}, {0.4: "worker", 0.6: "limiter"}], ids=["nobody dies", "both die"])
def test_a_cluster_uses_what_there_is_and_is_refused_nothing(steady: bool, dies: dict[float, str]) -> None:
    service = Service(1_000_000, 1000, steady=steady)
    cluster = Cluster(service, random.Random(5), workers=50, challenges=1000)
    cluster.run(dies)
    assert (cluster.done, service.refused) == (1000, 0)
    assert cluster.share >= (0.8 if dies else 0.95), "a limiter that dies costs half a minute of five"


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    steady=st.booleans(),
    workers=st.integers(1, 12),
    side_by_side=st.integers(1, 4),
    tokens=st.integers(40_000, 400_000),
    requests=st.integers(10, 200),
    dies=st.dictionaries(st.floats(0.05, 0.95), st.sampled_from(("worker", "limiter")), max_size=3),
)
def test_no_window_is_ever_exceeded(
    seed: int, steady: bool, workers: int, side_by_side: int, tokens: int, requests: int, dies: dict[float, str]
) -> None:
    service = Service(tokens, requests, steady=steady)
    cluster = Cluster(
        service,
        random.Random(seed),
        workers=workers,
        side_by_side=side_by_side,
        challenges=40,
        counts=(0.95, 0.02),  # estimates that are never too low: those are no fault of the limiter
    )
    cluster.run(dies)
    assert cluster.done == 40
    # The request that goes alone then may find used up what others had sent and nobody has told.
    assert service.refused <= list(dies.values()).count("limiter")
