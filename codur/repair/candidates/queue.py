"""The candidates that wait to be judged, by priority; what is learnt about their places moves them."""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from codur.repair.candidates.candidates import Candidate
from codur.repair.candidates.judged_places import Places
from codur.repair.candidates.late_candidates import Prospect

_Entry = tuple[float, tuple[int, ...], float, Candidate | Prospect]
"""The priority, negated, when the entry was made; the order among equals; the factor; what waits."""


class Agenda:
    """A queue of candidates, and of prospects of more: the highest priority first, equal ones by their order.

    Args:
        time_left: seconds until nothing more is made.
    """

    def __init__(self, places: Places, time_left: Callable[[], float]) -> None:
        self._places = places
        self._time_left = time_left
        self._heap: list[_Entry] = []
        self._added = 0

    def add(self, waiting: Iterable[Candidate | Prospect], factor: float) -> None:
        """Queues changes, behind equal ones that were added before, with their priorities times the factor."""
        self._added += 1
        self._push(waiting, self._added, factor)

    def _push(self, waiting: Iterable[Candidate | Prospect], number: int, factor: float) -> None:
        for each in waiting:
            heappush(self._heap, (self._key(each, factor), (number, *each.order), factor, each))

    def _key(self, waiting: Candidate | Prospect, factor: float) -> float:
        if isinstance(waiting, Candidate):
            return -waiting.priority * waiting.hinted * factor * self._places.factor(waiting)
        return -waiting.priority * factor

    def next(self, least: float = 0.0) -> Candidate | None:
        """Takes out the first candidate, if its priority is at least `least`; None when the time is up, too."""
        while self._heap and -self._heap[0][0] >= least and self._time_left() > 0:
            key, order, factor, first = heappop(self._heap)
            present = self._key(first, factor)
            if present > key:  # it fell since it was queued: back in its place, where others may be first
                heappush(self._heap, (present, order, factor, first))
            elif isinstance(first, Candidate):
                return first
            else:
                self._push(first.open(), order[0], factor)
                if first.priority > 0:
                    heappush(self._heap, (self._key(first, factor), order, factor, first))
        return None
