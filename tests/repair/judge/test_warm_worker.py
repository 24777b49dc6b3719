"""Candidates judged in a warm worker get the verdicts of plain processes: odd scripts, one after the other."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.config.settings import VerificationSettings
from codur.errors import Interrupted, LimitReached
from codur.repair.judge.candidate_judge import Judge
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check, CheckKind, Verdict
from tests.repair.support import OUTPUT, Bench, bench
from tests.support import plain_python

STDIN = Check(
    kind="output",
    argv=("{python}", "main.py", "one", "two"),
    entry="main.py",
    stdin_file="input.txt",
    expected_file="expected.txt",
    protected=("expected.txt", "input.txt"),
    timeout_s=10.0,
    source="expected.txt",
)
FILES: dict[str, str | bytes] = {
    "main.py": "print(1)\n",
    "helper.py": "def double(number):\n    return number + number\n",
    "pack/__init__.py": "from .part import NAME\n",
    "pack/part.py": "NAME = 'part'\n",
    "broken.py": "def f(:\n",
    "input.txt": "3 4\n5\n",
    "expected.txt": "1\n2\n3\n",
}

STAYS = {
    "wrong output": "print(1)\nprint(2)\nprint(4)\n",
    "too much": "print(1)\nprint(2)\nprint(3)\nprint(4)\n",
    "nothing": "",
    "reads all": "import sys\nfor line in sys.stdin: print(line.split()[0])\n",
    "reads lines": "a, b = map(int, input().split())\nprint(a, b, input())\n",
    "reads too far": "print(1)\nwhile True: input()\n",
    "arguments": "import sys\nprint(sys.argv, __name__, __file__ == sys.path[0] + '/main.py', __spec__)\n",
    "stack": "import traceback\nprint(1)\ntraceback.print_stack()\n",
    "raises": "print(1)\ndef f():\n    return {}['key']\nf()\n",
    "raises from": "print(1)\ntry:\n    1 / 0\nexcept ArithmeticError as e:\n    raise ValueError('no') from e\n",
    "prints a traceback": "import traceback\ntry:\n    int('x')\nexcept ValueError:\n    traceback.print_exc()\n",
    "catches everything": "try:\n    print(undefined)\nexcept:\n    pass\nprint(1)\n",
    "catches and tells": "try:\n    print(1, [][3])\nexcept Exception as error:\n    print('error', error)\n",
    "syntax": "print(1\n",
    "indentation": "if True:\nprint(1)\n",
    "warning of syntax": "x = 1\nif x is 1: print(1)\n",
    "imports broken": "print(1)\nimport broken\n",
    "imports": "from helper import double\nimport pack\nprint(1, double(2), pack.NAME)\n",
    "imports nothing": "print(1)\nimport no_such_module\n",
    "import star": "from math import *\nprint(1)\nprint(2.0, floor(2.5))\n",
    "exit": "import sys\nprint(1)\nsys.exit()\n",
    "exit with a number": "print(1)\nraise SystemExit(3)\n",
    "exit with -1": "print(1)\nexit(-1)\n",
    "exit with a text": "import sys\nprint(1)\nsys.exit('it is over')\n",
    "exits at once": "import os\nprint(1, flush=True)\nprint(2)\nos._exit(4)\n",
    "interrupted": "print(1)\nraise KeyboardInterrupt\n",
    "aborts": "import os\nprint(1, flush=True)\nos.abort()\n",
    "at exit": "import atexit\natexit.register(print, 2)\nprint(1)\n",
    "raises at exit": "import atexit\ndef f(): raise ValueError('late')\natexit.register(f)\nprint(1)\n",
    "hook": "import sys\nsys.excepthook = lambda *args: print('hook', args[0].__name__)\nraise ValueError\n",
    "thread": "import threading\nt = threading.Thread(target=print)\nprint(1)\nt.start()\nt.join()\n",
    "thread at the end": "import threading\nthreading.Timer(0.05, print, [2]).start()\n",
    "thread raises": "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint(1)\n",
    "daemon": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\nprint(1)\n",
    "big stack": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**26)\n"
        "def f(n): return n and 1 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(20000)))\nt.start()\nt.join()\n"
    ),
    "changes directory": "import os\nos.chdir('/')\nprint(1, os.getcwd())\n",
    "handles signals": (
        "import signal\nsignal.signal(signal.SIGTERM, lambda *_: print('no'))\n"
        "signal.signal(signal.SIGALRM, lambda *_: print('alarm'))\nsignal.raise_signal(signal.SIGALRM)\nprint(1)\n"
    ),
    "recurses for ever": "def f(n): return f(n + 1)\nprint(1)\nf(0)\n",
    "recurses to the limit": "def f(n): return n and 1 + f(n - 1)\nprint(1, f(990))\n",
    "loops for ever": "print(1, flush=True)\nwhile True: pass\n",
    "loops and catches": "while True:\n    try:\n        1 / 0\n    except:\n        pass\n",
    "prints megabytes": "print(1)\nfor n in range(60000): print('line', n)\n",
    "prints to standard error": "import sys\nprint(1)\nsys.stderr.write('x' * 5000 + 'end')\n",
    "no newline": "import sys\nsys.stdout.write('1\\n2')\n",
    "bytes": "import sys\nsys.stdout.buffer.write(b'1\\n\\xff\\xfe\\n')\n",
    "closes": "import sys\nprint(1)\nsys.stdout.flush()\nsys.stdout.close()\n",
    "no standard output": "import sys\nsys.stdout = None\nprint(1)\n",
    "reads a file": "print(open('input.txt').read())\n",
    "lasting change": "import math, builtins\nmath.pi = 1\nbuiltins.print = None\n",
    "is not changed": "import math\nprint(math.pi)\n",
    "seeded": "import random\nrandom.seed(4)\nprint(random.random())\n",
    "environment": "import os\nos.environ['X'] = '1'\nprint(os.environ.get('X'), os.environ.get('PYTHONHASHSEED'))\n",
    "hash": "print({'b', 'a', 'c'})\n",
    "own name": "import sys\nimport __main__\nprint(sys.modules['__main__'] is __main__, __main__.sys is sys)\n",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nprint(A(1))\n",
    "pickles": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n",
    "source": "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))\n",
    "finders": "import sys\nprint(1, [getattr(each, '__name__', type(each)) for each in sys.meta_path])\n",
    "a part of the worker": "print(1)\nimport fork\n",
}
"""Judged in the worker, but for those of which the interpreter itself reads the source's file to show a line."""
SHOWN = ("syntax", "indentation", "raises at exit", "thread raises")

