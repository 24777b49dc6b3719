"""Candidates that are made late come in the order of those made at once, and only as many as are wanted."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.late_candidates import Prospect, Sight, Which, prospects
from codur.repair.candidates.queue import Agenda
from codur.repair.code import source_edits
from codur.repair.code.node_context import Context
from codur.repair.code.source_file import parse_source
from codur.repair.evidence.failing_lines import Failure, Raised
from codur.repair.evidence.observed_values import Observed
from codur.repair.operators import conditions, loops
from codur.repair.operators.table import OPERATORS
from codur.repair.suspicion.localise import Suspicion
from tests.repair.support import candidates, offers, source_of

UNIT = """
def step_{n}(items, start, seen):
    total = start
    for index in range(len(items)):
        if items[index] < total and index > 0:
            total = max(total, items[index] + 1)
        elif not seen:
            total -= start * 2
        while total > start:
            total = total // 2
    try:
        seen.append(f"{{total:.1f}}")
    except (TypeError, ValueError):
        return [total]
    return sorted(seen, key=lambda each: -len(each))
"""
SAMPLES = {
    line: ({"start": "1", "total": "3", "items": "[1, 2]", "index": "0"}, {"start": "2", "total": "1", "index": "1"})
    for line in range(3, 15)
}


class Counted(Agenda):
    """Counts the candidates that were made."""

    made = 0

    def _push(self, waiting: Iterable[Candidate | Prospect], number: int, factor: float) -> None:
        waiting = list(waiting)
        self.made += sum(isinstance(each, Candidate) for each in waiting)
        super()._push(waiting, number, factor)


def module(units: int) -> str:
    return "".join(UNIT.format(n=number) for number in range(units))


def suspicion(text: str) -> Suspicion:
    """The first function is very suspicious, of the others some lines a little."""
    scores = {("main.py", line): 0.1 + line % 7 / 10 for line in range(1, 17)}
    scores |= {("main.py", line): 0.01 + 0.01 * (line % 5) for line in range(17, text.count("\n")) if line % 3}
    return Suspicion(scores=scores, others=0.01, running=frozenset({("main.py", 9)}))


def taken(agenda: Agenda, most: int) -> list[Candidate]:
    found: list[Candidate] = []
    while len(found) < most and (candidate := agenda.next()) is not None:
        found.append(candidate)
    return found


def shown(found: list[Candidate]) -> list[tuple[float, str, str]]:
    return [(each.priority, each.offer.operator if each.offer else "", each.new_text()) for each in found]


@pytest.mark.parametrize("which", ["all", "executed", "not executed"])
@pytest.mark.parametrize("samples", [{}, SAMPLES], ids=["unseen", "observed"])
def test_late_candidates_come_in_the_order_of_those_made_at_once(which: Which, samples: dict[int, object]) -> None:
    text = module(3)
    program, failure = Program(texts={"main.py": text, "other.py": text}), Failure()
    seen = {"main.py": Observed(samples=samples)}  # type: ignore[arg-type]
    eager = candidates(program, failure, suspicion(text), which, seen)
    agenda = Agenda(lambda: 1.0)
    sight = Sight(
        program=program,
        failure=failure,
        suspicion=suspicion(text),
        which=which,
        observed=lambda path: seen.get(path, Observed()),
    )
    agenda.add(prospects(sight), 1.0)
    assert shown(taken(agenda, len(eager) + 1)) == shown(sorted(eager, key=lambda each: (-each.priority, each.order)))


def test_a_larger_module_takes_no_more_candidates_until_the_first_two_hundred() -> None:
    made = []
    for units in (5, 100):
        agenda = Counted(lambda: 1.0)
        text = module(units)
        agenda.add(prospects(Sight(program=Program(texts={"main.py": text}), suspicion=suspicion(text))), 1.0)
        assert len(taken(agenda, 200)) == 200
        made.append(agenda.made)
    assert made[0] == made[1] < 1000


def test_a_file_is_parsed_when_its_first_place_comes_up() -> None:
    texts = {"main.py": module(1), "late.py": module(1) + "# not parsed by another test\n"}
    scores = {("main.py", line): 1.0 for line in range(3, 15)} | {("late.py", 3): 0.001}
    agenda = Agenda(lambda: 1.0)
    agenda.add(prospects(Sight(program=Program(texts=texts), suspicion=Suspicion(scores=scores, others=0.001))), 1.0)
    before = parse_source.cache_info().misses
    assert {each.path for each in taken(agenda, 100)} == {"main.py"}
    assert parse_source.cache_info().misses - before <= 1
    assert {each.path for each in taken(agenda, 100_000)} == {"main.py", "late.py"}


def test_what_a_parameter_is_by_default_is_changed_later_than_what_the_function_does() -> None:
    text = "def words(text, upper=False):\n    strip = False\n    return text\n"
    agenda = Agenda(lambda: 1.0)
    agenda.add(prospects(Sight(program=Program(texts={"main.py": text}))), 1.0)
    flipped = [each for each in taken(agenda, 100) if each.offer and each.offer.operator == "True/False flipped"]
    assert [(each.line, round(each.priority, 3)) for each in flipped] == [(2, 0.35), (1, 0.105)]


def test_nothing_is_made_when_the_time_is_up() -> None:
    agenda = Counted(lambda: 0.0)
    agenda.add(prospects(Sight(program=Program(texts={"main.py": module(1)}))), 1.0)
    assert agenda.next() is None
    assert not agenda.made


def test_a_file_that_an_exception_calls_broken_is_mended_first() -> None:
    texts = {"good.py": module(1), "bad.py": "def f(:\n    return 1\n"}
    failure = Failure(raised=(Raised(kind="SyntaxError", frames=(("bad.py", 1),)),))
    scores = {("good.py", 4): 1.0, ("bad.py", 1): 0.1}
    agenda = Agenda(lambda: 1.0)
    sight = Sight(program=Program(texts=texts), failure=failure, suspicion=Suspicion(scores=scores, others=0.1))
    agenda.add(prospects(sight), 1.0)
    assert [each.path for each in taken(agenda, 1)] == ["bad.py"]


RAISED = ("NameError", "AttributeError", "ZeroDivisionError", "IndexError", "KeyError", "ValueError", "TypeError")


@pytest.mark.parametrize("kinds", [(), RAISED], ids=["silent", "raising"])
def test_no_offer_weighs_more_than_its_operator_says(kinds: tuple[str, ...]) -> None:
    rows = {row.name: row for row in OPERATORS}
    raised = tuple(Raised(kind=kind, message="name 'total' is not defined; NoneType") for kind in kinds)
    texts = [Path(str(each.__file__)).read_text() for each in (conditions, source_edits, loops)]
    for text in (*texts, module(1), "while a:\n    b = +c\n    A = a.b(a)\n    print('x', [b] + c)\n"):
        for offer in offers(Context.of(source_of(text), Failure(raised=raised))):
            row = rows[offer.operator]
            assert offer.proposal.weight <= row.most, offer
            assert not row.after or set(row.after) & set(kinds), offer


def test_what_a_statement_holds_is_looked_up_once() -> None:
    source = source_of(module(2))
    assert source.walk(source.tree) == tuple(
        each
        for each in ast.walk(source.tree)
        if not isinstance(each, ast.expr_context | ast.operator | ast.cmpop)
        and not isinstance(each, ast.unaryop | ast.boolop)
    )
    assert source.walk(source.tree) is source.walk(source.tree)
    assert [source.function(each) for each in source.nodes(source.tree, ast.Return)][-1] is source.tree.body[1]


def test_the_queue_gives_the_highest_priority_first_and_keeps_the_order_of_equals() -> None:
    text = module(1)
    found = candidates(Program(texts={"main.py": text}), Failure(), suspicion(text))
    agenda = Agenda(lambda: 1.0)
    agenda.add(found, 1.0)
    assert taken(agenda, len(found)) == sorted(found, key=lambda each: -each.priority)
