"""What a worker of a cluster has in place of limits of its own: leases of those of all."""

import math
import secrets
from collections import deque
from collections.abc import Callable

from codur.batch.engines.cluster_limits import (
    LEASE_S,
    SPARE_S,
    Account,
    Answer,
    Ask,
    Ended,
    Mark,
    Refused,
    Report,
    Sent,
    Wanted,
)
from codur.errors import LimitReached
from codur.llm.clock import Clock
from codur.llm.model import ChatReply
from codur.llm.rate_limits.demand import Demand, Most
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.llm.request_failure import ServiceFailure
from codur.structs import Struct, field
from codur.types import Usage

Line = Callable[[Ask], Answer | None]
"""The way to `ClusterLimits.ask`; None: nobody answers just now."""

_SOON_S = 0.05
_LEAST_S, _MOST_S = 0.5, 5.0
"""Between two asks for the same request, at least (unless a shorter wait was told) and at most."""
_AGAIN = 0.65
"""Of a told wait, this part passes before it is asked again: answers of others may have brought the turn forward."""
_SILENT_S = 1.0
_PATIENCE = 100
"""After so many asks in a row that nobody answers, each a second after the other, a request fails."""
_TELL_S = 5.0
"""What is only told, and asks for nothing, waits this long for an ask that it can go with."""
_MOST_AHEAD = 16


class _Waiting(Struct, frozen=False):
    """A request that waits here: its number, when to ask again, how long the wait is as it was told, and when its run
    looks again; what has come for it."""

    number: int
    time_left_s: float = math.inf
    due: float = 0.0
    told_until: float = 0.0
    looks_at: float = 0.0
    leases: dict[str, tuple[Demand, float]] = field(default_factory=dict)
    refusal: LimitReached | ServiceFailure | None = None