LEAVES = {
    "null byte": "print(1)\n\0\n",
    "writes": "print(1)\nopen('out.txt', 'w').write('x')\n",
    "writes by pathlib": "from pathlib import Path\nprint(1)\nPath('out.txt').write_text('x')\n",
    "writes to the check": "open('expected.txt', 'w').write('1\\n')\nprint(1)\n",
    "removes": "import os\nprint(1)\nos.remove('input.txt')\n",
    "makes a directory": "import os\nprint(1)\nos.makedirs('made/deep', exist_ok=True)\n",
    "renames": "import os\nprint(1)\nos.rename('input.txt', 'other.txt')\nos.rename('other.txt', 'input.txt')\n",
    "temporary file": "import tempfile\nwith tempfile.TemporaryFile() as f: f.write(b'x')\nprint(1)\n",
    "forks": "import os\nprint(1, flush=True)\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\nprint(2)\n",
    "leaves a child": "import subprocess\nsubprocess.Popen(['sleep', '30'])\nprint(1)\n",
    "starts a program": "import subprocess\nprint(1)\nsubprocess.run(['true'], check=True)\n",
    "shell": "import os\nprint(1, os.system('true'))\n",
    "kills": "import os, signal\nprint(1, flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "connects": "import socket\nprint(1)\ns = socket.socket()\nprint(s.connect_ex(('127.0.0.1', 1)) != 0)\n",
    "reads itself": "print(len(open(__file__).read()))\n",
    "database": "import sqlite3\nprint(1)\nsqlite3.connect('x.db').close()\n",
}
"""Stopped in the worker before they leave a trace, and judged in a process of their own."""
INSIDE_TEMPORARY = {"temporary file"}


def essence(verdict: Verdict) -> tuple[object, ...]:
    """What must not depend on the way of judging. Of a program that is stopped, how far it came may vary."""
    if verdict.timed_out:
        return (verdict.status, "timed out")
    difference = verdict.difference and (
        verdict.difference.line,
        verdict.difference.expected,
        verdict.difference.actual,
    )
    tests = (verdict.tests_passed, verdict.tests_total)
    return (verdict.status, verdict.exit_status, verdict.progress, verdict.signature, difference, verdict.note, *tests)


