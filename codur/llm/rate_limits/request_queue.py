"""When requests are sent, so that no service has to refuse one: first come, first served, within what it allows.

One schedule serves all runs of a process, from any thread. Who wants to send asks `wait_s` until it says 0, and tells
how it ended; there is no thread of its own, and no clock but the one that was given.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from codur.llm.rate_limits.lane import Lane, Most
from codur.llm.rate_limits.told_limits import said_limit
from codur.llm.request_failure import ServiceFailure
from codur.llm.request_retry import spoken

if TYPE_CHECKING:
    from codur.llm.model import ChatReply
    from codur.llm.rate_limits.demand import Asking

ROOM_S = 0.2
"""How often one that waits for others to end looks again."""
_TINY_S = 1e-4
"""Shorter waits come from rounding alone."""


class Schedule:
    """The limits of all services, and the queues before them.

    After a service has refused a request because of its rate limit, nobody asks it before the time it names, and after
    that fewer ask at the same time; with each answer there may be more again.

    Args:
        clock: monotonic seconds.
        random: uniform numbers from 0 to 1.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, random: Callable[[], float] | None = None
    ) -> None:
        self._clock = clock
        self._random = random or _random
        self._lock = threading.Lock()
        self._lanes: dict[tuple[str, str], Lane] = {}

    def wait_s(self, asking: Asking, time_left_s: float) -> float:
        """How long to wait before asking again; 0: the request may be sent, and `done` must be called after it.

        Who was told to wait has a place in the queue until the request is sent, or `give_up` is called.

        Raises:
            ServiceFailure: the service will not take it before the run's time is over, others left aside; the place in
                the queue is given up then.
        """
        with self._lock:
            lane, now = self._lane(asking.place), self._clock()
            place = next((number for number, item in enumerate(lane.queue) if item is asking), len(lane.queue))
            wait = self._wait(lane, asking, place, now)
            if wait <= _TINY_S:
                _leave(lane, asking)
                lane.send(asking, now)
                return 0.0
            failure = _too_late(lane, asking, now, time_left_s)
            if failure is not None:
                _leave(lane, asking)
                raise failure
            if place == len(lane.queue):
                lane.queue.append(asking)
            return wait

    def at_once(self, asking: Asking, most: int) -> int:
        """How many such requests could be sent now without waiting; `most` at most."""
        with self._lock:
            lane, now = self._lane(asking.place), self._clock()
            ahead = [*lane.queue]
            for number in range(most):
                crowded = lane.in_flight + len(ahead) + 1 > lane.width
                if lane.until > now or crowded or lane.window_wait_s(asking, ahead, now) > _TINY_S:
                    return number
                ahead.append(asking)
            return most

    def change(self, asking: Asking, by: Asking) -> Asking:
        """Put a request in the place of another one in the queue, unless it is equal; gives the one that counts."""
        if asking == by:
            return asking
        with self._lock:
            queue = self._lane(asking.place).queue
            queue[:] = [by if item is asking else item for item in queue]
        return by

    def give_up(self, asking: Asking) -> None:
        """Leave the queue; nothing happens if the request is not in it."""
        with self._lock:
            _leave(self._lane(asking.place), asking)

    def done(self, asking: Asking, *, answered: bool, outcome: ChatReply | ServiceFailure | None = None) -> None:
        """A request has ended, with an answer or without.

        Args:
            outcome: what came of it; None if it was broken off.
        """
        with self._lock:
            lane = self._lane(asking.place)
            lane.end(asking, outcome, self._clock())
            if answered:
                lane.answered()

    def refused(self, place: tuple[str, str], failure: ServiceFailure) -> float:
        """A service has refused a request because of its rate limit; gives the seconds until it may be asked again."""
        with self._lock:
            return self._lane(place).refuse(failure, self._random, self._clock())

    def too_large(self, asking: Asking, failure: ServiceFailure) -> None:
        """A service has refused a request as too large; what it says about it holds from now on."""
        with self._lock:
            self._lane(asking.place).learn(asking, said_limit(failure.message))

    def most(self, place: tuple[str, str]) -> Most:
        """What is known of how large a request may be."""
        with self._lock:
            return self._lane(place).most

    def expected(self, place: tuple[str, str]) -> float:
        """How large a request should be made; what a provider's other models may have stands for what is not known."""
        with self._lock:
            most = self._lane(place).most
            others = [lane.most.a_minute for other, lane in self._lanes.items() if other[0] == place[0]]
            return min(most.window, most.a_minute if most.a_minute < math.inf else min(others))

    def recall(self, place: tuple[str, str], most: Most) -> None:
        """How large a request may be, as it was known before."""
        with self._lock:
            self._lane(place).recall(most)

    def prompt_tokens(self, place: tuple[str, str], estimate: int) -> int:
        """A prompt's estimated tokens, corrected by how the model counted the last ones."""
        with self._lock:
            return max(1, round(estimate * self._lane(place).prompt_factor))

    def _lane(self, place: tuple[str, str]) -> Lane:
        return self._lanes.setdefault(place, Lane())

    def _wait(self, lane: Lane, asking: Asking, place: int, now: float) -> float:
        if lane.until > now:
            return lane.until - now
        wait = lane.window_wait_s(asking, lane.queue[:place], now)
        crowded = lane.in_flight + place + 1 > lane.width
        probing = asking.probes and not lane.known and lane.in_flight + place > 0
        return max(wait, self._look_again_s() if crowded or probing else 0.0)

    def _look_again_s(self) -> float:
        return ROOM_S * (0.5 + self._random())


def _leave(lane: Lane, asking: Asking) -> None:
    lane.queue[:] = [item for item in lane.queue if item is not asking]


def _too_late(lane: Lane, asking: Asking, now: float, time_left_s: float) -> ServiceFailure | None:
    rest = lane.until - now
    if rest > 0 and rest >= time_left_s and lane.why is not None:
        return _again(lane.why, rest)
    rest = max(rest, lane.window_wait_s(asking, (), now))
    if rest < time_left_s or rest <= 0:
        return None
    return ServiceFailure(
        f"The rate limit of {asking.provider} ({asking.model}) is reached.",
        kind="rate_limit",
        remedy=f"Try again in {spoken(rest)}, or use another profile.",
        retry_after_s=rest,
    )


def _again(failure: ServiceFailure, rest: float) -> ServiceFailure:
    return ServiceFailure(failure.message, kind=failure.kind, remedy=failure.remedy, retry_after_s=rest)


def _random() -> float:
    from random import random  # noqa: PLC0415 - lazy: only needed where requests have to wait

    return random()
