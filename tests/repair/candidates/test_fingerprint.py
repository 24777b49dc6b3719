"""Programs are equal if they compile to the same code, which is seen by the statements that changed."""

from __future__ import annotations

import pytest

from codur.repair.candidates.candidates import Candidate, Mark, Program
from codur.repair.candidates.fingerprint import fingerprint
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import parse_source
from codur.repair.evidence.failing_lines import Failure
from codur.repair.operators.table import Offer
from codur.repair.suspicion.localise import Suspicion
from codur.structs import replace
from tests.repair.support import candidates

TEXT = '''\
"""A module."""

from __future__ import annotations

import math

LIMIT = 10
if LIMIT > 5:
    SIZE = 1
if LIMIT > 7:
    SIZE = 2


class Base:
    """A class."""

    step = 1

    class Inner:
        def get(self):
            return self.__value + 1

    def area(self, r):
        text = """
low line
"""
        return math.pi * r * r

    def other(self, r):
        return math.pi * r * r


def first(a):
    return a + 1


def second(a):
    return a + 1
'''
ORIGINAL = Program(texts={"main.py": TEXT})


def change(base: Program, *pairs: tuple[str, str], path: str = "main.py") -> Candidate:
    """The first occurrence of each text in place of which another one stands."""
    text = base.texts[path]
    source = parse_source(path, text)
    assert source is not None
    edits = tuple(
        Edit(path=path, start=text.index(old), end=text.index(old) + len(old), text=new) for old, new in pairs
    )
    node = source.tree.body[0]
    offer = Offer(operator="test", prior=1.0, proposal=Proposal(edits=edits), node=node)
    return Candidate(base=base, path=path, line=1, priority=1.0, offer=offer, source=source)


def whole(candidate: Candidate) -> Mark | None:
    """The mark as it is if the whole file is compiled."""
    return fingerprint(replace(candidate, offer=None, source=None, text=candidate.new_text()))


def after(*steps: tuple[str, str]) -> Mark | None:
    program, mark = ORIGINAL, None
    for step in steps:
        candidate = change(program, step)
        mark = fingerprint(candidate)
        program = candidate.program(mark or ())
    return mark


@pytest.mark.parametrize(
    "pairs",
    [
        [("LIMIT = 10", "LIMIT = 0xA")],
        [("a + 1", "(a + 1)")],
        [("import math\n", "import math  # for pi\n")],
        [("step = 1", "step = 0b1"), ("r * r", "(r) * r")],
    ],
)
def test_other_words_for_the_same_code_are_no_change(pairs: list[tuple[str, str]]) -> None:
    assert fingerprint(change(ORIGINAL, *pairs)) == ()


@pytest.mark.parametrize(
    "pairs",
    [
        [("a + 1", "a +")],
        [("    step = 1\n", "  step = 1\n")],
        [("    return a + 1", "    global a; return a")],
        [("LIMIT = 10", "return 10")],
        [("    step = 1", "    elif step: pass")],
    ],
)
def test_what_does_not_compile_has_no_mark(pairs: list[tuple[str, str]]) -> None:
    candidate = change(ORIGINAL, *pairs)
    assert whole(candidate) is None
    assert fingerprint(candidate) is None


@pytest.mark.parametrize(
    "pairs",
    [
        [("if LIMIT > 7", "elif LIMIT > 7")],
        [("if LIMIT > 7:\n    SIZE = 2", "    if LIMIT > 7:\n        SIZE = 2")],
        [("    step = 1\n", "")],
        [("    step = 1", "    step = 1; pace = 2")],
        [("import math\n", "import math\nimport os\n")],
        [("class Base:", "class Base(dict):")],
        [("LIMIT = 10\n", ""), ("a + 1", "a + 10")],
        [("self.__value", "self.__other")],
        [('"""\nlow line\n"""', '"""\nlow line\n""".strip()')],
        [("def second(a):\n    return a + 1\n", "")],
    ],
)
def test_a_change_that_compiles_has_a_mark_of_its_own(pairs: list[tuple[str, str]]) -> None:
    candidate = change(ORIGINAL, *pairs)
    assert whole(candidate)
    assert fingerprint(candidate)


def test_the_same_change_at_another_place_is_another_program() -> None:
    first = after(("a + 1", "a + 2"))
    second = fingerprint(change(ORIGINAL, ("second(a):\n    return a + 1", "second(a):\n    return a + 2")))
    assert first != second


def test_two_changes_of_a_function_are_one_program_in_any_order() -> None:
    one, two = ("math.pi", "math.e"), ("r * r", "r + r")
    assert after(one, two) == after(two, one) != after(one)


def test_a_change_that_is_undone_is_the_original() -> None:
    assert after(("LIMIT = 10", "LIMIT = 11"), ("LIMIT = 11", "LIMIT = 10")) == ()


def test_changes_that_move_the_others_do_not_mix_with_them() -> None:
    gone = after(("LIMIT = 10\n", ""), ("SIZE = 1", "SIZE = 3"))
    kept = after(("SIZE = 1", "SIZE = 3"), ("LIMIT = 10\n", ""))
    assert len({gone, kept, after(("LIMIT = 10\n", "")), after(("SIZE = 1", "SIZE = 3"))}) >= 3
    header = after(("class Base:", "class Base(dict):"), ("step = 1", "step = 2"))
    assert header not in (after(("step = 1", "step = 2")), after(("class Base:", "class Base(dict):")))


def test_equal_marks_mean_equal_files_and_only_what_compiles_has_one() -> None:
    known: dict[Mark, Mark | None] = {}
    for candidate in candidates(ORIGINAL, Failure(), Suspicion()):
        mark, other = fingerprint(candidate), whole(candidate)
        assert (mark is None) == (other is None)
        if mark is not None:
            assert known.setdefault(mark, other) == other
    assert len(known) > 100


def test_edits_of_the_original_come_with_a_program() -> None:
    candidate = change(ORIGINAL, ("a + 1", "a + 2"))
    program = candidate.program()
    (edit,) = program.edits
    assert TEXT[: edit.start] + edit.text + TEXT[edit.end :] == program.texts["main.py"]
    assert change(program, ("a + 2", "a + 3")).program().edits == ()
