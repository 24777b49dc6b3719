"""Time that passes only while everybody waits, and services with rate limits that live in it."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from codur.config.settings import LlmSettings, Profile, Provider, Settings
from codur.events import Event, ModelWaiting
from codur.llm.clock import Clock
from codur.llm.model import ChatReply, ChatRequest, Quota, Unit
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.llm.request_failure import ServiceFailure
from codur.llm.tokens import answer_tokens
from codur.types import Limits, Message, Usage

Result = TypeVar("Result")


class _Jumping(selectors.DefaultSelector):
    """Jumps to the next moment at which something is due, instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everybody waits, and nothing will ever happen")
        self.now += max(0.0, timeout)
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is simulated."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def simulate(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` in simulated time, from 0 on."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


def now() -> float:
    """The simulated time, in seconds."""
    return asyncio.get_running_loop().time()


class SimulatedClock(Clock):
    """The simulated time, and chance that is the same each time."""

    def __init__(self) -> None:
        self._chance = random.Random(3)

    def monotonic(self) -> float:
        return now()

    def random(self) -> float:
        return self._chance.random()


class Bucket:
    """A limit that fills up steadily, as Groq's do."""

    def __init__(self, limit: float, period_s: float) -> None:
        self.limit, self.period_s = limit, period_s
        self._level, self._at = limit, 0.0

    def level(self) -> float:
        self._level = min(self.limit, self._level + (now() - self._at) * self.limit / self.period_s)
        self._at = now()
        return self._level

    def take(self, amount: float) -> None:
        self._level = self.level() - amount

    def wait_s(self, amount: float) -> float:
        return max(0.0, (amount - self.level()) * self.period_s / self.limit)

    def reset_s(self) -> float:
        return (self.limit - self.level()) * self.period_s / self.limit


class FixedWindow(Bucket):
    """A limit of which all is given back at once, when a window ends."""

    def level(self) -> float:
        if now() >= self._at:
            self._level = self.limit
            self._at = now() + self.period_s
        return self._level

    def wait_s(self, amount: float) -> float:
        return 0.0 if amount <= self.level() else self._at - now()

    def reset_s(self) -> float:
        self.level()
        return self._at - now()


@dataclass
class Service:
    """A service that counts the longest possible answer in advance, and refuses what its limits do not hold.

    Attributes:
        tokens, requests, daily: its limits; `requests` (a minute) is told by no response.
        tells: whether responses tell limits.
        latency_s: a request's way, and the answer's time.
        factor: how its own count of a prompt compares with the number of words.
        gives_back: whether what an answer did not use is given back.
        stolen: tokens that others take every ten seconds.
        statuses: what became of each request.
        counted: tokens that were counted, of all requests.
    """

    tokens: Bucket | None = None
    requests: Bucket | None = None
    daily: Bucket | None = None
    tells: bool = True
    latency_s: tuple[float, float] = (0.05, 2.0)
    gives_back: bool = False
    stolen: float = 0.0
    retry_after: bool = True
    statuses: list[int] = field(default_factory=list)
    counted: float = 0.0
    last_sent: float = 0.0
    stolen_until: float = 0.0
    in_flight: int = 0
    most_in_flight: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(7))

    async def answer(self, prompt: int, limit: int, used: int) -> tuple[int, tuple[Quota, ...], float | None]:
        """Status, limits and `Retry-After` for a request."""
        await asyncio.sleep(self.latency_s[0] * self.chance.random())
        self.last_sent = now()
        if self.stolen and self.tokens:
            times = int(now() / 10) - int(self.stolen_until / 10)
            self.stolen_until = now()
            self.tokens.take(min(self.stolen * times, self.tokens.level()))
        if self.tokens and prompt + limit > self.tokens.limit:
            return self._refuse(413, 0.0)
        wait = max(
            self.tokens.wait_s(prompt + limit) if self.tokens else 0.0,
            self.requests.wait_s(1) if self.requests else 0.0,
            self.daily.wait_s(1) if self.daily else 0.0,
        )
        if wait > 0:
            return self._refuse(429, wait)
        for bucket, amount in ((self.tokens, prompt + limit), (self.requests, 1), (self.daily, 1)):
            if bucket:
                bucket.take(amount)
        self.counted += prompt + limit
        self.statuses.append(200)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        told = self._told()
        await asyncio.sleep(self.latency_s[1] * (0.5 + self.chance.random()))
        self.in_flight -= 1
        if self.gives_back and self.tokens:
            self.tokens.take(-min(limit - used, self.tokens.limit - self.tokens.level()))
        return 200, told, None

    def _refuse(self, status: int, wait: float) -> tuple[int, tuple[Quota, ...], float | None]:
        self.statuses.append(status)
        return status, self._told(), wait if status == 429 and self.retry_after else None

    def _told(self) -> tuple[Quota, ...]:
        if not self.tells:
            return ()
        return tuple(
            Quota(
                unit=unit, limit=bucket.limit, remaining=max(0.0, float(int(bucket.level()))), reset_s=bucket.reset_s()
            )
            for unit, bucket in _named(self)
            if bucket
        )


