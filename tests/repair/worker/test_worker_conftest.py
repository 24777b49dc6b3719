"""Workspaces with a `conftest.py`: what it allows, and that tests are judged as in plain processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.structs import replace
from tests.repair.judge.test_warm_worker import both
from tests.repair.support import QUICK_PYTEST, TESTS, Bench, bench

PROGRAM = "def add(a, b):\n    return a - b\n"
TEST = """
import pytest
from main import add

def test_add():
    assert add(1, 2) == pytest.expected

def test_zero():
    assert add(0, 0) == 0

@pytest.mark.parametrize("a", [1, 2])
def test_many(a):
    assert add(a, 1) == a + 1
"""
OPTIONS = """
import os
import pytest

os.environ.setdefault("MODE", "test")

def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run slow tests")

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")
    pytest.expected = 4 if config.getoption("--slow") else 3

def pytest_collection_modifyitems(config, items):
    items.reverse()
"""
TAKES_PART = OPTIONS + "\ndef pytest_runtest_setup(item):\n    import main\n    main.add(1, 1)\n"
LOADS = OPTIONS + "\nfrom main import add as seen\n\ndef pytest_report_header():\n    return str(seen(1, 1))\n"
MAKES = """
import pytest
from main import add

CALLS = []

@pytest.fixture(autouse=True)
def start():
    pytest.expected = 3
    CALLS.append(add(1, 1))
    assert len(CALLS) <= 4
    yield
"""
FAILS = MAKES + "\nassert add(2, 2) != 5\n"
FIXTURE = OPTIONS + "\n@pytest.fixture(autouse=True)\ndef around():\n    yield\n"
BODIES = ["a + b", "a * b", "{}[a]", "a - b - 0", "int('x')", "sum((a, b))", "None"]


def made(root: Path, conftest: str) -> Bench:
    files = {"main.py": PROGRAM, "test_main.py": TEST, "conftest.py": conftest, "pytest.ini": QUICK_PYTEST}
    check = replace(TESTS, protected=("conftest.py", "pytest.ini", "test_main.py"))
    return bench(root, files, check)


@pytest.mark.parametrize(
    "conftest",
    [OPTIONS, TAKES_PART, LOADS, FIXTURE, MAKES],
    ids=["options", "takes part", "loads the program", "fixture", "makes values"],
)
def test_tests_are_judged_alike_whatever_a_conftest_does(tmp_path: Path, conftest: str) -> None:
    found = made(tmp_path, conftest)
    _, warm = both(found, [{"main.py": PROGRAM.replace("a - b", body)} for body in BODIES])
    assert (warm.note, warm.plain) == ("", 0)


def test_a_conftest_that_a_candidate_makes_fail(tmp_path: Path) -> None:
    found = made(tmp_path, FAILS)
    bodies = ["a + b", "a + b + 1", "a * b", "1 / 0"]
    _, warm = both(found, [{"main.py": PROGRAM.replace("a - b", body)} for body in bodies])
    assert (warm.note, warm.plain) == ("", 2)
