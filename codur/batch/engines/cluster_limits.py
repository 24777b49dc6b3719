"""One rate limit for all workers of a cluster: the queue and the limits of `rate_limits`, behind leases.

A lease allows one request, for a short time. It counts as used from when it is given until it is given back, or the
service's own figure tells better; so a worker that dies with leases exceeds nothing. There is no clock but the one that
was given, and no way between here and the workers: `LeasedLimits` talks to `ClusterLimits.ask`.
"""

import itertools
import math
import secrets

from codur.batch.setup import Funds
from codur.errors import LimitReached
from codur.llm.clock import Clock
from codur.llm.model import ChatReply
from codur.llm.rate_limits.demand import Demand, Most
from codur.llm.rate_limits.model_limits import ModelLimits
from codur.llm.rate_limits.shared_limits import SharedBudget, SharedModels
from codur.llm.rate_limits.window import OVERTAKING_S
from codur.llm.request_failure import ServiceFailure
from codur.structs import Struct, field, replace
from codur.types import Usage

LEASE_S = 3.0
"""How long a lease holds that was asked for: the way of the answer, and a busy machine's threads."""
SPARE_S = 10.0
"""How long one holds that is given beforehand."""
_SHARE = 10
"""Of what there is now, one worker gets a part of this size beforehand: others ask, too."""
_GRACE_S = 5.0
"""Who should have asked again so long ago is no longer waited for."""
_LONGEST_S, _LONGEST_PROBE_S = 600.0, 30.0
"""Of a request that nobody has told the end of: its worker died. Nobody is let through while limits are found out."""
_TIDY_S = 2.0

Place = tuple[str, str]


class Account(Funds):
    """A batch's budget."""

    batch: str  # its name


class Mark(Struct):
    """What a batch had spent, by the books of one `ClusterLimits`; one that takes over learns it from workers."""

    term: str = ""
    tokens: int = 0
    cost_usd: float = 0.0


class Wanted(Struct):
    """A request that a worker wants to send; its number stays the same while it waits."""

    number: int
    demand: Demand
    time_left_s: float = math.inf


class Sent(Struct):
    """A lease was used for another request than the one that it was given for."""

    lease: str
    demand: Demand


class Ended(Struct):
    """A request has ended, or did before this limiter was there. Times are the worker's; the outcome has no words."""

    lease: str
    place: Place
    sent_at: float
    at: float
    outcome: ChatReply | ServiceFailure | None


class Refused(Struct):
    """A service has refused a request because of its rate limit."""

    place: Place
    failure: ServiceFailure


Report = Sent | Ended | Refused | Usage


class Ask(Struct):
    """What a worker tells and wants."""

    worker: str
    account: Account
    now: float  # its time
    first: int = 1
    # what has happened, the first of them with the number `first`; told again until it is acknowledged
    reports: tuple[Report, ...] = ()
    # wanted, kept: requests that it would send now, and the numbers of those that go on waiting
    wanted: tuple[Wanted, ...] = ()
    kept: frozenset[int] = frozenset()
    held: frozenset[str] = frozenset()  # leases that were used, or may be yet; it will never use another one
    ahead: tuple[tuple[Demand, int], ...] = ()  # how many more requests of a size it will want to send soon
    mark: Mark = Mark()  # of the last answer


class Turn(Struct):
    """A lease, or how long to wait before asking again, or why a request can never be sent."""

    lease: str = ""
    wait_s: float = 0.0
    refusal: LimitReached | ServiceFailure | None = None


class Answer(Struct):
    """What a worker gets."""

    heard: int  # the number of the last report that need not be told again
    mark: Mark
    turns: tuple[Turn, ...] = ()  # of what it wanted, in that order
    spares: tuple[tuple[str, Demand], ...] = ()  # leases given beforehand
    most: tuple[tuple[Place, Most], ...] = ()  # how large requests may be
    at_once: bool = False  # the end of a request is to be told when it is known: others wait for just that


class _Books(Struct, frozen=False):
    """A batch's: its budget, its limits, and what an earlier `ClusterLimits` had counted."""

    budget: SharedBudget
    models: SharedModels
    before: Mark


class _Worker(Struct, frozen=False):
    """What is known of a worker: reports heard, requests that wait (and until when), leases (and since when)."""

    books: _Books
    heard: int = 0
    asked_at: float = 0.0
    waiting: dict[int, tuple[Demand, float]] = field(default_factory=dict)
    leases: dict[str, tuple[Demand, float]] = field(default_factory=dict)


