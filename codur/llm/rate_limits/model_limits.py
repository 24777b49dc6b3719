"""What is known of the limits of one model at one service, and who waits for it."""

import math
from collections import deque
from collections.abc import Sequence

from codur.llm.clock import Clock
from codur.llm.model import ChatReply, Quota, Unit
from codur.llm.rate_limits.demand import Demand, Most
from codur.llm.rate_limits.told_limits import SaidLimit
from codur.llm.rate_limits.window import OVERTAKING_S, Window
from codur.llm.request_failure import ServiceFailure
from codur.llm.request_retry import jitter, spoken
from codur.structs import Struct, field, replace

_SAMPLES = 16  # the last ones: prompts change in kind while a run goes on
_SURE = 3  # fewer may be chance, and then only more than the estimate is believed
_MARGIN = 1.03  # chosen; a prompt that comes to a little more is refused as a whole
_SMALL_PROMPT = 100  # of these most tokens are the service's own wrapping
_DAILY_REQUESTS = 100_000
"""Groq tells requests a day, not those a minute (console.groq.com/docs/rate-limits); below this, a plan is free."""
_FREE_RPM, _PAID_RPM = 30.0, 1000.0  # of Groq's plans, as their page and their users' reports say
TINY_S = 1e-4
"""Shorter waits come from rounding alone."""