class LeasedLimits(SharedModels):
    """The budget and the rate limits of a batch's runs in one process of a cluster; safe to use from several threads.

    What answers tell stays known here, too (sizes, and how models count); whose turn it is, is known there alone.

    Args:
        line: asks the cluster's limits; must not raise, and must return within seconds.
        account: the batch's budget.
    """

    def __init__(self, line: Line, account: Account, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self._line = line
        self._account = account
        self._name = secrets.token_hex(8)
        self._mark = Mark()
        self._number = 0
        self._heard = 0
        self._reports: list[Report] = []
        self._waiting: dict[Demand, _Waiting] = {}
        self._told: dict[tuple[str, str], Ended] = {}
        self._flights: dict[Demand, tuple[str, float]] = {}
        self._spares: dict[str, tuple[Demand, float]] = {}
        self._recent: dict[tuple[str, str], deque[tuple[float, Demand]]] = {}
        self._asking = False
        self._asked_at = self._next_at = self._clock.monotonic()
        self._unanswered = 0
        self._tells_at_once = False

    def wait_s(self, demand: Demand, time_left_s: float, *, before: Demand | None = None) -> float:
        with self.limits(demand.place) as limits:
            now = self._clock.monotonic()
            waiting = self._waiting.pop(before or demand, None) or self._new()
            limits.queue.insert(limits.leave(before or demand), demand)
            self._waiting[demand] = waiting
            waiting.time_left_s, waiting.looks_at = time_left_s, now
            if self._goes(demand, waiting, now):
                return 0.0
            if self._asking or now < max(waiting.due, self._next_at):
                return self._later(waiting, now)
        self._ask(now)
        with self._lock:
            now = self._clock.monotonic()
            return 0.0 if self._goes(demand, waiting, now) else self._later(waiting, now)

    def done(
        self,
        demand: Demand,
        outcome: ChatReply | ServiceFailure | None = None,
        *,
        times: tuple[float | None, float] | None = None,
    ) -> None:
        with self._lock:
            now = self._clock.monotonic()
            lease, sent_at = self._flights.pop(demand)
            super().done(demand, outcome, times=times)
            told = _without_words(outcome)
            ended = Ended(lease=lease, place=demand.place, sent_at=sent_at, at=now, outcome=told)
            self._reports.append(ended)
            if told is not None and told.limits:
                self._told[demand.place] = ended
            tell = self._tells_at_once or now > self._asked_at + _TELL_S
        if tell:
            self._ask(now)

    def refused(self, place: tuple[str, str], failure: ServiceFailure) -> float:
        wait = super().refused(place, failure)
        with self._lock:
            self._reports.append(Refused(place=place, failure=failure))
            self._spares.clear()
        self._ask(self._clock.monotonic())
        return wait

    def spend(self, usage: Usage) -> None:
        super().spend(usage)
        with self._lock:
            self._reports.append(usage)

    def close(self) -> None:
        """Give back what is not used, and tell what has not been told; it can be used again."""
        with self._lock:
            tell = bool(self._reports or self._waiting or self._spares)
            self._spares.clear()
        if tell:
            self._ask(self._clock.monotonic())

    def _new(self) -> _Waiting:
        self._number += 1
        return _Waiting(number=self._number)

    def _forget(self, demand: Demand) -> None:
        self._waiting.pop(demand, None)
        with self.limits(demand.place) as limits:
            limits.leave(demand)

    def _later(self, waiting: _Waiting, now: float) -> float:
        """The wait that is told; who asked looks again after a tenth of it, or half a second."""
        wait = max(_SOON_S, waiting.told_until - now, self._next_at - now)
        waiting.looks_at = now + min(wait, max(_LEAST_S, wait / 10))
        return wait

    def _goes(self, demand: Demand, waiting: _Waiting, now: float) -> bool:
        """Send the request, if there is a lease for it.

        Raises:
            LimitReached, ServiceFailure: it can never be sent.
        """
        if waiting.refusal is not None:
            self._forget(demand)
            raise waiting.refusal
        leases, waiting.leases = {**waiting.leases, **self._spares}, {}
        lease = next((name for name, (given, until) in leases.items() if now <= until and _fits(demand, given)), "")
        if not lease:
            return False
        self._spares.pop(lease, None)
        if leases[lease][0] is not demand:
            self._reports.append(Sent(lease=lease, demand=demand))
        self._forget(demand)
        self._flights[demand] = (lease, now)
        with self.limits(demand.place) as limits:
            limits.send(demand, now)
            self._budget.held.append(demand)
        self._recent.setdefault(demand.place, deque(maxlen=_MOST_AHEAD)).append((now, demand))
        return True

    def _ask(self, now: float) -> None:
        """Ask for all that wait and look again soon, and tell what is to be told; one at a time."""
        with self._lock:
            if self._asking:
                return
            self._asking, self._asked_at = True, now
            asked = self._asked(now)
            ask = Ask(
                worker=self._name,
                account=self._account,
                now=now,
                first=self._heard + 1,
                reports=tuple(self._reports),
                wanted=tuple(
                    Wanted(number=item.number, demand=demand, time_left_s=item.time_left_s) for demand, item in asked
                ),
                kept=frozenset(item.number for item in self._waiting.values()),
                held=self._held(),
                ahead=self._ahead({demand.place for demand, _ in asked}, now),
                mark=self._mark,
            )
        answer = None
        try:
            answer = self._line(ask)
        finally:
            with self._lock:
                self._asking = False
                if answer is not None:
                    self._take(answer, asked, now)
                else:
                    self._unanswered += 1
                    for _, waiting in asked:
                        waiting.due = waiting.told_until = self._clock.monotonic() + _SILENT_S
                        if self._unanswered > _PATIENCE:
                            waiting.refusal = ServiceFailure("The cluster's limits cannot be asked.", kind="service")

    def _asked(self, now: float) -> list[tuple[Demand, _Waiting]]:
        """Requests that wait and whose runs are here to take a lease; those that have left are forgotten."""
        for demand in list(self._waiting):
            with self.limits(demand.place) as limits:
                if demand not in limits.queue:
                    del self._waiting[demand]
        self._spares = {name: spare for name, spare in self._spares.items() if now <= spare[1]}
        soon = now + LEASE_S / 3
        return [
            (demand, item)
            for demand, item in self._waiting.items()
            if item.looks_at <= soon and item.due <= soon and not item.leases
        ]

    def _held(self) -> frozenset[str]:
        """Leases that were used, or may be."""
        got = (name for item in self._waiting.values() for name in item.leases)
        return frozenset((*(name for name, _ in self._flights.values()), *self._spares, *got))

    def _ahead(self, places: set[tuple[str, str]], now: float) -> tuple[tuple[Demand, int], ...]:
        """As many requests as were sent lately, of the size of the largest."""
        found = []
        for place in places:
            recent = [demand for at, demand in self._recent.get(place, ()) if at > now - SPARE_S]
            missing = len(recent) - sum(spare.place == place for spare, _ in self._spares.values())
            if missing > 0:
                found.append((max(recent, key=lambda demand: demand.tokens), missing))
        return tuple(found)

    def _take(self, answer: Answer, asked: list[tuple[Demand, _Waiting]], asked_at: float) -> None:
        now, self._unanswered = self._clock.monotonic(), 0
        del self._reports[: max(0, answer.heard - self._heard)]
        if answer.mark.term != self._mark.term:  # another one has taken over, and knows nothing
            self._spares.clear()
            self._reports.extend(self._told.values())
        self._heard, self._mark, self._tells_at_once = answer.heard, answer.mark, answer.at_once
        # Where one has to wait, those that come soon after it are asked for together.
        self._next_at = asked_at + (_LEAST_S if any(turn.wait_s for turn in answer.turns) else 0.0)
        for (demand, waiting), turn in zip(asked, answer.turns, strict=True):
            waiting.leases = {turn.lease: (demand, asked_at + LEASE_S)} if turn.lease else {}
            waiting.refusal = turn.refusal
            waiting.told_until = now + turn.wait_s
            waiting.due = now + min(turn.wait_s, max(_LEAST_S, turn.wait_s * _AGAIN), _MOST_S)
        for lease, demand in answer.spares:
            self._spares[lease] = (demand, asked_at + SPARE_S)
        for place, most in answer.most:
            with self.limits(place) as limits:
                limits.recall(Most(limits.most.window, most.a_minute))


def _without_words(outcome: ChatReply | ServiceFailure | None) -> ChatReply | ServiceFailure | None:
    """What was answered is nobody else's business."""
    if isinstance(outcome, ChatReply):
        return ChatReply(usage=outcome.usage, limits=outcome.limits)
    if outcome is None:
        return None
    failure = ServiceFailure("", kind="service")
    failure.limits = outcome.limits
    return failure


def _fits(demand: Demand, given: Demand) -> bool:
    return (
        demand.place == given.place
        and demand.tokens <= given.tokens
        and demand.answer_tokens <= given.answer_tokens
        and demand.prompt_tokens <= given.prompt_tokens
        and demand.cost_usd <= given.cost_usd
    )