def _named(service: Service) -> list[tuple[Unit, Bucket | None]]:
    return [("tokens", service.tokens), ("requests", service.daily)]


class SimulatedModel:
    """A model at a `Service`; its prompts have as many tokens as the estimate says, times `factor`."""

    def __init__(self, service: Service, name: str, profile: Profile, factor: float = 1.0) -> None:
        self.profile_name = name
        self.profile = profile
        self._service = service
        self._factor = factor

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the service."""
        prompt = int(len(request.messages[-1].content) / 3.5 * self._factor) + 4
        limit = answer_tokens(request, self.profile)
        used = min(limit, 300)
        status, told, wait = await self._service.answer(prompt, limit, used)
        if status == 200:
            return ChatReply(text="x", usage=Usage(calls=1, prompt_tokens=prompt, completion_tokens=used), limits=told)
        text = f"tokens per minute (TPM): Limit {int(self._service.tokens.limit) if self._service.tokens else 0}, "
        failure = ServiceFailure(
            f"{text}Requested {prompt + limit}." if status == 413 else "Slow down.",
            kind="too_large" if status == 413 else "rate_limit",
            retry_after_s=wait,
        )
        failure.limits = told
        raise failure

    async def close(self) -> None:
        """Nothing to close."""


def settings_for(**provider: Any) -> tuple[Settings, Profile]:
    """Settings with one profile at a distant provider."""
    profile = Profile(provider="service", model="m", request_tokens=100_000)
    provider = {"base_url": "https://service.example/v1", **provider}
    settings = Settings(
        llm=LlmSettings(default_profile="main", fallback_profiles=(), profiles={"main": profile}),
        providers={"service": Provider(**provider)},
    )
    return settings, profile


@dataclass
class Crowd:
    """What runs that go on at the same time came to."""

    answers: int = 0
    errors: list[Exception] = field(default_factory=list)
    seconds: float = 0.0
    waits: list[ModelWaiting] = field(default_factory=list)
    order: list[int] = field(default_factory=list)


async def crowd(
    service: Service,
    *,
    runs: int = 50,
    questions: int = 4,
    prompt: int = 1500,
    answer: int = 1500,
    factor: float = 1.0,
    time_left: float = 1e9,
    settings: Settings | None = None,
) -> Crowd:
    """Have many runs ask one service, each some questions one after the other."""
    made, profile = settings_for()
    settings = settings or made
    shared = SharedModels(clock=SimulatedClock())
    found = Crowd()
    chance = random.Random(11)

    def told(event: Event) -> None:
        if isinstance(event, ModelWaiting):
            found.waits.append(event)

    async def run(number: int) -> None:
        pool = ModelPool(
            settings,
            {},
            Limits(max_llm_calls=10_000, max_tokens=10**9),
            PoolOptions(
                emit=told,
                models={"main": SimulatedModel(service, "main", profile, factor)},
                shared=shared,
                time_left=lambda: time_left,
            ),
        )
        for _ in range(questions):
            size = int(prompt * (0.5 + chance.random()))
            request = ChatRequest(
                messages=(Message(role="user", content="x" * int(size * 3.5)),),
                purpose="test",
                max_completion_tokens=answer,
            )
            try:
                await pool.complete("main", request)
            except Exception as error:  # noqa: BLE001 - the tests look at what it is
                found.errors.append(error)
                return
            found.answers += 1
            found.order.append(number)

    await asyncio.gather(*(run(number) for number in range(runs)))
    found.seconds = now()
    return found


def ideal_s(service: Service) -> float:
    """When the last request could have been sent at the earliest, by the limits alone."""
    times = [0.0]
    sent = service.statuses.count(200)
    for bucket, amount in ((service.tokens, service.counted), (service.requests, sent), (service.daily, sent)):
        if bucket:
            rate = bucket.limit / bucket.period_s - (service.stolen / 10 if bucket is service.tokens else 0.0)
            times.append((amount - bucket.limit) / rate)
    return max(times)