def both(found: Bench, candidates: Sequence[Mapping[str, str]], workers: int = 1) -> tuple[Judge, Judge]:
    """Judges for the plain and for the warm way, after they have agreed on the candidates."""
    before = replace(found.before, duration_s=max(found.before.duration_s, 0.6))  # time enough on a busy machine
    with (
        Judge(found.checker, found.check, before) as plain,
        Judge(found.checker, found.check, before, workers=workers) as warm,
    ):
        # In a process of its own each ends as it did before.
        distinct = list({tuple(each.items()): each for each in candidates}.values())
        ends = [essence(verdict) for verdict in plain.judge_apart(distinct)]
        expected = [ends[distinct.index(each)] for each in candidates]
        files = found.contents()
        judged = [essence(verdict) for verdict in warm.judge_apart(candidates, patient=True)]
        assert found.contents() == files
    alike(found, candidates, expected, judged)
    return plain, warm


def alike(
    found: Bench,
    candidates: Sequence[Mapping[str, str]],
    expected: Sequence[tuple[object, ...]],
    judged: Sequence[tuple[object, ...]],
) -> None:
    """Both came to the same; what had no time in one of them, on a busy machine, is judged once more with plenty."""
    rows = [row for row in zip(candidates, expected, judged, strict=True) if row[1] != row[2]]
    late = [candidate for candidate, *ends in rows if "timed out" in (*ends[0], *ends[1])]
    assert [row for row in rows if row[0] not in late] == []
    if late:
        before = replace(found.before, duration_s=max(20.0, 10 * found.before.duration_s))
        check = replace(found.check, timeout_s=120.0)
        with Judge(found.checker, check, before) as plain, Judge(found.checker, check, before, workers=1) as warm:
            again = [essence(verdict) for verdict in plain.judge_apart(late)]
            assert [essence(verdict) for verdict in warm.judge_apart(late, patient=True)] == again, late


def test_scripts_are_judged_alike(tmp_path: Path) -> None:
    found = bench(tmp_path, FILES, STDIN)
    plain, warm = both(found, [{"main.py": text} for text in STAYS.values()])
    assert (warm.note, warm.warm, warm.plain) == ("", len(STAYS) - len(SHOWN), len(SHOWN))
    assert (plain.warm, plain.plain) == (0, 1 + len(STAYS))  # and the unchanged program, to see whether it is flaky


def test_tracebacks_are_told_as_by_plain_processes(tmp_path: Path) -> None:
    found = bench(tmp_path, FILES, STDIN)
    names = ["raises", "raises from", "imports broken", "exit with a text"]
    texts = [{"main.py": STAYS[name]} for name in names]
    with (
        Judge(found.checker, found.check, found.before) as plain,
        Judge(found.checker, found.check, found.before, workers=1) as warm,
    ):
        expected = [verdict.error for verdict in plain.judge_apart(texts)]
        assert [verdict.error for verdict in warm.judge_apart(texts, patient=True)] == expected
        assert warm.warm == len(texts)


@pytest.mark.parametrize("name", LEAVES)
def test_what_would_leave_a_trace_is_judged_in_a_process_of_its_own(tmp_path: Path, name: str) -> None:
    found = bench(tmp_path, FILES, STDIN)
    _, warm = both(found, [{"main.py": LEAVES[name]}])
    assert (warm.note, warm.warm, warm.plain) == (("", 1, 0) if name in INSIDE_TEMPORARY else ("", 0, 1))


