"""The candidates that wait to be judged, by priority."""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from codur.repair.candidates.candidates import Candidate
from codur.repair.candidates.late_candidates import Prospect

_Entry = tuple[float, tuple[int, ...], float, Candidate | Prospect]
"""The priority, negated; the order among equals; the factor; what waits."""


class Agenda:
    """A queue of candidates, and of prospects of more: the highest priority first, equal ones by their order.

    Args:
        time_left: seconds until nothing more is made.
    """

    def __init__(self, time_left: Callable[[], float]) -> None:
        self._time_left = time_left
        self._heap: list[_Entry] = []
        self._added = 0

    def add(self, waiting: Iterable[Candidate | Prospect], factor: float) -> None:
        """Queues changes, behind equal ones that were added before, with their priorities times the factor."""
        self._added += 1
        self._push(waiting, self._added, factor)

    def _push(self, waiting: Iterable[Candidate | Prospect], number: int, factor: float) -> None:
        for each in waiting:
            hinted = each.hinted if isinstance(each, Candidate) else 1.0
            heappush(self._heap, (-each.priority * hinted * factor, (number, *each.order), factor, each))

    def next(self, least: float = 0.0) -> Candidate | None:
        """Takes out the first candidate, if its priority is at least `least`; None when the time is up, too."""
        while self._heap and -self._heap[0][0] >= least and self._time_left() > 0:
            _, (number, *_), factor, first = heappop(self._heap)
            if isinstance(first, Candidate):
                return first
            self._push(first.open(), number, factor)
            if first.priority > 0:
                self._push([first], number, factor)
        return None
