"""What is known of the limits of one model at one service, and who waits for it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codur.llm.model import ChatReply
from codur.llm.rate_limit import Quota, Unit
from codur.llm.rate_limits.told_limits import SaidLimit
from codur.llm.rate_limits.window import MINUTE_S, OVERTAKING_S, SentLog, ToldWindow
from codur.llm.request_failure import ServiceFailure
from codur.llm.request_retry import jitter
from codur.structs import replace

if TYPE_CHECKING:
    from codur.llm.rate_limits.demand import Asking

_SAMPLES = 16
_SURE = 3
_MARGIN = 1.03
_SMALL_PROMPT = 100
_DAILY_REQUESTS = 100_000
"""Groq tells requests a day, not those a minute (console.groq.com/docs/rate-limits); below this, a plan is free."""
_FREE_RPM, _PAID_RPM = 30.0, 1000.0


@dataclass(frozen=True, slots=True)
class Most:
    """The tokens that a request may come to, its answer among them; infinity where that is not known.

    Attributes:
        window: for the model's window.
        a_minute: for the limit of a minute.
    """

    window: float = math.inf
    a_minute: float = math.inf


@dataclass(frozen=True, slots=True)
class _Flight:
    asking: Asking
    sent_at: float


@dataclass(slots=True)
class Lane:
    """One model's limits, the requests under way, and the queue.

    Attributes:
        queue: who waits, first come first.
        until: nobody asks before this time (monotonic), because of `why`.
        known: a first request has come back, so that what the service tells of its limits is known.
    """

    queue: list[Asking] = field(default_factory=list)
    until: float = 0.0
    why: ServiceFailure | None = None
    known: bool = False
    width: float = math.inf
    _refused: int = 0
    _newest: float = -math.inf
    _flights: list[_Flight] = field(default_factory=list)
    _told: dict[Unit, ToldWindow] = field(default_factory=dict)
    _untold: ToldWindow | None = None
    _log: SentLog = field(default_factory=SentLog)
    _ratios: deque[float] = field(default_factory=lambda: deque(maxlen=_SAMPLES))
    _said: Most = Most()
    _recalled_a_minute: float = math.inf

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return len(self._flights)

    @property
    def prompt_factor(self) -> float:
        """By how much the model's own count of a prompt exceeds the estimate, at most, of late."""
        if not self._ratios:
            return 1.0
        factor = max(self._ratios) * _MARGIN
        return factor if len(self._ratios) >= _SURE else max(1.0, factor)

    @property
    def most(self) -> Most:
        """What is known of how large a request may be."""
        told = [window.most for unit, window in self._told.items() if unit in {"tokens", "input_tokens"}]
        return Most(self._said.window, min([self._said.a_minute, *(told or [self._recalled_a_minute])]))

    def recall(self, most: Most) -> None:
        """Take over what was known before, or what a local server tells; limits that come with an answer count more."""
        self._said = replace(self._said, window=most.window)
        self._recalled_a_minute = most.a_minute

    def window_wait_s(self, asking: Asking, ahead: Sequence[Asking], now: float) -> float:
        """Seconds until all limits have room for a request, after those `ahead` of it were sent."""
        waits = [0.0]
        for window in self._windows(asking):
            taken = sum(other.amount(window.unit) for other in ahead)
            waits.append(window.wait_s(asking.amount(window.unit), taken, now))
        for unit, limit in self._given(asking):
            taken = sum(other.amount(unit) for other in ahead)
            waits.append(self._log.wait_s(unit, limit, asking.amount(unit), taken, now))
        return max(waits)

    def send(self, asking: Asking, now: float) -> None:
        """A request is sent."""
        self._flights.append(_Flight(asking, now))
        self._log.add(asking.tokens, now)
        for window in self._windows(asking):
            window.take(asking.amount(window.unit), now)

    def end(self, asking: Asking, outcome: ChatReply | ServiceFailure | None, now: float) -> None:
        """A request has come to an end: what is known of the limits now."""
        flight = next(item for item in self._flights if item.asking is asking)
        self._flights = [item for item in self._flights if item is not flight]
        if outcome is None:
            return
        self.known = True
        if isinstance(outcome, ChatReply) and asking.estimate >= _SMALL_PROMPT and outcome.usage.prompt_tokens:
            self._ratios.append(min(4.0, max(0.25, outcome.usage.prompt_tokens / asking.estimate)))
        if outcome.limits and flight.sent_at > self._newest - OVERTAKING_S:
            self._newest = max(self._newest, flight.sent_at)
            self._tell(outcome.limits, flight, now)

    def answered(self) -> None:
        """An answer has come: there may be more requests at a time again."""
        self._refused = 0
        self.width += 1.0 / self.width

    def refuse(self, failure: ServiceFailure, random: Callable[[], float], now: float) -> float:
        """A request was refused because of a limit; gives the seconds until the next may be sent."""
        if now >= self.until:  # of many that are refused together, the first one counts
            self.width = max(1.0, min(self.width, self.in_flight + 1.0) / 2)
            self._refused += 1
        wait = failure.retry_after_s or jitter(self._refused - 1, random) + 0.1
        self.until = max(self.until, now + wait)
        self.why = failure
        return self.until - now

    def learn(self, asking: Asking, said: SaidLimit | None) -> None:
        """A request was refused as too large: how large it may be, and how the service counts.

        Where the service gives no figure, half of what was refused is tried.
        """
        if said is None:
            self._said = replace(self._said, window=min(self._said.window, asking.tokens / 2))
            return
        if said.window:
            self._said = replace(self._said, window=float(said.limit))
        else:
            self._said = replace(self._said, a_minute=min(self._said.a_minute, float(said.limit)))
        counted = said.prompt or said.requested - asking.answer_tokens
        if asking.estimate and counted > 0:
            self._ratios.append(min(4.0, max(0.25, counted / asking.estimate)))

    def _tell(self, quotas: Sequence[Quota], flight: _Flight, now: float) -> None:
        doubtful = [item.asking for item in self._flights if item.sent_at > flight.sent_at - OVERTAKING_S]
        for quota in quotas:
            uncounted = sum(asking.amount(quota.unit) for asking in doubtful)
            if quota.unit in self._told:
                self._told[quota.unit].tell(quota, uncounted, now, sent_at=flight.sent_at)
            else:
                self._told[quota.unit] = ToldWindow(quota, uncounted, now, sent_at=flight.sent_at)
        daily = self._told.get("requests")
        if daily is not None and daily.is_daily and self._untold is None:
            limit = _FREE_RPM if daily.limit < _DAILY_REQUESTS else _PAID_RPM
            missing = max(1, self._log.requests(now))
            quota = Quota(unit="requests", limit=limit, remaining=limit - missing, reset_s=missing * MINUTE_S / limit)
            self._untold = ToldWindow(quota, 0, now, sent_at=flight.sent_at)

    def _given(self, asking: Asking) -> list[tuple[Unit, float]]:
        given: list[tuple[Unit, float]] = []
        if asking.tokens_per_minute:
            given.append(("tokens", float(asking.tokens_per_minute)))
        if asking.requests_per_minute:
            given.append(("requests", float(asking.requests_per_minute)))
        return given

    def _windows(self, asking: Asking) -> list[ToldWindow]:
        untold = self._untold if not asking.requests_per_minute else None
        return [*self._told.values(), *([untold] if untold is not None else [])]
