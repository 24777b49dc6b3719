"""Test runs judged in a warm worker get the verdicts of plain ones: plain functions, fixtures, settings, packages."""

from __future__ import annotations

import re
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.repair.judge.candidate_judge import Judge
from codur.structs import replace
from codur.types import Check
from tests.repair.judge.test_warm_worker import both
from tests.repair.support import QUICK_PYTEST, TESTS, bench

ADDRESS = re.compile(r"(?:0x|\.{3})[0-9a-f]+")
MAIN = """
class Box:
    def __init__(self, size):
        self.size = size

    def grow(self, by):
        return Box(self.size - by)

def add(a, b):
    return a - b

def names():
    return ["a", "b"]

LIMIT = 3
"""
CANDIDATES = {
    "right add": MAIN.replace("a - b", "a + b"),
    "other result": MAIN.replace("a - b", "a * b"),
    "raises": MAIN.replace("return a - b", "raise ValueError(f'{a} and {b}')"),
    "raises from": MAIN.replace(
        "return a - b", "try:\n        1 / 0\n    except ZeroDivisionError as e:\n        raise KeyError(a) from e"
    ),
    "raises in handling": MAIN.replace(
        "return a - b", "try:\n        1 / 0\n    except ZeroDivisionError:\n        return {}[a]"
    ),
    "own traceback": MAIN.replace(
        "return a - b", "return inner(a)\n\ndef inner(x):\n    y = x\n    return (y\n        + None)"
    ),
    "exits": MAIN.replace("return a - b", "raise SystemExit(3)"),
    "exits at once": MAIN.replace("return a - b", "__import__('os')._exit(0)"),
    "recursion": MAIN.replace("return a - b", "return add(a, b)"),
    "assertion in program": MAIN.replace("return a - b", "assert a > b, 'too small'\n    return a"),
    "multiline message": MAIN.replace("return a - b", "raise ValueError('first\\nsecond\\nthird')"),
    "strange characters": MAIN.replace("return a - b", "raise ValueError('\\x00\\x1b[31m <&> \\u2028 ä')"),
    "long values": MAIN.replace("return a - b", "return list(range(500)) + [a]"),
    "dictionary": MAIN.replace("return a - b", "return {'sum': a, 'other': [b] * 40}"),
    "text": MAIN.replace("return a - b", "return 'line\\n' * 30 + str(a)"),
    "no such name": MAIN.replace("def add", "def plus"),
    "undefined": MAIN.replace("a - b", "a - c"),
    "fails at import": MAIN + "1 / 0\n",
    "syntax": MAIN + "def (\n",
    "exits at import": MAIN + "raise SystemExit(0)\n",
    "more tests": MAIN + "def test_taken_over():\n    assert True\n",
    "skips": MAIN.replace("return a - b", "import pytest\n    pytest.skip('not now')"),
    "fails by pytest": MAIN.replace("return a - b", "import pytest\n    pytest.fail('no')"),
    "prints": MAIN.replace("return a - b", "print('x' * 10000)\n    return a"),
    "reads": MAIN.replace("return a - b", "return input()"),
    "warns": MAIN.replace(
        "return a - b", "import warnings\n    warnings.warn('old', DeprecationWarning)\n    return a"
    ),
    "group": MAIN.replace("return a - b", "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])"),
    "not comparable": MAIN.replace("return a - b", "class A:\n        __eq__ = None\n    return A()"),
    "strange comparison": MAIN.replace(
        "return a - b", "class A:\n        def __eq__(self, other): return 1 / 0\n    return A()"
    ),
    "strange representation": MAIN.replace(
        "return a - b", "class A:\n        def __repr__(self): return 1 / 0\n    return A()"
    ),
    "box": MAIN.replace("self.size - by", "self.size + by"),
    "other names": MAIN.replace('["a", "b"]', '["a", "c"]'),
    "writes": MAIN.replace("return a - b", "open('out.txt', 'w').write('x')\n    return a"),
    "thread": MAIN.replace(
        "return a - b", "import threading\n    threading.Thread(target=print).start()\n    return a"
    ),
}
PLAIN_TESTS = """
import pytest
from main import *

def test_add():
    assert add(1, 2) == 3

def test_add_more():
    found = [add(number, 1) for number in range(3)]
    assert found == [1, 2, 3], "numbers"

@pytest.mark.parametrize("a, b", [(1, 1), pytest.param(2, 3, id="two")])
@pytest.mark.parametrize("c", [0, 5])
def test_many(a, b, c):
    assert add(a, b) + c == a + b + c

@pytest.mark.parametrize("name", ["a", "b"])
def test_names(name):
    assert name in names() and len(names()) == 2

class TestBox:
    def test_size(self):
        assert Box(2).size == 2

    def test_grow(self):
        assert Box(2).grow(3).size == 5

    def test_raises(self):
        with pytest.raises(AttributeError):
            Box(2).shrink()
"""
FIXTURE_TESTS = """
import sys
import pytest
from main import add, Box, names
import main

@pytest.fixture
def box(tmp_path):
    (tmp_path / "size.txt").write_text("2")
    yield Box(int((tmp_path / "size.txt").read_text()))

@pytest.fixture(params=[1, 2], ids=["one", "two"])
def number(request):
    return request.param

def test_box(box):
    assert box.grow(1).size == 3

def test_number(number, shared):
    assert add(number, shared) == number + 1

def test_output(capsys, monkeypatch):
    monkeypatch.setattr(main, "LIMIT", 4)
    print(add(2, 2), main.LIMIT)
    assert capsys.readouterr().out == "4 4\\n"

@pytest.mark.xfail
def test_expected_to_fail():
    assert add(1, 1) == 3

@pytest.mark.skip
def test_skipped():
    assert False

def test_depth():
    assert len(names()) == 2
"""
CONFTEST = """
import pytest
from main import LIMIT

@pytest.fixture(autouse=True)
def shared():
    return LIMIT - 2

def pytest_collection_modifyitems(items):
    items.reverse()
"""
UNITTESTS = """
import unittest
from main import add, Box

class AddTest(unittest.TestCase):
    def setUp(self):
        self.box = Box(1)

    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_box(self):
        for by in (1, 2):
            with self.subTest(by=by):
                self.assertEqual(self.box.grow(by).size, 1 + by)
"""
SUITES: dict[str, dict[str, str]] = {
    "plain functions": {"test_main.py": PLAIN_TESTS},
    "fixtures": {"test_main.py": FIXTURE_TESTS, "conftest.py": CONFTEST},
    "unittest": {"test_main.py": UNITTESTS},
    "package": {
        "tests/__init__.py": "",
        "tests/helper.py": "def check(found, wanted):\n    assert found == wanted\n",
        "tests/test_one.py": "from main import add\nfrom .helper import check\ndef test_1():\n    check(add(1, 2), 3)",
        "tests/test_two.py": "import main\n\ndef test_2():\n    assert main.add(2, 2) == 4 and main.names()\n",
    },
}