def test_several_files_are_changed_at_once(tmp_path: Path) -> None:
    found = bench(tmp_path, {**FILES, "main.py": "import helper, pack\nprint(helper.double(1), pack.NAME)\n"}, STDIN)
    candidates = [
        {"helper.py": "def double(number):\n    return 1\n", "pack/part.py": "NAME = ''\n"},
        {"helper.py": "def double(number):\n    return [][number]\n"},
        {"pack/__init__.py": "from .part import NAMES\n"},
        {"pack/part.py": "NAME = 'new'\n", "main.py": "from pack import NAME\nprint(1)\nprint(2)\nprint(NAME)\n"},
        {"helper.py": "def double(number):\n    raise SystemExit(number)\n"},
    ]
    _, warm = both(found, candidates)
    assert (warm.note, warm.warm, warm.plain) == ("", 5, 0)


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("{python}", "-m", "pack"), "import sys\nprint(1, sys.argv[1:], __name__, __package__)\n"),
        (("{python}", "-m", "pack", "-x"), "import sys\nprint(1, sys.argv[1:])\n1 / 0\n"),
        (("{python}", "-O", "pack/__main__.py"), "assert False\nprint(1, __debug__, __package__)\n"),
        (("{python}", "-c", "import pack.__main__"), "print(1, __name__)\n"),
        (("sh", "-c", "python pack/__main__.py a"), "import sys\nprint(1, sys.argv[1])\nsys.exit(3)\n"),
    ],
)
def test_other_commands(tmp_path: Path, argv: tuple[str, ...], text: str) -> None:
    kind: CheckKind = "command" if argv[0] == "sh" else "output"
    check = Check(
        kind=kind, argv=argv, expected_file="expected.txt", protected=("expected.txt",), source="", timeout_s=10.0
    )
    found = bench(tmp_path, {"pack/__init__.py": "", "pack/__main__.py": "1 / 0\n", "expected.txt": "1\n2\n"}, check)
    _, warm = both(found, [{"pack/__main__.py": text}, {"pack/__init__.py": "print(1)\n"}])
    assert (warm.note, warm.warm, warm.plain) == ("", 2, 0)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"print(1)\r\nprint('\xc3\xa4')\r\n", "print(1)\nprint('ö')\n"),
        (b"\xef\xbb\xbfprint(1)\nprint('\xc3\xa4')\n", "print(1)\nprint('ö', 1 / 0)\n"),
        (b"# coding: latin-1\nprint(1)\nprint('\xe4')\n", "# coding: latin-1\nprint(1)\nprint('ö')\n"),
        (b"# coding: latin-1\rprint('\xe4')\r", "# coding: latin-1\nprint(1)\nraise ValueError('ö')\n"),
    ],
    ids=["CRLF", "BOM", "latin-1", "CR"],
)
def test_encodings_and_line_ends(tmp_path: Path, source: bytes, text: str) -> None:
    found = bench(tmp_path, {"main.py": source, "expected.txt": "1\n2\n"}, OUTPUT)
    _, warm = both(found, [{"main.py": text}])
    assert (warm.note, warm.warm, warm.plain) == ("", 1, 0)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("open('out.txt', 'w').write('x')\n", "it writes out.txt"),
        ("import os\nos.system('true')\n", "it leaves its process (os.system)"),
        ("import random\nprint(random.random())\n", "it behaves in another way there"),
        ("class A:\n    def __del__(self): print(1)\na = A()\n", "main.py has a __del__ method"),
    ],
)
def test_a_program_that_forbids_the_warm_way_is_judged_in_plain_processes(tmp_path: Path, text: str, note: str) -> None:
    found = bench(tmp_path, {"main.py": text, "expected.txt": "1\n2\n"}, OUTPUT)
    with Judge(found.checker, found.check, found.before, workers=2) as judge:
        found_now = [verdict.progress for verdict in judge.judge_apart([{"main.py": f"print({n})\n"} for n in (1, 2)])]
    assert (judge.note, judge.warm, judge.plain, found_now) == (note, 0, 3, [0.5, 0.0])


def test_what_the_program_does_not_load_forbids_nothing(tmp_path: Path) -> None:
    other = "class A:\n    def __del__(self): print(1)\n"
    found = bench(tmp_path, {"main.py": "print(1)\n", "other.py": other, "expected.txt": "1\n2\n"}, OUTPUT)
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        assert judge.judge({"main.py": "print(1)\nprint(2)\n"}).passed
    assert (judge.note, judge.warm, judge.plain) == ("", 1, 0)


def test_variables_that_a_command_sets_are_set_in_a_worker(tmp_path: Path) -> None:
    check = Check(kind="command", argv=("sh", "-c", "A=7 PYTHONPATH=lib python main.py"), source="--check")
    files = {
        "main.py": "import os, part\nassert os.environ['A'] == part.A, part.B\n",
        "lib/part.py": "A = '8'; B = 3\n",
    }
    found = bench(tmp_path, files, check)
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        assert judge.judge({"lib/part.py": "A = '7'\n"}).passed
    assert (judge.note, judge.warm, judge.plain) == ("", 1, 0)


