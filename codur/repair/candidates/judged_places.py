"""What judged programs tell about a place: whether another value there can help at all, and where something helped.

The first candidates of a place are the probes: if all of them fail as the program did before, the others come later;
the lines on which one brought the check further come earlier.
"""

import ast

from codur.repair.candidates.candidates import Candidate
from codur.repair.candidates.factors import ENOUGH, ENOUGH_HANGS, HELPED, IDLE
from codur.repair.candidates.late_candidates import Prospect
from codur.types import Verdict

Place = tuple[str, int, int, int, int]
"""Path, line and column of the start and of the end."""


class Places:
    """What is known about the places of the program as it was found.

    Args:
        before: the verdict on it.
    """

    def __init__(self, before: Verdict) -> None:
        self._before = before
        self._alike: dict[Place, int] = {}
        self._matters: set[Place] = set()
        self._helped: set[tuple[str, int]] = set()

    def factor(self, candidate: Candidate) -> float:
        """What is left of the priority of a candidate, or by how much it rose."""
        # of a program that was changed already nothing here is known
        if candidate.base.changes or candidate.offer is None:
            return 1.0
        place = _place(candidate)
        helped = HELPED if (candidate.path, candidate.line) in self._helped else 1.0
        enough = ENOUGH_HANGS if self._before.timed_out else ENOUGH
        # Of a statement several things are changed, and one that makes no difference says little of the next.
        idle = isinstance(candidate.offer.node, ast.expr) and self._alike.get(place, 0) >= enough
        return helped * (IDLE if idle and place not in self._matters else 1.0)

    def most(self, prospect: Prospect) -> float:
        """The largest factor that a candidate of a prospect can have."""
        if prospect.program.changes:
            return 1.0
        return HELPED if any(prospect.affects(line) for line in self._helped) else 1.0

    def note(self, candidate: Candidate, verdict: Verdict) -> bool:
        """Takes in a verdict; whether some priorities rose."""
        if candidate.base.changes or candidate.offer is None or verdict.passed:
            return False
        place = _place(candidate)
        if _essence(verdict) == _essence(self._before):
            self._alike[place] = self._alike.get(place, 0) + 1
            return False
        self._matters.add(place)
        line = (candidate.path, candidate.line)
        if verdict.progress <= self._before.progress or line in self._helped:
            return False
        # By line and not by place: what mends the rest is often a neighbour of the expression that helped.
        self._helped.add(line)
        return True


def _essence(verdict: Verdict) -> tuple[object, ...]:
    if verdict.timed_out:
        return (True, verdict.progress)
    # With what was printed: a program may fail the same test and yet compute something else.
    return (False, verdict.progress, verdict.exit_status, verdict.signature, verdict.actual)


def _place(candidate: Candidate) -> Place:
    assert candidate.offer is not None
    node = candidate.offer.node
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return (candidate.path, node.lineno, node.col_offset, *end)
