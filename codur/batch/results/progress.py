"""What the supervisor of a batch knows of work that goes on, and what it tells."""

import time
from collections.abc import Collection
from typing import Literal

from codur.batch.results.challenge_record import Attempted, ChallengeResult, Status, result_for
from codur.batch.work import Work
from codur.events import ModelPrompted
from codur.structs import Struct

Cancelled = Literal["", "stop", "time", "budget"]
Ended = Literal["all", "budget", "stopped"]


class Watch:
    """Sees the batch go on, from one other thread than the one that ends it; this one does nothing about it."""

    def begins(self, missing: int, known: Collection[ChallengeResult], others: str) -> None:
        """So much is to be done, beside results that are there already; what to know about the other ones there."""

    def started(self, work: Work) -> None:
        """Work on it has begun."""

    def phase(self, work: Work, phase: str, calls: int) -> None:
        """What it is at: a node's name, or `asking`, `reading`, `waiting`, `queued`; model calls so far."""

    def prompted(self, work: Work, request: ModelPrompted) -> None:
        """A request to a model is sent; told only where that is asked for."""

    def finished(self, work: Work, result: ChallengeResult) -> None:
        """It is done, and kept."""

    def again(self, work: Work) -> None:
        """It will be started again, through no fault that is known."""


class Running(Struct, frozen=False, kw_only=False):
    """Work that has been given to a worker; times by the monotonic clock."""

    work: Work
    key: str
    began: float
    waits_since: float = 0.0
    waited_s: float = 0.0
    seen: bool = False
    cancelled: Cancelled = ""
    cancelled_at: float = 0.0
    # calls, tokens, cost_usd: what it has spent, as far as it is known
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    def wait(self, now: float, *, begins: bool) -> None:
        """It begins to wait for its turn, or has ended to."""
        if self.waits_since:
            self.waited_s += now - self.waits_since
        self.waits_since = now if begins else 0.0

    def own_s(self, now: float) -> float:
        """Seconds that it has had, without those in which it waited for its turn."""
        waiting = now - self.waits_since if self.waits_since else 0.0
        return now - self.began - self.waited_s - waiting

    def lost(self, status: Status, reason: str) -> Attempted:
        """What came of work whose worker is gone."""
        spent = {"calls": self.calls, "tokens": self.tokens, "cost_usd": self.cost_usd}
        seconds = round(self.own_s(time.monotonic()), 3)
        return Attempted(result=result_for(self.work, self.key, status, reason=reason, seconds=seconds, **spent))