def test_a_worker_that_is_distrusted_is_not_asked_again(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n2\n"}, OUTPUT)
    told = "import sys\nprint(1)\nprint(2 if '_repair_worker.fork' in sys.modules else 3)\n"
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        assert [judge.judge({"main.py": told}).status, judge.warm, judge.plain] == ["passed", 1, 0]
        judge.distrust("it was wrong")
        statuses = [verdict.status for verdict in judge.judge_apart([{"main.py": told}, {"main.py": told + "#"}])]
    assert (statuses, judge.note, judge.warm, judge.plain) == (["failed", "failed"], "it was wrong", 1, 2)


def test_a_worker_may_be_started_before_it_is_needed(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n2\n"}, OUTPUT)
    for workers, judged in ((0, (0, 2)), (1, (1, 0)), (3, (1, 0))):
        with Judge(found.checker, found.check, found.before, workers=workers) as judge:
            judge.prepare()
            judge.prepare()
            assert judge.judge({"main.py": "print(2)\n"}).progress == 0.0
            assert (judge.warm, judge.plain) == judged
    with Judge(found.checker, found.check, found.before, workers=1) as unused:
        unused.prepare()
    assert sorted(found.contents()) == ["expected.txt", "main.py"]


@pytest.mark.parametrize("text", ["print(1)\nwhile True: pass\n", "print(1)\nimport time\ntime.sleep(60)\n"])
def test_a_program_that_runs_out_of_time_shows_how_far_it_came(tmp_path: Path, text: str) -> None:
    found = bench(tmp_path, {"main.py": "print(3)\n", "expected.txt": "1\n2\n"}, OUTPUT)
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        verdict = judge.judge({"main.py": text})
    assert (verdict.timed_out, verdict.progress, judge.warm) == (True, 0.5, 1)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_order_does_not_depend_on_the_number_of_workers(tmp_path: Path, workers: int) -> None:
    found = bench(tmp_path, {"main.py": "print(0)\n", "expected.txt": "1\n2\n3\n"}, OUTPUT)
    slow = "import time\nprint(1)\nprint(2)\ntime.sleep(0.1)\n"
    fast = "print(1)\nprint(9)\n"
    writes = "print(1)\nprint(2)\nopen('out.txt', 'w')\n"
    texts = [slow, fast, fast, writes, slow, fast, "1 / 0\n"] * 3
    with Judge(found.checker, found.check, found.before, workers=workers) as judge:
        verdicts = list(judge.judge_apart([{"main.py": text} for text in texts]))
    assert [round(each.progress, 2) for each in verdicts] == [0.67, 0.33, 0.33, 0.67, 0.67, 0.33, 0.0] * 3
    assert (judge.note, judge.warm, judge.plain) == ("", 18, 3)


def test_a_search_may_stop_in_the_middle_of_a_batch(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": "print(0)\n", "expected.txt": "1\n2\n"}, OUTPUT)
    with Judge(found.checker, found.check, found.before, workers=2) as judge:
        batch = judge.judge_apart([{"main.py": f"print({n})\n"} for n in range(20)])
        assert [next(batch).progress, next(batch).progress] == [0.0, 0.5]
        del batch
        assert judge.judge({"main.py": "print(1)\n"}).progress == 0.5
    assert sorted(found.contents()) == ["expected.txt", "main.py"]


def test_what_is_interrupted_as_it_is_asked_says_so(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": "print(0)\n", "expected.txt": "1\n"}, OUTPUT)
    cancel = CancelToken()
    launcher = Launcher({"PATH": os.environ["PATH"]}, cancel=cancel)
    checker = Checker(
        found.workspace,
        VerificationSettings(),
        CheckPrograms(found.workspace, launcher, python=plain_python.executable()),
    )
    checker.guard(OUTPUT)
    with Judge(checker, found.check, found.before, workers=1) as judge:
        assert judge.judge({"main.py": "print(2)\n"}).status == "failed"
        cancel.cancel()
        with pytest.raises(Interrupted):
            judge.judge({"main.py": "print(3)\n"})


@pytest.mark.parametrize("looks", [0, 1, 2, 3])
def test_a_worker_that_is_asked_when_the_time_is_up_leaves_nothing(tmp_path: Path, looks: int) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    found = bench(tmp_path / "work", {"main.py": "print(0)\n", "expected.txt": "1\n"}, OUTPUT)
    left = iter([60.0] * looks)
    until = Until(CancelToken(), lambda: next(left, 0.0))
    launcher = Launcher({"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "temporary")}, cancel=until)
    checker = Checker(
        found.workspace,
        VerificationSettings(),
        CheckPrograms(found.workspace, launcher, python=plain_python.executable()),
    )
    checker.guard(OUTPUT)
    with pytest.raises(LimitReached), Judge(checker, found.check, found.before, workers=2) as judge:
        judge.judge({"main.py": "print(2)\n"})
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_candidate_that_cannot_be_written_is_refused_as_before(tmp_path: Path) -> None:
    found = bench(tmp_path, {"main.py": b"# coding: ascii\nprint(1)\n", "expected.txt": "2\n"}, OUTPUT)
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        with pytest.raises(Exception, match="ascii"):
            judge.judge({"main.py": "# coding: ascii\nprint('ä')\n"})
        assert judge.judge({"main.py": "# coding: ascii\nprint(3)\n"}).status == "failed"