class ClusterLimits:
    """The budget and the rate limits of all workers of a cluster.

    One that takes over from another knows nothing. It lets nobody through until all leases of that one have run out,
    then one request alone, whose answer tells what is left; limits of the settings count as used up, and what workers
    were told last still holds.

    Args:
        restarted: it takes over from another.
    """

    def __init__(self, clock: Clock | None = None, *, restarted: bool = False) -> None:
        self._clock = clock or Clock()
        self._restarted = restarted
        self._opens_at = self._clock.monotonic() + (SPARE_S + OVERTAKING_S if restarted else 0.0)
        self._term = secrets.token_hex(8)
        self._numbers = itertools.count(1)
        self._models: dict[Place, ModelLimits] = {}
        self._books: dict[str, _Books] = {}
        self._workers: dict[str, _Worker] = {}
        self._tidy_at = 0.0

    def ask(self, ask: Ask) -> Answer:
        """Hear what a worker tells, and give it what it may have."""
        now = self._clock.monotonic()
        if now >= self._tidy_at:
            self._tidy(now)
        books = self._books_of(ask.account, ask.mark)
        worker = self._workers.setdefault(ask.worker, _Worker(books=books))
        worker.asked_at = now
        for number, report in enumerate(ask.reports, ask.first):
            if number > worker.heard:
                worker.heard = number
                self._hear(worker, report, now - ask.now)
        for name in [name for name in worker.leases if name not in ask.held]:
            books.models.give_back(worker.leases.pop(name)[0])
        wanted = {item.number for item in ask.wanted}
        self._leave(worker, [number for number in worker.waiting if number not in wanted | ask.kept])
        turns = tuple(self._turn(worker, item, now, LEASE_S) for item in ask.wanted)
        spares = tuple(spare for demand, number in ask.ahead for spare in self._spares(worker, demand, number, now))
        places = {item.demand.place for item in ask.wanted}
        return Answer(
            heard=worker.heard,
            mark=Mark(term=self._term, tokens=books.budget.tokens, cost_usd=books.budget.cost_usd),
            turns=turns,
            spares=spares,
            most=tuple((place, self._limits(place).most) for place in places),
            at_once=any(not self._is_free(demand.place) for demand, _ in worker.leases.values()),
        )

    def _books_of(self, account: Account, mark: Mark) -> _Books:
        """A batch's books, with what an earlier `ClusterLimits` had counted for it."""
        books = self._books.get(account.batch)
        if books is None:
            budget = SharedBudget(**account.funds)
            before = Mark(tokens=account.tokens, cost_usd=account.cost_usd)
            books = _Books(budget=budget, models=SharedModels(budget, self._clock, self._models), before=before)
            self._books[account.batch] = books
        if mark.term != self._term and mark.tokens >= books.before.tokens:
            books.budget.tokens += mark.tokens - books.before.tokens
            books.budget.cost_usd += mark.cost_usd - books.before.cost_usd
            books.before = mark
        return books

    def _hear(self, worker: _Worker, report: Report, ahead_s: float) -> None:
        """Take in a report; `ahead_s`: by how much this clock is ahead of the worker's."""
        models = worker.books.models
        if isinstance(report, Usage):
            models.spend(report)
            return
        if isinstance(report, Refused):
            models.refused(report.place, report.failure)
            return
        lease = worker.leases.pop(report.lease, None)
        if lease is None:  # of an earlier term, or given up
            if isinstance(report, Ended) and report.outcome and not self._limits(report.place).known:
                self._limits(report.place).tell(report.outcome.limits, report.sent_at + ahead_s, report.at + ahead_s)
            return
        if isinstance(report, Sent):
            models.give_back(lease[0], instead=report.demand)
            worker.leases[report.lease] = (report.demand, lease[1])
        else:
            models.done(lease[0], report.outcome, times=(report.sent_at + ahead_s, report.at + ahead_s))

    def _turn(self, worker: _Worker, wanted: Wanted, now: float, late_s: float) -> Turn:
        before = worker.waiting.pop(wanted.number, (None, 0.0))[0]
        if now < self._opens_at:
            return Turn(wait_s=self._opens_at - now)
        demand = self._corrected(wanted.demand, late_s)
        try:
            wait = worker.books.models.wait_s(demand, wanted.time_left_s, before=before)
        except (LimitReached, ServiceFailure) as error:
            return Turn(refusal=error)
        if wait > 0:
            worker.waiting[wanted.number] = (demand, now + wait)
            return Turn(wait_s=wait)
        lease = f"{self._term}-{next(self._numbers)}"
        worker.leases[lease] = (demand, now)
        return Turn(lease=lease)

    def _spares(self, worker: _Worker, demand: Demand, number: int, now: float) -> list[tuple[str, Demand]]:
        """Leases beforehand, where nobody waits and there is much."""
        limits, found = self._limits(demand.place), list[tuple[str, Demand]]()
        if limits.queue or not self._is_free(demand.place) or now < self._opens_at:
            return found
        for _ in range(limits.at_once(self._corrected(demand, SPARE_S), number * _SHARE, now) // _SHARE):
            turn = self._turn(worker, Wanted(number=0, demand=demand), now, SPARE_S)
            if turn.lease:
                found.append((turn.lease, worker.leases[turn.lease][0]))
        self._leave(worker, [0])
        return found

    def _corrected(self, demand: Demand, late_s: float) -> Demand:
        """As large as all workers' answers let expect."""
        limits = self._limits(demand.place)
        tokens = limits.prompt_tokens(demand.estimate) + demand.answer_tokens if demand.estimate else 0
        return replace(demand, tokens=max(demand.tokens, int(min(tokens, limits.most.a_minute))), late_s=late_s)

    def _is_free(self, place: Place) -> bool:
        """Whether limits alone decide: they are known, and no refusal has bounded how many may ask together."""
        limits = self._limits(place)
        return limits.known and limits.width == math.inf

    def _limits(self, place: Place) -> ModelLimits:
        return self._models.get(place) or self._models.setdefault(place, ModelLimits(begins_empty=self._restarted))

    def _leave(self, worker: _Worker, numbers: list[int]) -> None:
        for number in numbers:
            demand, _ = worker.waiting.pop(number, (None, 0.0))
            if demand is not None:
                self._limits(demand.place).leave(demand)

    def _tidy(self, now: float) -> None:
        """Give up what workers that have died left behind."""
        self._tidy_at = now + _TIDY_S
        for name, worker in list(self._workers.items()):
            if worker.asked_at < now - _GRACE_S:
                self._leave(worker, [number for number, (_, due) in worker.waiting.items() if due < now - _GRACE_S])
            for lease, (demand, since) in [*worker.leases.items()]:
                if since < now - (_LONGEST_S if self._limits(demand.place).known else _LONGEST_PROBE_S):
                    worker.books.models.done(demand)
                    del worker.leases[lease]
            if not worker.leases and not worker.waiting and worker.asked_at < now - _LONGEST_S:
                del self._workers[name]
