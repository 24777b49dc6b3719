import pytest

from codur.repair.evidence.differences import shown_kinds
from codur.repair.hints import KINDS
from codur.types import Verdict


def of_tests(*lines: str) -> set[str]:
    return set(shown_kinds(Verdict(status="failed", error="\n".join(lines))))


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("E   AssertionError: assert 'bytes=0-100' == 'bytes=0-99'", {"off by one"}),
        ("E       assert 3 == 4", {"off by one"}),
        ("E   AssertionError: assert 3.5 == -3.5", {"arithmetic"}),
        ("AssertionError: Lists differ: [1, 2] != [1, 2, 3]", {"off by one"}),
        ("AssertionError: 'ab' != 'abc' : of the first row", {"off by one"}),
        ("E   assert [3, 1, 2] == [1, 2, 3]", {"sorting", "order of things"}),
        ("E   AssertionError: True != False", set()),
        ("E   assert 3 == 9", set()),
        ("E   assert <Money 3> == <Money 4>", {"off by one"}),
        ("E   assert v1.2 == v1.3", set()),
        ("E   assert None == 'x'", set()),
        ("E   assert ((((", set()),
        ("E   ValueError: 3 != 4", set()),
    ],
)
def test_what_an_assertion_compares(line: str, kinds: set[str]) -> None:
    assert of_tests(line) == kinds
    assert kinds <= {kind.name for kind in KINDS}


def test_a_kind_explains_half_of_the_failures_at_least() -> None:
    assert of_tests("E   assert 3 == 4", "E   assert 5 == 9") == {"off by one"}
    assert of_tests("E   assert 3 == 4", "E   assert 5 == 9", "E   assert 7 == 1") == set()


def test_lines_of_an_output() -> None:
    off = Verdict(status="failed", actual="sum 9\nend\n", expected="sum 10\nend\n")
    assert shown_kinds(off) == ("off by one",)
    longer = Verdict(status="failed", actual="sum 9\n", expected="sum 10\nend\n")
    assert shown_kinds(longer) == ()
