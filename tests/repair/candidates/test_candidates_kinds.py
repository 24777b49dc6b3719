"""Programs of all kinds get the verdicts of plain processes from two workers: judged in one, or left to a process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.repair.judge.candidate_judge import Judge
from codur.structs import replace
from tests.repair.judge.test_warm_worker import STDIN, alike, essence
from tests.repair.support import QUICK_PYTEST, TESTS, Bench, bench

FILES: dict[str, str | bytes] = {
    "main.py": "print(0)\n",
    "helper.py": "NAME = 'helper'\n",
    "pack/__init__.py": "from .inner import part\n",
    "pack/inner/__init__.py": "",
    "pack/inner/part.py": "from ... import pack\nfrom . import other\nNAME = __name__\n",
    "pack/inner/other.py": "from ..inner import part\n",
    "input.txt": "1\n2\n",
    "expected.txt": "1\n2\n",
}
JUDGED = {
    "input": "print(input())\nprint(input())\n",
    "input until the end": "try:\n    while True: print(input())\nexcept EOFError: pass\n",
    "sys.stdin": "import sys\nfor line in sys.stdin: print(line, end='')\n",
    "sys.stdin.buffer": "import sys\nprint(sys.stdin.buffer.readline().decode(), end='')\n",
    "fileinput": "import fileinput\nfor line in fileinput.input(files='-'): print(line, end='')\n",
    "open(0)": "print(*map(int, open(0)), sep='\\n')\n",
    "os.read": "import os\nprint(os.read(0, 100).decode(), end='')\n",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as pool: print(*pool.map(abs, (-1, 2)), sep='\\n')\n"
    ),
    "queue": (
        "import threading, queue\nq = queue.Queue()\nt = threading.Thread(target=lambda: [q.put(n) for n in (1, 3)])\n"
        "t.start()\nprint(q.get())\nprint(q.get())\nt.join()\n"
    ),
    "array": "from array import array\nprint(*array('i', [1, 2]), sep='\\n')\n",
    "decimal": "from decimal import Decimal\nprint(Decimal('0.1') + Decimal('0.9'))\n",
    "sqlite3": "import sqlite3\nprint(*sqlite3.connect(':memory:').execute('select 1').fetchone())\n",
    "zlib": "import zlib\nprint(zlib.decompress(zlib.compress(b'1\\n2')).decode())\n",
    "chdir": "import os\nprint(1)\nos.chdir('pack')\nprint(sorted(os.listdir())[0])\n",
    "alarm": (
        "import signal\ndef late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)\nprint(1)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.02)\nsignal.pause()\n"
    ),
    "signals of time": (
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nsignal.signal(signal.SIGPROF, signal.SIG_IGN)\n"
        "print(1)\nsignal.raise_signal(signal.SIGXCPU)\nprint(2)\n"
    ),
    "except: pass": "print(1)\ntry:\n    raise KeyboardInterrupt\nexcept: pass\nprint(3)\n",
    "catches SystemExit": "import sys\ntry:\n    sys.exit(3)\nexcept BaseException as e: print(repr(e))\n",
    "never gives up": "while True:\n    try:\n        raise ValueError\n    except BaseException: pass\n",
    "shuffles with a seed": "import random\nr = random.Random(5)\nx = [1, 2, 3]\nr.shuffle(x)\nprint(*x, sep='\\n')\n",
    "measures time": "import time\nt = time.perf_counter()\ntime.sleep(0.01)\nprint(int(time.perf_counter() > t))\n",
    "deep recursion": "import sys\nsys.setrecursionlimit(5000)\ndef f(n): return n and f(n - 1)\nprint(1 + f(3000))\n",
    "too deep": "def f(n): return n and f(n - 1)\nprint(1)\ntry:\n    f(10**5)\nexcept RecursionError as e: print(e)\n",
    "endless loop": "print(1, flush=True)\nn = 0\nwhile n >= 0: n += 1\n",
    "sleeps": "import time\nprint(1, flush=True)\ntime.sleep(100)\n",
    "megabytes": "print('1\\n2\\n' * 700000)\n",
    "one long line": "print('x' * 3000000)\n",
    "exit()": "print(1)\nexit()\n",
    "exit with True": "import sys\nprint(1)\nsys.exit(True)\n",
    "exit with 300": "import sys\nprint(1)\nsys.exit(300)\n",
    "exit with a list": "import sys\nprint(1)\nsys.exit([1, 2])\n",
    "exit in a function": "import sys\ndef f():\n    try: sys.exit('over')\n    finally: print(1)\nf()\n",
    "os._exit": "import os\nprint('lost')\nos._exit(0)\n",
    "atexit": "import atexit, sys\n@atexit.register\ndef f(): print(2)\nprint(1)\nsys.exit(2)\n",
    "several files": "import pack, helper\nfrom pack.inner.part import NAME\nprint(1)\nprint(NAME, helper.NAME)\n",
    "relative import": "print(1)\nfrom . import helper\n",
    "main block": "def main():\n    print(1)\n    print(2)\nif __name__ == '__main__':\n    main()\n",
    "main block left out": "def main():\n    print(1)\n",
    "tabs": "if True:\n\tprint(1)\n\tfor n in [2]:\n\t\tprint(n)\n",
    "mixed tabs": "if True:\n\tprint(1)\n        print(2)\n",
    "async": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 1\nprint(asyncio.run(f()))\n",
    "generator": "def f():\n    try:\n        yield 1\n    finally: print(2)\ng = f()\nprint(next(g))\ng.close()\n",
}
"""Judged in a worker, but for errors that the interpreter shows with a line that it reads from the file."""
SHOWN = ("mixed tabs",)

LEFT = {
    "os.fork": "import os\nprint(1, flush=True)\npid = os.fork()\nif not pid: os._exit(3)\nprint(os.wait()[1])\n",
    "multiprocessing": (
        "import multiprocessing\nif __name__ == '__main__':\n    print(1)\n"
        "    with multiprocessing.Pool(1) as pool: print(*pool.map(abs, [-2]))\n"
    ),
    "subprocess": "import subprocess\nprint(subprocess.run(['echo', '1'], capture_output=True, text=True).stdout)\n",
    "writes": "with open('out.txt', 'w') as file: file.write('1')\nprint(open('out.txt').read())\n",
    "shelf": "import shelve\nwith shelve.open('shelf') as shelf: shelf['a'] = 1\nprint(1)\n",
    "signal to itself": "import os, signal\nprint(1, flush=True)\nos.kill(os.getpid(), signal.SIGINT)\n",
}
"""Left to a process of their own."""

TESTED = """
def add(a, b):
    return a - b

