"""Candidates judged with the project loaded: changes in all kinds of functions, and what only a new process tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.repair.judge.candidate_judge import Judge
from codur.structs import replace
from codur.types import Check, Verdict
from tests.repair.support import Bench, bench

MODULE = """
import asyncio
import functools
from contextlib import contextmanager

LIMIT = 3
SIZES = [LIMIT, 2 * LIMIT]

def noted(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(*arguments) + 0
    return inner

def plain(a, b):
    return a - b

def default(a, step=2):
    return a + step

@noted
def decorated(a):
    return a - 1

@functools.lru_cache
def cached(a):
    return a - 1

def generator(n):
    for i in range(n - 1):
        yield i

async def coroutine(a):
    await asyncio.sleep(0)
    return a - 1

def maker(k):
    def add(a):
        return a - k
    return add

ADD_TWO = maker(2)

@contextmanager
def opened(log):
    log.append("open")
    yield log

class Box:
    WIDTH = 3

    def __init__(self, size):
        self.size = size

    def grown(self, by):
        return self.size - by

    @property
    def half(self):
        return self.size // 3

    @classmethod
    def wide(cls):
        return cls(cls.WIDTH)

class Big(Box):
    def __init__(self, size):
        super().__init__(size - 10)
"""
TESTS_TEXT = """
import asyncio
from project import shop
from project.shop import SIZES

def test_plain(): assert shop.plain(1, 2) == 3
def test_default(): assert shop.default(1) == 2
def test_decorated(): assert shop.decorated(1) == 2
def test_cached(): assert shop.cached(1) == 2
def test_generator(): assert list(shop.generator(2)) == [0, 1]
def test_coroutine(): assert asyncio.run(shop.coroutine(1)) == 2
def test_closure(): assert shop.ADD_TWO(1) == 3
def test_context():
    log = []
    with shop.opened(log):
        pass
    assert log == ["open", "close"]
def test_method(): assert shop.Box(1).grown(1) == 2
def test_property(): assert shop.Box(4).half == 2
def test_class_attribute(): assert shop.Box.wide().size == 4
def test_super(): assert shop.Big(1).size == 1
def test_constant(): assert SIZES == [4, 8]
"""
EDITS = {
    "plain": ("return a - b", "return a + b"),
    "default": ("step=2", "step=1"),
    "decorated": ("def decorated(a):\n    return a - 1", "def decorated(a):\n    return a + 1"),
    "cached": ("def cached(a):\n    return a - 1", "def cached(a):\n    return a + 1"),
    "generator": ("range(n - 1)", "range(n)"),
    "coroutine": ("await asyncio.sleep(0)\n    return a - 1", "await asyncio.sleep(0)\n    return a + 1"),
    "closure": ("return a - k", "return a + k"),
    "context": ("    yield log\n", '    yield log\n    log.append("close")\n'),
    "method": ("return self.size - by", "return self.size + by"),
    "property": ("self.size // 3", "self.size // 2"),
    "class_attribute": ("WIDTH = 3", "WIDTH = 4"),
    "super": ("size - 10", "size"),
    "constant": ("LIMIT = 3", "LIMIT = 4"),
}
CHECK = Check(kind="tests", argv=("{python}", "-m", "pytest"), protected=("tests/test_shop.py",), source="tests")
PATH = "project/shop.py"


def project(root: Path, tests: str = TESTS_TEXT, module: str = MODULE) -> Bench:
    return bench(root, {"project/__init__.py": "", PATH: module, "tests/test_shop.py": tests}, CHECK)


def narrow(made: Bench, *names: str) -> tuple[Check, Verdict]:
    check = replace(made.check, tests=tuple(f"tests/test_shop.py::{name}" for name in names), timeout_s=60.0)
    return check, made.checker.run(check)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return project(tmp_path_factory.mktemp("shop"))


@pytest.mark.parametrize("kind", EDITS)
def test_a_change_of_any_kind_is_seen(shop: Bench, kind: str) -> None:
    check, before = narrow(shop, f"test_{kind}")
    assert before.failing == check.tests
    with Judge(shop.checker, check, before, workers=1) as judge:
        judge.prepare()
        right, same = judge.judge_many(
            [{PATH: MODULE.replace(*EDITS[kind])}, {PATH: MODULE.replace("self.size - by", "self.size * by")}]
        )
        assert judge.loaded == 2, judge.slow
        assert right is not None
        assert right.passed
        assert same is not None
        assert not same.passed


@pytest.mark.parametrize("place", ["SIZES", "def plain"])
def test_a_new_statement_outside_of_functions_needs_a_process(shop: Bench, place: str) -> None:
    check, before = narrow(shop, "test_plain")
    new = {PATH: MODULE.replace(place, f"import math\n{place}")}
    with Judge(shop.checker, check, before, workers=1) as judge:
        judge.prepare()
        assert list(judge.judge_many([new])) == [None]
        assert judge.judge(new).status == "failed"
        assert (judge.loaded, judge.warm + judge.plain) == (0, 1)


def test_changes_do_not_add_up(shop: Bench) -> None:
    check, before = narrow(shop, "test_plain", "test_method")
    texts = [{PATH: MODULE.replace(*EDITS[kind])} for kind in ("plain", "method") * 8]
    with Judge(shop.checker, check, before, workers=2) as judge:
        judge.prepare()
        verdicts = list(judge.judge_many(texts))
    assert [verdict and verdict.passed for verdict in verdicts] == [False] * 16
    assert {verdict.progress for verdict in verdicts if verdict} == {0.5}


def test_what_breaks_another_test_does_not_pass(tmp_path: Path) -> None:
    made = project(tmp_path, "from project import shop\ndef test_a(): assert shop.plain(2, 2) == 4\n"
                   "def test_b(): assert shop.plain(3, 3) == 0 or shop.plain(3, 3) == 6\n")  # fmt: skip
    check, before = narrow(made, "test_a")
    wrong, right = MODULE.replace("return a - b", "return 4"), MODULE.replace("return a - b", "return a + b")
    with Judge(made.checker, check, before, workers=1) as judge:
        judge.prepare()
        verdicts = [verdict for verdict in judge.judge_many([{PATH: wrong}, {PATH: right}]) if verdict]
    assert [verdict.status for verdict in verdicts] == ["failed", "passed"]


def test_an_endless_loop_ends_one_candidate(shop: Bench) -> None:
    check, before = narrow(shop, "test_plain")
    loop = MODULE.replace("return a - b", "while True: pass")
    texts = [{PATH: loop}, {PATH: MODULE.replace(*EDITS["plain"])}, {PATH: loop}]
    with Judge(shop.checker, check, before, workers=1) as judge:
        judge.prepare()
        verdicts = list(judge.judge_many(texts))
    assert [verdict and (verdict.status, verdict.timed_out) for verdict in verdicts] == [
        ("failed", True),
        ("passed", False),
        ("failed", True),
    ]


def test_a_candidate_that_spoils_the_process_spoils_no_other(shop: Bench) -> None:
    check, before = narrow(shop, "test_plain")
    spoils = MODULE.replace("return a - b", "Box.WIDTH = asyncio = functools.reduce = None\n    import builtins\n"
                            "    builtins.len = None\n    raise ValueError")  # fmt: skip
    leaves = MODULE.replace("return a - b", "__import__('os')._exit(0)")
    right = MODULE.replace(*EDITS["plain"])
    texts = [{PATH: text} for text in (spoils, right, leaves, right)]
    with Judge(shop.checker, check, before, workers=1) as judge:
        judge.prepare()
        verdicts = list(judge.judge_many(texts))
    assert [bool(verdict and verdict.passed) for verdict in verdicts] == [False, True, False, True]


def test_tests_that_need_those_before_them_are_mended(tmp_path: Path) -> None:
    tests = (
        "from project import shop\nimport unittest\nclass TestShop(unittest.TestCase):\n"
        "    def test_1_ready(self): TestShop.ready = True\n"
        "    def test_2_sum(self):\n        assert self.ready\n        assert shop.plain(1, 2) == 3\n"
    )
    outcome = project(tmp_path, tests).search([PATH], workers=1)
    assert outcome.files[PATH] == MODULE.replace("return a - b", "return a + b")