def files_of(suite: Mapping[str, str]) -> dict[str, str | bytes]:
    return {"main.py": MAIN, "pytest.ini": QUICK_PYTEST, **suite}


@pytest.mark.parametrize("suite", SUITES)
def test_test_runs_are_judged_alike(tmp_path: Path, suite: str) -> None:
    files = files_of(SUITES[suite])
    check = replace(TESTS, protected=tuple(path for path in files if path not in ("main.py",)))
    found = bench(tmp_path, files, check)
    # Of a test with several parts that prints, a run of its own tells the last part alone.
    texts = [text for name, text in CANDIDATES.items() if (suite, name) != ("unittest", "prints")]
    _, warm = both(found, [{"main.py": text} for text in texts])
    assert warm.note == ""
    assert warm.plain <= 4


def test_errors_are_told_as_by_a_whole_session(tmp_path: Path) -> None:
    found = bench(tmp_path, files_of({"test_main.py": PLAIN_TESTS}), TESTS)
    left_out = {"syntax", "prints"}  # what is printed is told by a run of its own alone
    texts = [{"main.py": text} for name, text in CANDIDATES.items() if "import" not in name and name not in left_out]
    with (
        Judge(found.checker, found.check, found.before) as plain,
        Judge(found.checker, found.check, found.before, workers=1) as warm,
    ):
        expected = [ADDRESS.sub("0x0", verdict.error) for verdict in plain.judge_apart(texts)]
        assert [ADDRESS.sub("0x0", verdict.error) for verdict in warm.judge_apart(texts)] == expected


