"""A cluster in simulated time: workers with leases, the limiter, and a service that refuses what exceeds its limits."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator, Mapping

from codur.batch.engines.cluster_limits import Account, Answer, Ask, ClusterLimits
from codur.batch.engines.leased_limits import LeasedLimits
from codur.llm.clock import Clock
from codur.llm.model import ChatReply, Quota, Unit
from codur.llm.rate_limits.demand import Demand, Rules
from codur.llm.request_failure import ServiceFailure
from codur.types import Usage

RULES = Rules(probes=True)
MINUTE_S = 60.0


class Limit:
    """So much each minute: in a bucket that fills up steadily, or in windows that give back all when they end."""

    def __init__(self, limit: float, *, steady: bool) -> None:
        self.limit, self.steady = limit, steady
        self.level, self.at, self.used = limit, 0.0, 0.0
        self.past: list[float] = []

    def settle(self, now: float) -> None:
        """Give back what is due."""
        if self.steady:
            self.level = min(self.limit, self.level + (now - self.at) * self.limit / MINUTE_S)
            self.at = now
        while not self.steady and now >= self.at + MINUTE_S:
            self.past.append(self.limit - self.level)
            self.level, self.at = self.limit, self.at + MINUTE_S

    def take(self, amount: float) -> None:
        """Count a request."""
        self.level -= amount
        self.used += amount

    def reset_s(self, now: float) -> float:
        """Seconds until all is there again."""
        return (self.limit - self.level) * MINUTE_S / self.limit if self.steady else self.at + MINUTE_S - now

    def share(self, now: float) -> float:
        """What was used of what could be: with a full bucket to begin with, or in all windows that have ended."""
        self.settle(now)
        if self.steady:
            return self.used / (self.limit * (1 + now / MINUTE_S))
        return sum(self.past) / (self.limit * len(self.past)) if self.past else math.nan


class Service:
    """Tells its limits with every answer."""

    def __init__(self, tokens: float, requests: float, *, steady: bool) -> None:
        self.limits: dict[Unit, Limit] = {
            "tokens": Limit(tokens, steady=steady),
            "requests": Limit(requests, steady=steady),
        }
        self.answered = self.refused = 0

    def ask(self, amount: float, now: float) -> tuple[bool, tuple[Quota, ...]]:
        """Whether a request is taken, and what is told."""
        amounts: dict[Unit, float] = {"tokens": amount, "requests": 1.0}
        for limit in self.limits.values():
            limit.settle(now)
        taken = all(limit.level >= amounts[unit] for unit, limit in self.limits.items())
        for unit, limit in self.limits.items() if taken else ():
            limit.take(amounts[unit])
        self.answered += taken
        self.refused += not taken
        told = (
            Quota(unit=unit, limit=limit.limit, remaining=math.floor(limit.level), reset_s=limit.reset_s(now))
            for unit, limit in self.limits.items()
        )
        return taken, tuple(told)


class Cluster(Clock):
    """Workers, a limiter and a service in simulated time.

    Args:
        side_by_side: challenges of a worker at the same time.
        counts: a prompt's tokens as the service counts them, in those of the estimate: the mean and the deviation.
        chance: what decides all that is left to chance.

    Attributes:
        share: of the tokens that the service allowed until the last challenge began, what was used.
        calls: to the limiter.
    """

    def __init__(
        self,
        service: Service,
        chance: random.Random,
        *,
        workers: int,
        challenges: int,
        side_by_side: int = 1,
        counts: tuple[float, float] = (1.05, 0.1),
    ) -> None:
        self.service = service
        self.counts = counts
        self.chance = chance
        self.now_s, self.calls, self.left, self.done = 0.0, 0, challenges, 0
        self.share = math.nan
        self.side_by_side = side_by_side
        self.limiter: ClusterLimits | None = ClusterLimits(self)
        self.queue: list[tuple[float, int, int, Iterator[float]]] = []
        self.count = 0
        self.dead: set[int] = set()
        self.under_way: dict[int, int] = {}
        for number in range(workers):
            self.start(number)

    def monotonic(self) -> float:
        return self.now_s

    def random(self) -> float:
        return self.chance.random()

    def line(self, ask: Ask) -> Answer | None:
        """The way to the limiter."""
        self.calls += 1
        return self.limiter.ask(ask) if self.limiter else None

    def start(self, worker: int) -> None:
        """A worker begins: some challenges side by side."""
        models = LeasedLimits(self.line, Account(batch="b"), self)
        self.under_way[worker] = 0
        for _ in range(self.side_by_side):
            self.put(self.chance.random(), worker, self.work(models, worker))

    def put(self, seconds: float, worker: int, steps: Iterator[float]) -> None:
        """Go on with something after so many seconds."""
        self.count += 1
        heapq.heappush(self.queue, (self.now_s + seconds, self.count, worker, steps))

    def kill(self, worker: int) -> None:
        """A worker dies with all that it holds; its challenges are begun again by another one."""
        self.dead.add(worker)
        self.left += self.under_way.pop(worker)
        self.start(worker + 1_000_000)

    def run(self, deaths: Mapping[float, str]) -> None:
        """Until all is done.

        Args:
            deaths: what dies when this share of the challenges is done: a `worker`, the `limiter`.
        """
        total, events = self.left, dict(deaths)
        while self.queue:
            at, _, worker, steps = heapq.heappop(self.queue)
            self.now_s = max(self.now_s, at)
            if worker in self.dead:
                continue
            pause = next(steps, None)
            if pause is not None:
                self.put(pause, worker, steps)
            for share in [share for share in events if self.done >= share * total]:
                self.happen(events.pop(share))

    def happen(self, what: str) -> None:
        """Let something die."""
        if what == "worker":
            self.kill(self.chance.choice(sorted(self.under_way)))
        else:
            self.limiter = None
            self.put(2.0, -1, self.restart())

    def restart(self) -> Iterator[float]:
        """Another limiter takes over, and knows nothing."""
        self.limiter = ClusterLimits(self, restarted=True)
        yield 0.0

    def work(self, models: LeasedLimits, worker: int) -> Iterator[float]:
        """Challenges, one after the other: requests, and checks between them."""
        while self.left > 0:
            self.left -= 1
            self.under_way[worker] += 1
            if self.left == 0:
                self.share = self.service.limits["tokens"].share(self.now_s)
            for _ in range(self.chance.choice((1, 1, 1, 2))):
                yield from self.request(models)
                yield self.chance.uniform(0.2, 4.0)
            self.under_way[worker] -= 1
            self.done += 1
        models.close()

    def request(self, models: LeasedLimits) -> Iterator[float]:
        """One question, asked until it is answered."""
        estimate = round(min(12_000, self.chance.lognormvariate(7.3, 0.6)))
        counted = round(estimate * min(1.4, max(0.8, self.chance.gauss(*self.counts))))
        answer = self.chance.choice((500, 1000, 2000))
        while True:
            demand = _demand(models, estimate, answer)
            before = None
            while (wait := models.wait_s(demand, math.inf, before=before)) > 0:
                yield min(wait, max(0.5, wait / 10))
                before, demand = demand, _demand(models, estimate, answer)
            yield self.chance.uniform(0.01, 0.4)
            taken, told = self.service.ask(counted + answer, self.now_s)
            if taken:
                yield self.chance.lognormvariate(1.2, 0.6)
                usage = Usage(calls=1, prompt_tokens=counted, completion_tokens=answer // 2)
                models.spend(usage)
                models.done(demand, ChatReply(usage=usage, limits=told))
                return
            failure = ServiceFailure("Slow down.", kind="rate_limit", retry_after_s=1.0)
            failure.limits = told
            yield 0.05
            models.refused(demand.place, failure)
            models.done(demand, failure)


def _demand(models: LeasedLimits, estimate: int, answer: int) -> Demand:
    with models.limits(("service", "m")) as limits:
        prompt = limits.prompt_tokens(estimate)
    return Demand(
        provider="service",
        model="m",
        tokens=prompt + answer,
        answer_tokens=answer,
        cost_usd=0.0,
        estimate=estimate,
        rules=RULES,
    )
