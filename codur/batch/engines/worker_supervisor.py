"""Sees to it that all work of a batch is done, whatever becomes of the worker that does it."""

import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Iterable

from codur.batch.results.challenge_outcome import over_budget
from codur.batch.results.challenge_record import Attempted
from codur.batch.results.kept_files import Keeper
from codur.batch.results.progress import Cancelled, Ended, Running, Watch
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.batch.worker.messages import (
    AllSpent,
    Cancel,
    Done,
    FromWorker,
    Phase,
    Prompted,
    Ready,
    Start,
    Started,
    Waits,
)
from codur.batch.worker.worker_process import WorkerProcess
from codur.errors import UsageError
from codur.llm.rate_limits.shared_limits import OVER_BUDGET
from codur.structs import replace

OBEY_S = 10.0
"""So long it may take to end after it was cancelled, before its worker is ended; less at the end of its time."""
STARTS = 3
"""Workers that end before they can work, in a row, before that is given up."""
ALONE = 2
"""How often a challenge may end a worker while nothing else runs in it."""


class Supervisor:
    """Gives work to a worker, and takes results.

    Args:
        keeper: gives the key of work that is about to be started, and keeps what is finished and what was spent.
        obey_s: see `OBEY_S`.

    A challenge that does not end with its time is cancelled halfway to `Limits.longest_s`, and its worker ended then.
    """

    def __init__(
        self,
        setup: Setup,
        work: Iterable[Work],
        keeper: Keeper,
        watch: Watch,
        *,
        obey_s: float = OBEY_S,
    ) -> None:
        self._setup = setup
        self._waiting = deque(work)
        self._keeper = keeper
        self._watch = watch
        self._margin_s = (setup.limits.longest_s - setup.limits.max_runtime_s) / 2
        self._allowed_s = setup.limits.max_runtime_s + self._margin_s
        self._obey_s = obey_s
        self._suspects: deque[Work] = deque()
        self._deaths: dict[int, int] = {}
        self._failed_starts = 0
        self._running: dict[int, Running] = {}
        self._worker: WorkerProcess | None = None
        self._ended: Ended = "all"
        self._stop_at = 0.0
        self._wake, self._waker = os.pipe()
        self._waking = threading.Lock()
        self._grace_s = 0.0

    def stop(self, grace_s: float) -> None:
        """Start nothing more, and cancel what runs; may be called from any thread, also when all has ended.

        Args:
            grace_s: what has not ended by then is ended with its worker; at once, if this is called again.
        """
        with self._waking:
            if self._waker >= 0:
                self._grace_s = grace_s
                os.write(self._waker, b"s")

    def run(self) -> Ended:
        """Do all work; returns why it ended.

        Raises:
            UsageError: the worker cannot be started, or results cannot be kept.
        """
        try:
            while self._dispatch():
                self._listen()
                self._look_after_time()
        finally:
            self._end_worker()
            with self._waking:
                os.close(self._wake)
                os.close(self._waker)
                self._waker = -1
        return self._ended

    def _end_worker(self) -> None:
        if self._worker is None:
            return
        if self._running:
            self._worker.kill()
        else:
            self._worker.close()

    # --- giving work --------------------------------------------------------------------------------------------------

    def _dispatch(self) -> bool:
        """Start what may be started; False if there is nothing left to wait for."""
        if self._ended == "all":
            while work := self._next():
                key = self._keeper.keys(work)
                if self._worker is None:
                    self._worker = WorkerProcess(self._setup)
                self._running[work.number] = Running(work=work, key=key, began=time.monotonic())
                self._worker.send(Start(work=work, key=key))
        return bool(self._running)

    def _next(self) -> Work | None:
        """What is started now: if a worker was lost, what ran in it, one at a time."""
        if self._suspects:
            return self._suspects.popleft() if not self._running else None
        alone = any(number in self._deaths for number in self._running)
        if not self._waiting or alone or len(self._running) >= self._setup.jobs:
            return None
        return self._waiting.popleft()

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        worker = self._worker
        if worker is None:
            return
        with selectors.DefaultSelector() as selector:
            selector.register(worker.frames, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(self._patience())]
        if self._wake in ready:
            is_again = len(os.read(self._wake, 64)) > 1 or bool(self._stop_at)
            self._end("stopped", "stop")
            self._stop_at = time.monotonic() + (0.0 if is_again else self._grace_s)
        if worker.frames in ready:
            for message in worker.frames.take():
                self._take(message)
            if worker.frames.ended:
                self._lost(worker.kill())

    def _take(self, message: FromWorker) -> None:
        match message:
            case Done():
                self._finished(self._running.pop(message.number), message.done)
            case Phase():
                running = self._running[message.number]
                running.calls, running.tokens, running.cost_usd = message.calls, message.tokens, message.cost_usd
                self._watch.phase(running.work, message.name, running.calls)
            case Prompted():
                self._watch.prompted(self._running[message.number].work, message.event)
            case Waits():
                self._running[message.number].wait(time.monotonic(), begins=message.now)
            case AllSpent():
                self._setup = replace(self._setup, tokens=message.tokens, cost_usd=message.cost_usd)
                self._keeper.directory.write_spent(message.tokens, message.cost_usd)
            case Started():
                running = self._running[message.number]
                running.seen, running.began = True, time.monotonic()
                self._watch.started(running.work)
            case Ready() if self._worker is not None:
                self._worker.is_ready = True
                self._failed_starts = 0

    def _finished(self, running: Running, done: Attempted) -> None:
        self._deaths.pop(running.work.number, None)
        if done.interrupted:
            if running.cancelled in ("", "stop"):  # it has not come to an end: it is done again
                if running.cancelled:
                    self._watch.again(running.work)
                else:
                    self._waiting.appendleft(running.work)
                return
            done = replace(done, result=replace(done.result, status="limit", reason=self._why_cancelled(running)))
        self._keep(running.work, done)
        if over_budget(done.result):
            self._end("budget", "budget")

    def _keep(self, work: Work, done: Attempted) -> None:
        self._watch.finished(work, self._keeper.keep(work, done))

    # --- what goes wrong ----------------------------------------------------------------------------------------------

    def _end(self, ended: Ended, why: Cancelled) -> None:
        """Start nothing more, and cancel what runs."""
        if self._ended != "stopped":
            self._ended = ended
        for running in self._running.values():
            if not running.cancelled:
                self._cancel(running, why)

    def _cancel(self, running: Running, why: Cancelled) -> None:
        running.cancelled, running.cancelled_at = why, time.monotonic()
        if self._worker is not None:
            self._worker.send(Cancel(number=running.work.number))

    def _lost(self, how: str, hung: int | None = None) -> None:
        """The worker is gone: what ran in it is done again, one at a time, for one of it may be to blame.

        Args:
            how: how it ended, in words.
            hung: what it was ended for; the others are not to blame, then.
        """
        worker, self._worker = self._worker, None
        lost, self._running = list(self._running.values()), {}
        if worker is not None and not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= STARTS:
                raise UsageError(
                    f"the worker of the batch ends before it can work: {how}",
                    remedy="Run it again with CODUR_DEBUG=1 to see why.",
                )
        alone = len(lost) == 1
        for running in reversed(lost):
            if self._ended == "all" and hung is None:
                self._suspect(running, how, alone=alone)
            elif self._ended == "all" and running.work.number != hung:
                self._watch.again(running.work)
                self._waiting.appendleft(running.work)
            elif running.cancelled in ("budget", "time"):
                self._keep(running.work, running.lost("limit", self._why_cancelled(running)))
            else:
                self._watch.again(running.work)

    def _suspect(self, running: Running, how: str, *, alone: bool) -> None:
        number = running.work.number
        if not running.seen:
            self._waiting.appendleft(running.work)
            return
        self._deaths[number] = self._deaths.get(number, 0) + alone
        if self._deaths[number] >= ALONE:
            del self._deaths[number]
            self._keep(running.work, running.lost("error", f"it ended the worker ({how})"))
            return
        self._watch.again(running.work)
        self._suspects.appendleft(running.work)

    def _why_cancelled(self, running: Running) -> str:
        if running.cancelled == "budget":
            return f"{OVER_BUDGET}; it was cancelled."
        return f"its time of {self._setup.limits.max_runtime_s:g} s is used up"

    # --- time ---------------------------------------------------------------------------------------------------------

    def _look_after_time(self) -> None:
        now = time.monotonic()
        if self._stop_at and now >= self._stop_at and self._running:
            self._kill(None)
            return
        for number, running in self._running.items():
            if running.cancelled and now >= self._obeyed_by(running) and self._ended != "stopped":
                self._kill(number)
                return
            if not running.cancelled and running.seen and running.own_s(now) > self._allowed_s:
                self._cancel(running, "time")

    def _obeyed_by(self, running: Running) -> float:
        """When one that was cancelled must have ended."""
        return running.cancelled_at + (
            min(self._margin_s, self._obey_s) if running.cancelled == "time" else self._obey_s
        )

    def _kill(self, hung: int | None) -> None:
        if self._worker is not None:
            self._lost(self._worker.kill(), hung)

    def _patience(self) -> float | None:
        """Seconds until something must be looked after, if the worker says nothing."""
        now = time.monotonic()
        moments = [self._stop_at] if self._stop_at else []
        for running in self._running.values():
            if running.cancelled:
                moments.append(self._obeyed_by(running))
            elif not running.waits_since:
                moments.append(now + self._allowed_s - running.own_s(now))
        return max(0.01, min(moments) - now + 0.01) if moments else None