@pytest.mark.parametrize(
    "command", ["pytest -q", "python -m pytest -q test_main.py", "python -m unittest test_main", "python test_main.py"]
)
def test_commands_that_run_tests(tmp_path: Path, command: str) -> None:
    check = Check(
        kind="command", argv=("sh", "-c", command), protected=("test_main.py",), timeout_s=20.0, source="--check"
    )
    tests = UNITTESTS + "\nif __name__ == '__main__':\n    unittest.main()\n"
    found = bench(tmp_path, files_of({"test_main.py": tests}), check)
    names = ["right add", "raises", "no such name", "box", "exits", "prints"]
    _, warm = both(found, [{"main.py": CANDIDATES[name]} for name in names])
    assert (warm.note, warm.plain) == ("", 0)


def test_settings_that_load_the_program_are_seen_anew_by_each_candidate(tmp_path: Path) -> None:
    plugin = "import main\n\ndef pytest_report_header():\n    return str(main.add(1, 2))\n"
    settings = QUICK_PYTEST.replace("addopts =", "addopts = -p plugin")
    files = files_of({"test_main.py": PLAIN_TESTS, "plugin.py": plugin}) | {"pytest.ini": settings}
    found = bench(tmp_path, files, replace(TESTS, protected=("test_main.py", "plugin.py", "pytest.ini")))
    _, warm = both(found, [{"main.py": CANDIDATES["right add"]}, {"main.py": CANDIDATES["raises"]}])
    assert (warm.note, warm.plain) == ("", 0)


def python_with(root: Path, plugin: str) -> str:
    """An interpreter in which a plugin of pytest is installed besides what this one has."""
    venv.create(root, symlinks=True)
    (packages,) = root.glob("lib/python*/site-packages")
    (packages / "noisy.py").write_text(plugin)
    installed = packages / "noisy-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\nnoisy = noisy\n")
    (packages / "others.pth").write_text(f"{Path(pytest.__file__).parent.parent}\n")
    return str(root / "bin" / "python")


NOISY = """
import subprocess
import pytest

@pytest.fixture
def two():
    return 2

def pytest_configure(config):
    subprocess.run(["true"], check=True)
"""


def test_plugins_that_start_programs_do_so_once_where_the_project_is_loaded(tmp_path: Path) -> None:
    python = python_with(tmp_path / "python", NOISY)
    candidates = [{"main.py": CANDIDATES[name]} for name in ("right add", "raises", "box")]
    tests = PLAIN_TESTS + "\ndef test_two(two):\n    assert add(two, 1) == 3\n"
    found = bench(tmp_path / "uses", files_of({"test_main.py": tests}), TESTS, python=python)
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        judge.prepare()
        list(judge.judge_many(candidates))
    assert (judge.note, judge.slow, judge.loaded, judge.plain) == ("", "", 3, 0)


def test_a_program_that_hangs_shows_its_tests_all_the_same(tmp_path: Path) -> None:
    hangs = MAIN.replace("return a - b", "while True: pass")
    check = replace(TESTS, timeout_s=4.0)
    found = bench(tmp_path, files_of({"test_main.py": PLAIN_TESTS}) | {"main.py": hangs}, check)
    box = hangs.replace("self.size - by", "self.size + by")
    texts = [CANDIDATES["raises"], hangs.replace("True", "1"), CANDIDATES["fails at import"], box]
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        judge.prepare()
        verdicts = list(judge.judge_many([{"main.py": text} for text in texts]))
    told = [each and (each.status, each.timed_out) for each in verdicts]
    assert found.before.timed_out
    assert (judge.note, judge.slow, judge.plain) == ("", "", 0)
    assert told == [("failed", False), ("failed", True), None, ("failed", True)]


@pytest.mark.parametrize("suite", SUITES)
def test_small_suites_are_judged_with_the_project_loaded(tmp_path: Path, suite: str) -> None:
    files = files_of(SUITES[suite])
    found = bench(tmp_path, files, replace(TESTS, protected=tuple(path for path in files if path != "main.py")))
    names = [
        name for name in CANDIDATES if "import" not in name and name not in ("syntax", "more tests", "no such name")
    ]
    texts = [{"main.py": CANDIDATES[name]} for name in names]
    with (
        Judge(found.checker, found.check, found.before) as plain,
        Judge(found.checker, found.check, found.before, workers=1) as loaded,
    ):
        loaded.prepare()
        verdicts = dict(zip(names, loaded.judge_many(texts), strict=True))
        expected = {name: verdict.passed for name, verdict in zip(names, plain.judge_apart(texts), strict=True)}
    assert (loaded.note, loaded.slow, loaded.plain) == ("", "", 0)
    told = {name: verdict.passed for name, verdict in verdicts.items() if verdict is not None}
    assert told == {name: expected[name] for name in told}
    assert len(told) >= len(names) - 4
