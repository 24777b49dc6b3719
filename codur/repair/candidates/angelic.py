"""What judged programs tell about a place: whether another value there can help at all, and where something helped.

Before many synthesised conditions are judged, the condition is forced to be true, and false, as Nopol does (Xuan et al.
2017): `c or A` only makes sense if truth changes how the check fails, `c and A` only if falsehood does. At other places
the first candidates are the probes: if all of them fail as the program did before, the others come later; the lines on
which one brought the check further come earlier.
"""

import ast
from functools import lru_cache
from typing import Literal

from codur.repair.candidates.candidates import Candidate, Change, Program
from codur.repair.candidates.factors import ENOUGH, ENOUGH_HANGS, HELPED, HOPELESS, IDLE, LEAST_WAITING
from codur.repair.candidates.late_candidates import Prospect
from codur.repair.code.source_edits import Edit, apply_edits
from codur.structs import Struct
from codur.types import Verdict

Direction = Literal["and", "or"]
Place = tuple[str, int, int, int, int]
"""Path, line and column of the start and of the end."""

_SYNTHESISED = frozenset({"condition extended", "condition guarded"})


class Probe(Struct):
    """A program with a condition forced to one truth."""

    place: Place
    direction: Direction
    program: Program


class Places:
    """What is known about the places of the program as it was found.

    Args:
        before: the verdict on it.
    """

    def __init__(self, before: Verdict) -> None:
        self._before = before
        self._waiting: dict[Place, int] = {}
        self._probed: set[Place] = set()
        self._hopeless: set[tuple[Place, Direction]] = set()
        self._alike: dict[Place, int] = {}
        self._matters: set[Place] = set()
        self._helped: set[tuple[str, int]] = set()

    def waits(self, candidate: Candidate) -> None:
        """A candidate is queued."""
        if _is_condition(candidate):
            place = _place(candidate)
            self._waiting[place] = self._waiting.get(place, 0) + 1

    def factor(self, candidate: Candidate) -> float:
        """What is left of the priority of a candidate, or by how much it rose."""
        # of a program that was changed already nothing here is known
        if candidate.base.changes or candidate.offer is None:
            return 1.0
        place = _place(candidate)
        if _is_condition(candidate) and (place, _direction(candidate)) in self._hopeless:
            return HOPELESS
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
        if self._as_before(verdict):
            self._alike[place] = self._alike.get(place, 0) + 1
            return False
        self._matters.add(place)
        line = (candidate.path, candidate.line)
        if verdict.progress <= self._before.progress or line in self._helped:
            return False
        # By line and not by place: what mends the rest is often a neighbour of the expression that helped.
        self._helped.add(line)
        return True

    def unprobed(self, candidate: Candidate) -> bool:
        """Whether a candidate is the first condition at its place that is to be judged."""
        return _is_condition(candidate) and _place(candidate) not in self._probed

    def probes(self, candidate: Candidate) -> list[Probe]:
        """What to judge before the first of many conditions at a place."""
        if not _is_condition(candidate):
            return []
        place = _place(candidate)
        if place in self._probed or self._waiting.get(place, 0) < LEAST_WAITING:
            return []
        # Also where the condition cannot be forced below, so that nobody asks for the place again.
        self._probed.add(place)
        # A probe is judged like a candidate and costs as much; it pays since it decides about many.
        node = candidate.offer.node if candidate.offer else None
        if isinstance(node, ast.While):  # one that is always true seldom ends
            return [_probe(candidate, place, node.test, "and")]
        if isinstance(node, ast.If | ast.IfExp):
            return [_probe(candidate, place, node.test, "and"), _probe(candidate, place, node.test, "or")]
        return []

    def learn(self, probe: Probe, verdict: Verdict) -> None:
        """Takes in the verdict on a probe: a truth that changes nothing is no reason to allow for more of it."""
        if self._as_before(verdict):
            self._hopeless.add((probe.place, probe.direction))

    def _as_before(self, verdict: Verdict) -> bool:
        return _essence(verdict) == _essence(self._before)


def _essence(verdict: Verdict) -> tuple[object, ...]:
    if verdict.timed_out:
        return (True, verdict.progress)
    # With what was printed: a program may fail the same test and yet compute something else.
    return (False, verdict.progress, verdict.exit_status, verdict.signature, verdict.actual)


def _is_condition(candidate: Candidate) -> bool:
    return not candidate.base.changes and candidate.offer is not None and candidate.offer.operator in _SYNTHESISED


def _place(candidate: Candidate) -> Place:
    assert candidate.offer is not None
    node = candidate.offer.node
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return (candidate.path, node.lineno, node.col_offset, *end)


def _direction(candidate: Candidate) -> Direction | None:
    """Whether a candidate narrows a condition or widens it."""
    assert candidate.offer is not None
    return _joined(candidate.offer.proposal.edits[0].text)


@lru_cache(maxsize=4096)
def _joined(text: str) -> Direction | None:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, ast.BoolOp):
        return None
    return "and" if isinstance(node.op, ast.And) else "or"


def _probe(candidate: Candidate, place: Place, test: ast.expr, direction: Direction) -> Probe:
    """The program with the condition as `and False` or `or True` would leave it."""
    assert candidate.source is not None
    start, end = candidate.source.span(test)
    forced = "False" if direction == "and" else "True"
    edit = Edit(path=candidate.path, start=start, end=end, text=forced)
    text = apply_edits(candidate.base.texts[candidate.path], [edit])
    change = Change(operator="probe", path=candidate.path, line=candidate.line, says="")
    program = Program(texts={**candidate.base.texts, candidate.path: text}, changes=(change,), priority=0.0)
    return Probe(place=place, direction=direction, program=program)