class ModelLimits(Struct, frozen=False, kw_only=False):
    """One model's limits, the requests under way, and the queue.

    After the service has refused a request because of its rate limit, nobody asks it before the time it names, and
    after that fewer ask at the same time; with each answer there may be more again.
    """

    queue: list[Demand] = field(default_factory=list)  # who waits, first come first
    until: float = 0.0  # nobody asks before this time (monotonic), because of `why`
    why: ServiceFailure | None = None
    known: bool = False  # a first request has come back, so that what the service tells of its limits is known
    width: float = math.inf  # how many may ask at the same time
    begins_empty: bool = False  # nothing is left of the limits known beforehand, as others may have used them
    _refused: int = 0
    _guessed: bool = False
    _flights: list[tuple[Demand, float]] = field(default_factory=list)
    _told: dict[Unit, Window] = field(default_factory=dict)
    _beforehand: dict[Unit, Window] = field(default_factory=dict)
    _ratios: deque[float] = field(default_factory=lambda: deque(maxlen=_SAMPLES))
    _said: Most = Most()
    _recalled_a_minute: float = math.inf

    @property
    def most(self) -> Most:
        """What is known of how large a request may be."""
        told = [window.most for unit, window in self._told.items() if unit in {"tokens", "input_tokens"}]
        return Most(self._said.window, min([self._said.a_minute, *(told or [self._recalled_a_minute])]))

    def recall(self, most: Most) -> None:
        """Take over what was known before, or what a local server tells; limits that come with an answer count more."""
        self._said = replace(self._said, window=most.window)
        self._recalled_a_minute = most.a_minute

    def prompt_tokens(self, estimate: int) -> int:
        """A prompt's estimated tokens, corrected by how much the model's own counts exceeded the last estimates."""
        # The largest and not the mean: half of all requests would come to more than the mean.
        factor = max(self._ratios, default=1.0) * (_MARGIN if self._ratios else 1.0)
        return max(1, round(estimate * (factor if len(self._ratios) >= _SURE else max(1.0, factor))))

    def leave(self, demand: Demand) -> int:
        """Take a request out of the queue; gives its place there: the end, if it was not in it."""
        place = self.queue.index(demand) if demand in self.queue else len(self.queue)
        del self.queue[place : place + 1]
        return place

    def wait_s(self, demand: Demand, ahead: Sequence[Demand], now: float, look_again_s: float) -> float:
        """Seconds until a request can be sent after those `ahead`; `look_again_s` where answers are waited for."""
        if self.until > now:
            return self.until - now
        wait = self._window_wait_s(demand, ahead, now)
        before = len(self._flights) + len(ahead)
        # The first answer tells the limits; a burst before it would be refused nearly whole.
        probing = demand.rules.probes and not self.known and before > 0
        return max(wait, look_again_s) if probing or before + 1 > self.width else wait

    def at_once(self, demand: Demand, most: int, now: float) -> int:
        """How many such requests could be sent now without waiting; `most` at most."""
        # How many fit is asked, not who goes first.
        demand = replace(demand, rules=replace(demand.rules, probes=False))
        number = 0
        while number < most and self.wait_s(demand, [*self.queue, *[demand] * number], now, 1.0) <= TINY_S:
            number += 1
        return number

    def require_in_time(self, demand: Demand, now: float, time_left_s: float) -> None:
        """ServiceFailure if the service does not take a request before the run's time is over, others left aside."""
        why, rest = self.why, self.until - now
        if why is not None and 0 < rest >= time_left_s:
            raise ServiceFailure(why.message, kind=why.kind, remedy=why.remedy, retry_after_s=rest)
        rest = max(rest, self._window_wait_s(demand, (), now))
        if 0 < rest >= time_left_s:
            raise ServiceFailure(
                f"The rate limit of {demand.provider} ({demand.model}) is reached.",
                kind="rate_limit",
                remedy=f"Try again in {spoken(rest)}, or use another profile.",
                retry_after_s=rest,
            )

    def send(self, demand: Demand, now: float) -> None:
        """A request is sent."""
        until = now + demand.late_s
        self._flights.append((demand, until))
        for window in self._windows(demand, now):
            window.take(demand.amount(window.unit), now, until)

    def give_back(self, demand: Demand, now: float) -> None:
        """A request was let through and not sent."""
        self._flights = [flight for flight in self._flights if flight[0] is not demand]
        for window in self._windows(demand, now):
            window.give_back(demand.amount(window.unit), now)

    def end(
        self, demand: Demand, outcome: ChatReply | ServiceFailure | None, now: float, sent_at: float | None = None
    ) -> None:
        """A request has come to an end, sent at that time (None: as it was let through): what is known now."""
        flight = next(item for item in self._flights if item[0] is demand)
        self._flights.remove(flight)
        if outcome is None:
            return
        self.known = True
        if isinstance(outcome, ChatReply):  # there may be more requests at a time again
            self._refused = 0
            self.width += 1.0 / self.width
            if demand.estimate >= _SMALL_PROMPT:
                self._count(demand, outcome.usage.prompt_tokens)
        self.tell(outcome.limits, flight[1] if sent_at is None else sent_at, now)

    def refuse(self, failure: ServiceFailure, clock: Clock) -> float:
        """A request was refused because of a limit; gives the seconds until the next may be sent."""
        now = clock.monotonic()
        if now >= self.until:  # of many that are refused together, the first one counts
            # Halved at once and raised slowly, as TCP does with its window.
            self.width = max(1.0, min(self.width, len(self._flights) + 1.0) / 2)
            self._refused += 1
        wait = failure.retry_after_s or jitter(self._refused - 1, clock) + 0.1
        self.until = max(self.until, now + wait)
        self.why = failure
        return self.until - now

    def learn(self, demand: Demand, said: SaidLimit | None) -> None:
        """A request was refused as too large: how large it may be, and how the service counts.

        Where the service gives no figure, half of what was refused is tried.
        """
        if said is None:
            # A search by halves: at most a few refusals until it fits.
            self._said = replace(self._said, window=min(self._said.window, demand.tokens / 2))
            return
        if said.window:
            self._said = replace(self._said, window=float(said.limit))
        else:
            self._said = replace(self._said, a_minute=min(self._said.a_minute, float(said.limit)))
        self._count(demand, said.prompt or said.requested - demand.answer_tokens)

    def _count(self, demand: Demand, counted: int) -> None:
        if demand.estimate and counted > 0:
            # Bounded, since a proxy that counts wrongly would else make every request tiny or huge.
            self._ratios.append(min(4.0, max(0.25, counted / demand.estimate)))

    def _window_wait_s(self, demand: Demand, ahead: Sequence[Demand], now: float) -> float:
        """Seconds until all limits have room for a request, after those `ahead` of it were sent."""
        together = (*ahead, demand)
        waits = (
            window.wait_s(sum(item.amount(window.unit) for item in together), now)
            for window in self._windows(demand, now)
        )
        return max(waits, default=0.0)

    def tell(self, quotas: Sequence[Quota], sent_at: float, now: float) -> None:
        """Take over what came with a response: when its request was sent, and when it was there."""
        doubtful = [demand for demand, at in self._flights if at > sent_at - OVERTAKING_S]
        for quota in quotas:
            window = self._told.setdefault(quota.unit, Window(quota, now))
            window.tell(quota, sum(demand.amount(quota.unit) for demand in doubtful), now, sent_at=sent_at)
        daily = self._told.get("requests")
        if self._guessed and daily is not None and not daily.is_daily:  # by chance it had looked like it
            self._guessed = False
            del self._beforehand["requests"]
        if daily is not None and daily.is_daily and "requests" not in self._beforehand:
            self._guessed = True
            limit = _FREE_RPM if daily.limit < _DAILY_REQUESTS else _PAID_RPM
            self._beforehand["requests"] = Window.a_minute("requests", limit, now, missing=len(self._flights) + 1)

    def _windows(self, demand: Demand, now: float) -> tuple[Window, ...]:
        """The limits that a service told, and those of the settings or of its plan."""
        rules = demand.rules
        limits: dict[Unit, int | None] = {"tokens": rules.tokens_per_minute, "requests": rules.requests_per_minute}
        for unit, limit in limits.items():
            if limit and unit not in self._beforehand:
                missing = limit if self.begins_empty else 1
                self._beforehand[unit] = Window.a_minute(unit, limit, now, missing=missing)
        return (*self._told.values(), *self._beforehand.values())
