"""Several warm workers, asked at the same time; their answers come in the order of the questions."""

import os
import selectors
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

from codur.repair.judge.warm_worker import Answer, Worker

_AHEAD = 2
"""Questions for each worker, so that it need not wait for the next one."""


def processors() -> int:
    """Processors that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


Question = Callable[[Worker], None]
"""Asks a worker to judge something."""


class Pool:
    """Hands candidates to workers. Which of them answers makes no difference."""

    def __init__(self) -> None:
        self._asked: dict[Worker, deque[int]] = {}
        self._coming: list[Worker] = []
        self._answers: dict[int, Answer | None] = {}
        self._number = 0

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Those that still answer."""
        return tuple(self._asked)

    @property
    def coming(self) -> tuple[Worker, ...]:
        """Those that are not ready yet."""
        return tuple(self._coming)

    def take(self, worker: Worker) -> None:
        """Take one more worker, which is ready."""
        self._asked[worker] = deque()

    def add(self, worker: Worker) -> None:
        """Take one more worker, which is asked as soon as it is ready."""
        self._coming.append(worker)

    def judged(self, questions: Iterable[Question | None]) -> Generator[Answer | None]:
        """An answer to each question, in their order; None where there is no question or the worker was lost.

        Questions are taken a little ahead. When the generator is closed, nothing is being judged.
        """
        left = iter(questions)
        wanted: deque[int] = deque()
        more = True
        try:
            while more or wanted:
                while more and (len(wanted) < _AHEAD * max(1, len(self._asked))):
                    more = self._take(left, wanted)
                if wanted:
                    while wanted[0] not in self._answers:
                        self._collect()
                    yield self._answers.pop(wanted.popleft())
        finally:
            self.settle()
            for number in wanted:  # the last one has none if asking it was interrupted
                self._answers.pop(number, None)

    def _take(self, left: Iterator[Question | None], wanted: deque[int]) -> bool:
        """Asks the next question; False if there is none."""
        try:
            ask = next(left)
        except StopIteration:
            return False
        self._welcome()
        wanted.append(self._number)
        worker = min(self._asked, key=lambda each: len(self._asked[each]), default=None)
        if worker is None or ask is None:
            self._answers[self._number] = None
        else:
            ask(worker)
            self._asked[worker].append(self._number)
        self._number += 1
        return True

    def settle(self) -> None:
        """Wait until nothing is being judged; the answers are kept."""
        while any(self._asked.values()):
            self._collect()

    def close(self) -> None:
        """End all workers."""
        for worker in (*self._asked, *self._coming):
            worker.close()
        self._asked.clear()
        self._coming.clear()

    def _welcome(self) -> None:
        """Takes in those that have become ready."""
        for worker in self.coming:
            problem = worker.ready()
            if problem is None:
                continue
            self._coming.remove(worker)
            if problem:
                worker.close()
            else:
                self.take(worker)

    def _collect(self) -> None:
        """Takes at least one answer; a worker that gives none is ended."""
        busy = [worker for worker, asked in self._asked.items() if asked]
        for worker in _ready(busy):
            answer = worker.answer()
            asked = self._asked[worker]
            if answer is not None:
                self._answers[asked.popleft()] = answer
                continue
            self._answers.update(dict.fromkeys(asked))
            del self._asked[worker]
            worker.close()


def _ready(workers: list[Worker]) -> list[Worker]:
    """Those that have something to say, or the first one if none has for a while."""
    having = [worker for worker in workers if worker.has_answer()]
    if having or len(workers) == 1:
        return having or workers
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.fileno(), selectors.EVENT_READ, worker)
        found = [key.data for key, _ in selector.select(timeout=1.0)]
    return found or workers[:1]