def label(text):
    return text.upper()
"""
CHANGED = {
    "right": TESTED.replace("a - b", "a + b"),
    "raises": TESTED.replace("return a - b", "return {}[a]"),
    "fails at import": "import no_such_module\n" + TESTED,
    "prints": TESTED.replace("return text", "print(text)\n    return text"),
    "exits": TESTED.replace("return a - b", "exit(a)"),
    "catches all and loops": TESTED.replace(
        "return a - b", "while b == 2:\n        try: 1 / 0\n        except: pass\n    return a + b"
    ),
    "recurses": TESTED.replace("return a - b", "return add(a, b - 1) if b > -2000 else a"),
}
SUITES: dict[str, dict[str, str]] = {
    "scopes": {
        "test_main.py": (
            "import pytest\nfrom main import add\ncalls = []\n"
            "@pytest.fixture(scope='session')\ndef one(): return 1\n"
            "@pytest.fixture(scope='module')\ndef two(one):\n    yield one + 1\n    calls.clear()\n"
            "@pytest.fixture\ndef noted(two):\n    calls.append(two)\n    return calls\n"
            "def test_a(one, two, noted): assert add(one, two) == 3 and noted == [2]\n"
            "def test_b(noted): assert noted == [2, 2]\n"
        )
    },
    "conftest": {
        "conftest.py": "import pytest\n@pytest.fixture(params=[1, 5])\ndef number(request): return request.param\n",
        "test_main.py": "from main import add\ndef test_a(number): assert add(number, 1) == number + 1\n",
    },
    "parameters": {
        "test_main.py": (
            "import pytest\nfrom main import add\n"
            "@pytest.mark.parametrize(('a', 'b', 'c'), [(1, 2, 3), (0, 0, 0), pytest.param(5, 0, 5, id='<five>')])\n"
            "@pytest.mark.parametrize('d', range(2))\ndef test_a(a, b, c, d): assert add(a, b) + d == c + d\n"
        )
    },
    "classes": {
        "test_main.py": (
            "from main import add, label\nclass TestAdd:\n    wanted = 3\n    class TestInner:\n"
            "        def test_a(self): assert add(1, 2) == TestAdd.wanted\n"
            "    def test_b(self): assert label('a') == 'A'\n"
            "class TestSetUp:\n    def setup_method(self): self.wanted = 4\n"
            "    def test_c(self): assert add(2, 2) == self.wanted\n"
        )
    },
    "unittest": {
        "test_main.py": (
            "import unittest\nfrom main import add, label\nclass Add(unittest.TestCase):\n"
            "    def test_a(self): self.assertEqual(add(1, 2), 3)\n"
            "    def test_b(self): self.assertTrue(label('a'))\n"
            "    @unittest.skip('not now')\n    def test_c(self): self.fail()\n"
        )
    },
    "marks": {
        "test_main.py": (
            "import pytest\nfrom main import add, label\n"
            "@pytest.mark.xfail\ndef test_a(): assert add(1, 1) == 5\n"
            "@pytest.mark.skipif(True, reason='no')\ndef test_b(): assert add(1, 2) == 3\n"
            "def test_c():\n    if label('x') == 'X': pytest.skip('known')\n"
            "def test_d(): assert add(1, 2) == 3\n"
        )
    },
    "given by pytest": {
        "test_main.py": (
            "import main\n"
            "def test_a(capsys):\n    print(main.add(1, 2))\n    assert capsys.readouterr().out == '3\\n'\n"
            "def test_b(monkeypatch):\n    monkeypatch.setattr(main, 'label', len)\n    assert main.label('ab') == 2\n"
            "def test_c(tmp_path):\n    (tmp_path / 'a').write_text(main.label('a'))\n"
            "    assert (tmp_path / 'a').read_text() == 'A'\n"
        )
    },
    "deep": {
        "test_main.py": (
            "from main import add\ndef f(n): return n and 1 + f(n - 1)\n"
            "def test_a(): assert f(900) == 900\ndef test_b(): assert f(960) == 960\n"
            "def test_c(): assert add(1, 2) == 3\n"
        )
    },
}


def verdicts(
    found: Bench, candidates: Mapping[str, Mapping[str, str]], workers: int
) -> tuple[Judge, dict[str, tuple[object, ...]]]:
    """What a number of workers makes of each candidate."""
    before = replace(found.before, duration_s=max(found.before.duration_s, 0.6))  # time enough on a busy machine
    with Judge(found.checker, found.check, before, workers=workers) as judge:
        told = judge.judge_apart(list(candidates.values()), patient=workers > 0)
        return judge, dict(zip(candidates, map(essence, told), strict=True))


def judged_alike(found: Bench, candidates: Mapping[str, Mapping[str, str]]) -> Judge:
    """The judge with workers, after it has agreed with plain processes."""
    _, plain = verdicts(found, candidates, 0)
    files = found.contents()
    judge, warm = verdicts(found, candidates, 2)
    assert found.contents() == files
    alike(found, list(candidates.values()), list(plain.values()), list(warm.values()))
    return judge


def test_scripts_that_a_worker_judges(tmp_path: Path) -> None:
    found = bench(tmp_path, FILES, STDIN)
    judge = judged_alike(found, {name: {"main.py": text} for name, text in JUDGED.items()})
    assert (judge.note, judge.plain) == ("", len(SHOWN))


@pytest.mark.parametrize("name", LEFT)
def test_scripts_that_are_left_to_a_process_of_their_own(tmp_path: Path, name: str) -> None:
    found = bench(tmp_path, FILES, STDIN)
    judge = judged_alike(found, {name: {"main.py": LEFT[name]}})
    assert (judge.note, judge.warm, judge.plain) == ("", 0, 1)


@pytest.mark.parametrize("text", ["import random\nprint(random.random())\n", "import time\nprint(time.time_ns())\n"])
def test_a_program_that_varies_has_one_verdict_as_long_as_it_fails_alike(tmp_path: Path, text: str) -> None:
    found = bench(tmp_path, FILES, STDIN)
    (verdict,) = verdicts(found, {"varies": {"main.py": text}}, 2)[1].values()
    assert isinstance(verdict, tuple)
    assert verdict[:3] == ("failed", 0, 0.0)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"print(0)\r\n", "print(1)\nprint('''2\n''')\n"),
        (b"\xef\xbb\xbfprint(0)\n", "print(1)\nprint('\u00e4')\n"),
        (
            b"# -*- coding: latin-1 -*-\nprint('\xe4')\n",
            "# -*- coding: latin-1 -*-\nprint(1)\nprint(ascii('\u00e4'))\n",
        ),
        (b"if 1:\n\tprint(0)\n", "if 1:\n\tprint(1)\n\tprint(2)\n"),
    ],
    ids=["CRLF", "BOM", "latin-1", "tabs"],
)
def test_sources_of_all_kinds(tmp_path: Path, source: bytes, text: str) -> None:
    found = bench(tmp_path, {**FILES, "main.py": source}, STDIN)
    judge = judged_alike(found, {"changed": {"main.py": text}})
    assert (judge.note, judge.warm, judge.plain) == ("", 1, 0)


@pytest.mark.parametrize("suite", SUITES)
def test_test_runs_of_all_kinds(tmp_path: Path, suite: str) -> None:
    files = {"main.py": TESTED, "pytest.ini": QUICK_PYTEST, **SUITES[suite]}
    check = replace(TESTS, protected=tuple(SUITES[suite]), timeout_s=20.0)
    found = bench(tmp_path, files, check)
    judge = judged_alike(found, {name: {"main.py": text} for name, text in CHANGED.items()})
    assert (judge.note, judge.warm + judge.plain) == ("", len(CHANGED))
    assert judge.warm >= len(CHANGED) - 2
