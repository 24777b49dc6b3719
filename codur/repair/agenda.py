"""The candidates that wait to be judged, by priority; what is learnt about their places moves them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from codur.repair.angelic import Places
from codur.repair.program import Candidate

_Entry = tuple[float, int, float, Candidate]
"""The priority, negated, when the entry was made; the order of arrival; the priority by itself; the candidate."""


class Agenda:
    """A queue of candidates: the highest priority first, the earlier one of two that are equal."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._heap: list[_Entry] = []
        self._arrived = 0

    def add(self, candidate: Candidate, factor: float) -> None:
        """Queues a candidate with its priority times the factor."""
        self._places.waits(candidate)
        own = candidate.priority * factor
        heappush(self._heap, (-own * self._places.factor(candidate), self._arrived, own, candidate))
        self._arrived += 1

    def next(self, least: float = 0.0) -> Candidate | None:
        """Takes out the first one, if its priority is at least `least`."""
        while self._heap and -self._heap[0][0] >= least:
            key, number, own, candidate = heappop(self._heap)
            present = own * self._places.factor(candidate)
            if present >= -key:
                return candidate
            heappush(self._heap, (-present, number, own, candidate))
        return None

    def sort(self) -> None:
        """Orders all anew: some priorities rose."""
        self._heap = [(-own * self._places.factor(each), number, own, each) for _, number, own, each in self._heap]
        heapify(self._heap)
