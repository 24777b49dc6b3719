"""Tests that were made for a task: which of them are red for the reason that the task tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.suites.made_check import made_check, text_problem, why_not_red
from codur.config.settings import Settings
from codur.errors import WorkspaceError
from codur.python.test_run import TestEnd
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace
from tests.runs.kit import fill, host
from tests.support import plain_python

FILES = ("shop/cart.py", "shop/__init__.py", "tests/conftest.py", "tests/test_cart.py", "other/test_x.py")
SHOP = """def price(name):
    return {"apple": 40}[name]


def parse(text):
    return int(text)


def total(prices):
    return sum(prices) + 1


def stored():
    pass


def opened():
    raise OSError(24, "Too many open files")


class Shelf:
    pass
"""
TESTS = """import unittest

import pytest

from shop.cart import Shelf, opened, parse, price, stored, total


def test_value():
    assert total([1, 2]) == 3


def test_no_error():
    with pytest.raises(ValueError):
        total([1])


def test_raised_inside():
    assert price("pear") == 0


def test_kind_of_error():
    assert parse("x") is None


def test_other_error_than_expected():
    with pytest.raises(LookupError):
        parse("x")


def test_own_slip():
    assert {}["apple"] == total([])


def test_new_method():
    assert Shelf().tidy()


def test_new_argument():
    assert total([1], currency="EUR")


def test_known_elsewhere():
    import shop.cart

    assert shop.cart.put


def test_no_result():
    assert sorted(stored()) == [1]


def test_no_result_used():
    found = sorted(stored())
    assert found == [1]


def test_lack_of_the_machine():
    assert opened()


def test_fixture(basket):
    assert total(basket) == 1


class TestCases(unittest.TestCase):
    def test_case(self):
        # its report holds lines that look like errors
        self.assertEqual("name: int", total([1]))

    def test_case_assert(self):
        assert total([1]) == 1

    def test_case_raised(self):
        price("pear")

    def test_case_no_result(self):
        self.assertEqual(sorted(stored()), [])

    def test_case_slip(self):
        {}["apple"]
