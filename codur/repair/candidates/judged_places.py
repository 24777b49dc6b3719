"""What judged programs tell about a place: whether another value there can help at all.

The first candidates of a place are the probes: if all of them fail as the program did before, the others come later.
"""

import ast

from codur.repair.candidates.candidates import Candidate
from codur.repair.candidates.factors import ENOUGH, ENOUGH_HANGS, IDLE
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

    def factor(self, candidate: Candidate) -> float:
        """What is left of the priority of a candidate."""
        # of a program that was changed already nothing here is known
        if candidate.base.changes or candidate.offer is None:
            return 1.0
        place = _place(candidate)
        enough = ENOUGH_HANGS if self._before.timed_out else ENOUGH
        # Of a statement several things are changed, and one that makes no difference says little of the next.
        idle = isinstance(candidate.offer.node, ast.expr) and self._alike.get(place, 0) >= enough
        return IDLE if idle and place not in self._matters else 1.0

    def note(self, candidate: Candidate, verdict: Verdict) -> None:
        """Takes in a verdict."""
        if candidate.base.changes or candidate.offer is None or verdict.passed:
            return
        place = _place(candidate)
        if _essence(verdict) == _essence(self._before):
            self._alike[place] = self._alike.get(place, 0) + 1
        else:
            self._matters.add(place)


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
