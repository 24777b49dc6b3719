"""Candidates that share a process are judged as if each had its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.repair.worker.shared_fork import TURNS, import_lines, is_pure
from tests.repair.judge.test_warm_worker import both
from tests.repair.support import QUICK_PYTEST, TESTS, bench

PURE = {
    "nothing": "def f(x):\n    return x\n",
    "standard library": "import math, os.path\nfrom collections import deque as d\nfrom decimal import Decimal\n",
    "own modules": "import main\nfrom package.part import f\nfrom . import other\nmain.LIMIT = 3\n",
    "tests": "import pytest\nimport sys, random\nrandom.seed(1)\nsys.setrecursionlimit(5000)\n",
    "own attributes": "import re\nclass A:\n    pass\na = A()\na.re = 1\na.b = {}\na.b['x'] = re\n",
    "paths": "import os\nHERE = os.path.dirname(__file__)\n",
}
IMPURE = {
    "environment": "import os\nos.environ['A'] = '1'\n",
    "directory": "import os\nos.chdir('/')\n",
    "from os": "from os import environ\n",
    "all of os": "from os import *\n",
    "os by another name": "import os as system\nsystem.chdir('/')\n",
    "modules": "import sys\nsys.modules.pop('json')\n",
    "tracing": "import sys\nsys.settrace(print)\n",
    "from sys": "from sys import modules\n",
    "sys by another name": "import sys as s\ns.settrace(print)\n",
    "threads": "import threading\n",
    "part of a module": "import json\njson.x = 1\n",
    "deep part of a module": "import json\njson.encoder.ESCAPE['a'] = 'b'\n",
    "part of a class": "from collections import Counter\nCounter.a = 1\n",
    "deleted part": "import math\ndel math.pi\n",
    "another name": "import sys as s\ns.stdout = None\n",
    "hidden import": "__import__('os').chdir('/')\n",
    "set by name": "import math\nsetattr(math, 'pi', 3)\n",
    "code as text": "exec('import os')\n",
    "not Python": "print 'x'\n",
}


@pytest.mark.parametrize("name", PURE)
def test_programs_that_can_leave_nothing_behind_share_a_process(name: str) -> None:
    assert is_pure({"a.py": PURE[name].encode(), "b.py": b"x = 1\n"}, {"main", "package"})


@pytest.mark.parametrize("name", IMPURE)
def test_others_do_not(name: str) -> None:
    assert not is_pure({"a.py": b"x = 1\n", "b.py": IMPURE[name].encode()}, {"main"})


def test_a_candidate_may_not_import_more() -> None:
    before = import_lines(b"import math\nx = 1\n")
    assert import_lines(b"import math\nx = 2\n") <= before
    assert not import_lines(b"import math\nx = 1; import os\n") <= before


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
    texts = [STATEFUL.replace("EXTRA = 0", f"EXTRA = {number % 3}") + "\n" * number for number in range(TURNS + 6)]
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
