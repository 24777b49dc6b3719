"""Tests with plain fixtures are called one by one; others by a whole session; both are judged as in plain processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.structs import replace
from tests.repair.judge.test_warm_worker import both
from tests.repair.support import QUICK_PYTEST, TESTS, bench
from tests.repair.worker.test_worker_conftest import way_of

PROGRAM = """
class Account:
    def __init__(self, balance):
        self.balance = balance

    def pay(self, amount):
        self.balance = amount
        return self

def closed(account):
    return account.balance == 0
"""
TESTS_OF_PROGRAM = """
import pytest
from main import Account, closed

SEEN = []

@pytest.fixture
def amount():
    return 5

@pytest.fixture
def account(amount):
    made = Account(amount)
    yield made
    SEEN.append(made.balance)

@pytest.fixture(name="other")
def another(account, factor):
    return Account(account.balance * factor)

@pytest.fixture(autouse=True)
def around():
    SEEN.append("before")
    yield
    SEEN.append("after")

def test_pay(account):
    assert account.pay(3).balance == 8

@pytest.mark.parametrize("factor", [1, 2])
def test_other(factor, other):
    assert other.balance == 5 * factor

class TestAccounts:
    def test_closed(self, account):
        assert not closed(account)
        account.balance = 0
        assert closed(account)

def test_seen():
    assert SEEN[:3] == ["before", SEEN[1], "after"]
    assert SEEN[3:] == ["before", 5, "after", "before", 5, "after", "before", 0, "after", "before"]
"""
BODIES = [
    "self.balance += amount",
    "self.balance -= amount",
    "raise ValueError(amount)",
    "self.amount = amount",
    "while amount: pass",
    "import pytest; pytest.skip('no')",
]
IN_SETUP = ["self.balance = 1 / 0", "raise KeyError(balance)", "self.balance = 0", "while balance: pass"]
NOT_PLAIN = {
    "scope": "@pytest.fixture(scope='module')\ndef made(): return Account(5)\n",
    "parameters": "@pytest.fixture(params=[5])\ndef made(request): return Account(request.param)\n",
    "of pytest": "@pytest.fixture\ndef made(tmp_path): return Account(5)\n",
    "in a class": (
        "class TestMore:\n    @pytest.fixture\n    def made(self): return 5\n    def test_it(self, made): assert made\n"
    ),
}


def test_plain_fixtures(tmp_path: Path) -> None:
    files = {"main.py": PROGRAM, "test_main.py": TESTS_OF_PROGRAM, "pytest.ini": QUICK_PYTEST}
    found = bench(tmp_path, files, TESTS)
    texts = [PROGRAM.replace("self.balance = amount", body) for body in BODIES]
    texts += [PROGRAM.replace("self.balance = balance", body) for body in IN_SETUP]
    _, warm = both(found, [{"main.py": text} for text in texts])
    assert (warm.note, warm.plain) == ("", 0)
    assert way_of(found) == "light"


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_other_fixtures_need_a_session(tmp_path: Path, name: str) -> None:
    use = "" if name == "in a class" else "def test_made(made):\n    assert made.pay(1).balance == 6\n"
    tests = f"import pytest\nfrom main import Account\n\n{NOT_PLAIN[name]}\n{use}"
    tests += "def test_pay():\n    assert Account(1).pay(1).balance == 2\n"
    found = bench(tmp_path, {"main.py": PROGRAM, "test_main.py": tests, "pytest.ini": QUICK_PYTEST}, TESTS)
    _, warm = both(found, [{"main.py": PROGRAM.replace("self.balance = amount", body)} for body in BODIES[:3]])
    assert (warm.note, warm.plain) == ("", 0)
    assert way_of(found) == "full"


def test_fixtures_that_fail_after_the_test_or_yield_twice(tmp_path: Path) -> None:
    tests = """
import pytest
from main import Account

@pytest.fixture
def account():
    made = Account(5)
    yield made
    assert made.balance != 7
    if made.balance == 6:
        yield made

def test_pay(account):
    account.pay(1)
    assert account.balance in (4, 6, 7)
"""
    files = {"main.py": PROGRAM, "test_main.py": tests, "pytest.ini": QUICK_PYTEST}
    found = bench(tmp_path, files, replace(TESTS, protected=("test_main.py", "pytest.ini")))
    bodies = ["self.balance -= amount", "self.balance += amount", "self.balance += 2", "self.balance += 9"]
    _, warm = both(found, [{"main.py": PROGRAM.replace("self.balance = amount", body)} for body in bodies])
    assert (warm.note, warm.plain) == ("", 0)
    assert way_of(found) == "light"
