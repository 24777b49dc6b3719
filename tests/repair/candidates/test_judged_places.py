"""What judged programs tell about a place, and how it moves the candidates that wait."""

from __future__ import annotations

from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.judged_places import Places
from codur.repair.candidates.queue import Agenda
from codur.repair.evidence.failing_lines import Failure
from codur.repair.suspicion.localise import Suspicion
from codur.structs import replace
from codur.types import Verdict
from tests.repair.support import candidates

TEXT = """\
def f(a, b, seen):
    if a < b:
        seen.add(a)
    return a + b * 2
"""
PROGRAM = Program(texts={"main.py": TEXT})
BEFORE = Verdict(status="failed", exit_status=1, progress=0.5, signature="E")
OTHER = replace(BEFORE, signature="F")


def made(*operators: str, program: Program = PROGRAM) -> list[Candidate]:
    found = candidates(program, Failure(), Suspicion())
    return [each for each in found if each.offer is not None and each.offer.operator in operators]


def taken(agenda: Agenda, least: float = 0.0) -> list[Candidate]:
    """All candidates of a queue, in its order."""
    found = []
    while (candidate := agenda.next(least)) is not None:
        found.append(candidate)
    return found


def line(candidate: Candidate) -> str:
    return candidate.program().texts["main.py"].split("\n")[candidate.line - 1].strip()


def test_a_place_where_nothing_changes_how_the_check_fails_comes_later() -> None:
    places = Places(BEFORE)
    found = made("variable replaced", "value shifted")
    tried = [each for each in found if line(each).startswith("return")]
    for each in tried:
        places.note(each, BEFORE)
    assert {places.factor(each) for each in tried} == {1.0, 0.3}
    places.note(tried[0], OTHER)
    assert places.factor(tried[0]) == 1.0


def test_what_a_changed_program_shows_is_no_news_of_the_original() -> None:
    places = Places(BEFORE)
    (first, *_) = made("variable replaced")
    pair = replace(first, base=first.program())
    for _ in range(5):
        places.note(pair, BEFORE)
    assert places.factor(pair) == 1.0


def test_the_queue_gives_the_highest_priority_first_and_keeps_the_order_of_equals() -> None:
    agenda = Agenda(Places(BEFORE), lambda: 1.0)
    found = made("comparison boundary", "variable replaced", "comparison swapped")
    agenda.add(found, 1.0)
    order = taken(agenda, 0.3)
    assert order == sorted((each for each in found if each.priority >= 0.3), key=lambda each: -each.priority)
    assert len(order) < len(found)