"""
"""Each fails in its own way."""
PLACE = "tests/test_value.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Check, Verdict, Mapping[str, TestEnd]]:
    """All of these tests, run by pytest once."""
    root = fill(
        tmp_path_factory.mktemp("shop"), {"shop/__init__.py": "", "shop/cart.py": SHOP, "tests/conftest.py": ""}
    )
    workspace = Workspace.open(root)
    check = made_check(TESTS, None, ["shop/cart.py", "tests/test_cart.py"], timeout_s=60)
    with Launcher(host().environ) as launcher:
        checker = Checker(
            workspace, Settings().verification, CheckPrograms(workspace, launcher, python=plain_python.executable())
        )
        verdict = checker.run(check)
        ends = dict(checker.last_tests)
    assert (check.entry, workspace.list_files("tests")) == (PLACE, ["tests/conftest.py"])
    assert not workspace.changed_files()
    return check, verdict, ends


@pytest.mark.parametrize(
    ("test", "prompt", "why"),
    [
        ("value", "total is off by one", ""),
        ("no_error", "total should raise ValueError for a lone price", ""),
        ("raised_inside", "the price of a pear crashes", ""),
        ("raised_inside", "the price of a pear ends with KeyError", ""),
        ("raised_inside", "price gives the wrong result: LookupError for a pear", ""),
        ("raised_inside", "the price of a pear ends with TypeError", "it fails with KeyError: 'pear'"),
        ("kind_of_error", "parse('x') must give None", ""),
        ("other_error_than_expected", "parse('x') must raise LookupError", ""),
        ("own_slip", "total of nothing is wrong", "KeyError: 'apple' is raised by the test itself"),
        ("new_method", "add a method tidy to Shelf", ""),
        (
            "new_method",
            "shelves must be in order",
            "AttributeError: 'Shelf' object has no attribute 'tidy' is raised by",
        ),
        ("new_method", "and for a Shelf, too", ""),
        ("new_argument", "total takes a currency", ""),
        ("known_elsewhere", "put of a cart loses goods", "AttributeError: module 'shop.cart' has no attribute 'put'"),
        ("known_elsewhere", "shop.cart.put ends with AttributeError", ""),
        ("lack_of_the_machine", "total is off by one", "it cannot run here: [Errno 24] Too many open files"),
        ("fixture", "total of a basket is wrong", "it did not begin: "),
        ("TestCases::test_case", "total is off by one", ""),
        ("TestCases::test_case_assert", "total is off by one", ""),
        ("TestCases::test_case_raised", "the price of a pear ends with KeyError", ""),
        ("no_result", "stored() must give the goods", ""),
        ("no_result_used", "stored() must give the goods", "TypeError: 'NoneType' object is not iterable is raised by"),
        ("TestCases::test_case_no_result", "stored() must give the goods", ""),
        ("TestCases::test_case_slip", "total of nothing is wrong", "KeyError: 'apple' is raised by the test itself"),
    ],
)
def test_red_counts_only_for_the_reason_told(
    test: str, prompt: str, why: str, run: tuple[Check, Verdict, Mapping[str, TestEnd]]
) -> None:
    check, verdict, ends = run
    name = f"{PLACE}::{test}" if "::" in test else f"{PLACE}::test_{test}"
    words, earlier = {"put", "currency", "tidy"}, "User: a Desk is to have tidy()"
    found = why_not_red(check, verdict, {name: ends[name]}, prompt, earlier=earlier, known=lambda word: word in words)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_what_passes_or_is_not_run_shows_nothing(run: tuple[Check, Verdict, Mapping[str, TestEnd]]) -> None:
    check, verdict, ends = run
    for status, why in (("passed", "it passes as the program is now"), ("no_check", "it cannot be run: none found")):
        ended = replace(verdict, status=status, note="none found")  # type: ignore[arg-type]
        assert why_not_red(check, ended, ends, "total is wrong", known=bool).startswith(why)
    hung = replace(verdict, timed_out=True)
    assert why_not_red(check, hung, {}, "total never returns for []", known=bool) == ""
    assert "does not end" in why_not_red(check, hung, {}, "total is wrong", known=bool)


USES = "from shop.cart import total\n\n\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{USES}def test_a():\n    assert total([]) == 0\n", ""),
        ("import subprocess\n\n\ndef test_a():\n    assert subprocess.run(['python', 'shop/cart.py'])\n", ""),
        ("def test_a(cart):\n    assert cart.total() == 0\n", ""),
        ("import primes\n\n\ndef test_a():\n    assert primes.first(3)\n", ""),
        ("def test_a(tmp_path):\n    assert not list(tmp_path.iterdir()) == []\n", "it uses nothing of the project"),
        (f"{USES}def test_a():\n    total([])\n    assert False\n", "it fails whatever the program does"),
        (f"{USES}def test_a():\n    raise AssertionError\n", "it fails whatever the program does"),
        (f"{USES}def check():\n    assert total([]) == 0\n", "it holds no function"),
        (f"{USES}def test_a(:\n", "it is no Python"),
    ],
)
def test_a_text_is_looked_at_before_it_is_run(text: str, why: str) -> None:
    found = text_problem(text, "write primes.py", FILES)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_it_stands_beside_the_other_tests_with_a_name_of_its_own() -> None:
    project = Check(
        kind="tests", argv=("{python}", "-m", "pytest", "-x", "other", "tests"), source="s", protected=FILES[2:]
    )
    text = f"{USES}def test_Cart():\n    assert total([]) == 0\n"
    check = made_check(text, project, (*FILES, "tests/test_more.py"), timeout_s=9)
    assert check.entry == "tests/test_cart_2.py"
    assert check.argv == ("{python}", "-m", "pytest", "tests/test_cart_2.py", "-x")
    assert check.label == "python -m pytest tests/test_cart_2.py -x && python -m pytest -x other tests"
    assert check.protected == ("tests/test_cart_2.py", *FILES[2:])


def test_a_placed_file_is_gone_afterwards_whatever_became_of_it(tmp_path: Path) -> None:
    fill(tmp_path, {"a.py": "1\n"})
    workspace = Workspace.open(tmp_path)
    path = tmp_path / "test_a.py"
    for change in (lambda: None, lambda: path.write_text("other"), path.unlink):
        with workspace.placed("test_a.py", b"text"):
            assert path.read_bytes() == b"text"
            change()
        assert not path.exists()
        assert not workspace.changed_files()
    with pytest.raises(WorkspaceError, match=r"a\.py exists already"), workspace.placed("a.py", b"text"):
        pass
    assert (tmp_path / "a.py").read_text() == "1\n"
