"""What a candidate does to its interpreter is not seen by the next one."""

from __future__ import annotations

from pathlib import Path

from tests.repair.judge.test_warm_worker import both
from tests.repair.support import QUICK_PYTEST, TESTS, bench

STATEFUL = """
import random
import sys
from decimal import Decimal, getcontext

CALLS = []
EXTRA = 0

def count():
    CALLS.append(1)
    return len(CALLS) + EXTRA

def draw():
    return random.random() + EXTRA

def third():
    getcontext().prec = 4
    return Decimal(1) / Decimal(3) + EXTRA

def deep(n):
    sys.setrecursionlimit(200 + n)
    return 0 if n == 0 else 1 + deep(n - 1)

def path():
    sys.path.insert(0, "elsewhere")
    sys.meta_path.pop()
    return sys.path.count("elsewhere"), len(sys.meta_path)

def found(text):
    return text.count("a") + EXTRA
"""
STATEFUL_TESTS = """
import random
import sys
from decimal import Decimal

import main

FINDERS = len(sys.meta_path)
FIRST = random.random()

def test_count():
    assert main.count() == 1

def test_precision():
    assert Decimal(1) / Decimal(7) == Decimal("0.1428571428571428571428571429")

def test_third():
    assert main.third() == Decimal("0.3333")

def test_drawn():
    assert main.draw() != FIRST

def test_deep():
    assert main.deep(20) == 20

def test_path():
    assert main.path() == (1, FINDERS - 1)

def test_found():
    assert main.found("banana") == 4
"""


def test_what_a_candidate_changes_is_not_seen_by_the_next(tmp_path: Path) -> None:
    files = {"main.py": STATEFUL, "test_main.py": STATEFUL_TESTS, "pytest.ini": QUICK_PYTEST}
    found = bench(tmp_path, files, TESTS)
    texts = [STATEFUL.replace("EXTRA = 0", f"EXTRA = {number % 3}") + "\n" * number for number in range(12)]
    _, warm = both(found, [{"main.py": text} for text in texts])
    assert (warm.note, warm.plain) == ("", 0)


def test_candidates_that_end_the_process_or_grow_do_not_disturb_the_next(tmp_path: Path) -> None:
    program = "KEPT = []\n\ndef f(x):\n    return x - 1\n"
    tests = "import main\n\ndef test_f():\n    assert main.f(1) == 2\n\ndef test_g():\n    assert main.f(0) == -1\n"
    found = bench(tmp_path, {"main.py": program, "test_main.py": tests, "pytest.ini": QUICK_PYTEST}, TESTS)
    bodies = [
        "return x + 1",
        "while x:\n        pass\n    return -1",
        "return x - 1",
        "KEPT.append(bytearray(100_000_000))\n    return x * 2",
        "raise SystemExit(3)",
        "return x - 1 if x else f(x)",
        "open('made.txt', 'w')\n    return x",
        "return open(0).read() or x",
        "return x * 2",
        "return -1 if not x else 2",
    ]
    texts = [{"main.py": program.replace("return x - 1", body)} for body in bodies]
    _, warm = both(found, texts + texts[::-1])
    assert warm.note == ""
    assert warm.plain == 2  # what writes a file
