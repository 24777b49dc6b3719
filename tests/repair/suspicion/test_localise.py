"""Where a search looks first: tracebacks, executed lines, tests that fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from codur.repair.evidence.failing_lines import Failure, Raised, read_failure
from codur.repair.evidence.tracing import Coverage, TestLines, python_arguments, run_traced
from codur.repair.suspicion.localise import localise, moved
from codur.repair.suspicion.mentions import named_lines, named_tables, names_in_tests
from codur.structs import replace
from codur.types import Check, Verdict
from tests.repair.support import OUTPUT, QUICK_PYTEST, TESTS, bench

ROOT = Path("/work")
TRACER = Path(__file__).parents[3] / "codur" / "repair" / "evidence" / "trace_program.py"

TRACEBACK = """Traceback (most recent call last):
  File "/work/main.py", line 9, in <module>
    main()
  File "/work/lib/parts.py", line 3, in main
    json.loads("")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""
SHORT_REPORT = """test_main::test_mean
test_main.py:5: in test_mean
    assert mean([]) == 0
main.py:2: in mean
    return sum(a) / len(a)
           ^^^^^^^^^^^^^^^
E   ZeroDivisionError: division by zero
"""
LONG_REPORT = """    def mean(a):
>       return sum(a) / len(a)
E       ZeroDivisionError: division by zero

main.py:2: ZeroDivisionError
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (
            TRACEBACK,
            (
                Raised(
                    kind="JSONDecodeError",
                    message="Expecting value: line 1 column 1 (char 0)",
                    frames=(("main.py", 9), ("lib/parts.py", 3)),
                ),
            ),
        ),
        (
            TRACEBACK.replace("/work/", "/elsewhere/"),
            (Raised(kind="JSONDecodeError", message="Expecting value: line 1 column 1 (char 0)"),),
        ),
        (
            SHORT_REPORT,
            (
                Raised(
                    kind="ZeroDivisionError", message="division by zero", frames=(("test_main.py", 5), ("main.py", 2))
                ),
            ),
        ),
        (LONG_REPORT, (Raised(kind="ZeroDivisionError", message="division by zero", frames=(("main.py", 2),)),)),
    ],
)
def test_exceptions_are_read_from_the_error_text(text: str, expected: tuple[Raised, ...]) -> None:
    assert read_failure(Verdict(status="failed", error=text), ROOT) == Failure(raised=expected)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("{python}", "main.py", "-v"), ("main.py", "-v")),
        (("{python}", "-u", "-m", "pytest", "tests"), ("-m", "pytest", "tests")),
        (("/usr/bin/python3.12", "-c", "print(1)"), ("-c", "print(1)")),
        (("pytest", "-x"), ("-m", "pytest", "-x")),
        (("{python}", "-W", "error", "main.py"), ()),
        (("make", "test"), ()),
        ((), ()),
    ],
)
def test_which_commands_can_be_traced(argv: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert python_arguments(argv) == expected


PROGRAM = """
import sys
from part import twice

def unused():
    return 1

print(twice(2))
sys.exit(3)
"""


def test_a_program_is_traced(tmp_path: Path) -> None:
    files = {"main.py": PROGRAM, "part.py": "def twice(a):\n    return a + a\n", "expected.txt": "5\n"}
    prepared = bench(tmp_path, files)
    contents = prepared.contents()
    found = run_traced(prepared.checker, OUTPUT, prepared.before)
    lines = {("main.py", line) for line in (2, 3, 5, 8, 9)} | {("part.py", 1), ("part.py", 2)}
    assert found is not None
    assert replace(found, values={}) == Coverage(lines=frozenset(lines), printed=((1, ("main.py", 8)),))
    assert found.values["part.py", 2] == ({"a": "2"},)
    assert found is not None
    assert found.paths == {"main.py", "part.py"}
    assert prepared.contents() == contents


def test_a_program_that_does_not_end_shows_where_it_was(tmp_path: Path) -> None:
    prepared = bench(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n"})
    (tmp_path / "main.py").write_text("def f():\n    while True:\n        pass\n\nf()\n")
    found = run_traced(prepared.checker, OUTPUT, prepared.before)
    assert found is not None
    assert found.stack[0] == ("main.py", 5)
    assert found.stack[1] in {("main.py", 2), ("main.py", 3)}
    assert found.hot == {("main.py", 2), ("main.py", 3)}
    suspicion = localise(found, Failure())
    assert [suspicion.of("main.py", line, line) for line in (1, 2, 3, 5)] == [0.2, 0.8, 0.8, 0.8]


def test_tests_are_traced_one_by_one(tmp_path: Path) -> None:
    tests = "from main import f\n\ndef test_low():\n    assert f(1) == 1\n\ndef test_high():\n    assert f(9) == 9\n"
    files = {
        "main.py": "def f(a):\n    if a > 5:\n        return 5\n    return a\n",
        "test_main.py": tests,
        "pytest.ini": QUICK_PYTEST,
    }
    prepared = bench(tmp_path, files, TESTS)
    found = run_traced(prepared.checker, TESTS, prepared.before)
    assert found is not None
    shown = {
        name: (test.failed, sorted(line for path, line in test.lines if path == "main.py"))
        for name, test in found.tests.items()
    }
    assert shown == {"test_main.py::test_low": (False, [2, 4]), "test_main.py::test_high": (True, [2, 3])}


def test_to_load_the_tests_takes_none_of_their_time(tmp_path: Path) -> None:
    files = {
        "main.py": "def f(a):\n    return a\n",
        "conftest.py": "import time\ntime.sleep(1.5)\n",
        "test_main.py": "from main import f\n\ndef test_bad():\n    assert f(1) == 2\n",
        "pytest.ini": QUICK_PYTEST,
    }
    prepared = bench(tmp_path, files, TESTS)
    # As if the machine had become slow since then: a trace may take a second.
    found = run_traced(prepared.checker, TESTS, replace(prepared.before, duration_s=0.01))
    assert found is not None
    assert found.tests["test_main.py::test_bad"].lines == {("main.py", 2), ("test_main.py", 4)}


def test_what_a_test_loads_first_does_not_count_as_its_own(tmp_path: Path) -> None:
    files = {
        "main.py": "class Box:\n    side = 1\n\n\ndef f(a):\n    return a\n",
        "test_main.py": "def test_bad():\n    from main import f\n    assert f(1) == 2\n",
        "pytest.ini": QUICK_PYTEST,
    }
    prepared = bench(tmp_path, files, TESTS)
    found = run_traced(prepared.checker, TESTS, prepared.before)
    assert found is not None
    assert {("main.py", line) for line in (1, 2, 5)} <= found.lines
    assert [line for test in found.tests.values() for line in test.lines if line[0] == "main.py"] == [("main.py", 6)]


def test_the_report_of_a_test_that_takes_too_long_is_not_cut_off(tmp_path: Path) -> None:
    tests = "from main import f\n\ndef test_low():\n    assert f(1) == 1\n\ndef test_bad():\n    assert f(0) == 1\n"
    files = {
        "main.py": "def f(a):\n    while a == 1:\n        pass\n    return a\n",
        "conftest.py": "import time\ndef pytest_exception_interact():\n    time.sleep(1.2)\n",
        "test_main.py": tests,
        "pytest.ini": QUICK_PYTEST,
    }
    failing = ("test_main.py::test_low", "test_main.py::test_bad")
    prepared = bench(tmp_path, files, replace(TESTS, timeout_s=5.0))
    check = replace(TESTS, tests=failing)
    found = run_traced(prepared.checker, check, replace(prepared.before, failing=failing), most_s=3.0)
    assert found is not None
    assert {name: test.failed for name, test in found.tests.items()} == dict.fromkeys(failing, True)


RUNNER = """\
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
tests = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
"""
CASES = """\
import unittest
from shop import f

class Cases(unittest.TestCase):
    def test_low(self):
        self.assertEqual(f(1), 1)

    def test_high(self):
        for number in (7, 9):
            with self.subTest(number=number):
                self.assertEqual(f(number), number)
"""
OWN = {
    "shop.py": "def f(a):\n    if a > 8:\n        return 8\n    return a\n\ndef g(a=False):\n    return a\n",
    "tests/cases.py": CASES,
    "tests/run.py": RUNNER,
}


@pytest.mark.parametrize("line", ["python tests/run.py tests.cases", "A=1 python tests/run.py tests.cases"])
def test_tests_of_a_runner_of_its_own_are_traced_one_by_one(tmp_path: Path, line: str) -> None:
    check = Check(kind="command", argv=("sh", "-c", line), source="--check")
    prepared = bench(tmp_path, OWN, check)
    found = run_traced(prepared.checker, check, prepared.before, most_s=9.0)
    assert found is not None
    shown = {
        name: (test.failed, sorted(line for path, line in test.lines if path == "shop.py"))
        for name, test in found.tests.items()
    }
    assert shown == {
        "tests.cases.Cases.test_low": (False, [2, 4]),
        "tests.cases.Cases.test_high": (True, [2, 3, 4]),
    }
    assert {("shop.py", 1), ("shop.py", 6)} <= found.lines


def test_a_program_that_fails_in_another_process_is_not_known_by_its_own_lines(tmp_path: Path) -> None:
    files = {
        "main.py": "assert 1 == 2\n",
        "check.py": "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, 'main.py']).returncode)\n",
    }
    check = Check(kind="command", argv=("sh", "-c", "python check.py"), source="--check")
    prepared = bench(tmp_path, files, check)
    assert run_traced(prepared.checker, check, prepared.before) is None


def test_a_command_that_is_no_python_program_is_not_traced(tmp_path: Path) -> None:
    prepared = bench(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n"})
    check = Check(kind="command", argv=("true",), source="given")
    assert run_traced(prepared.checker, check, prepared.before) is None


def line(number: int) -> tuple[str, int]:
    return ("main.py", number)


def test_lines_of_failing_tests_are_the_most_suspicious() -> None:
    coverage = Coverage(
        lines=frozenset({line(1)}),
        tests={
            "a": TestLines(failed=True, lines=frozenset({line(2), line(3)})),
            "b": TestLines(failed=False, lines=frozenset({line(2), line(4)})),
        },
    )
    suspicion = localise(coverage, Failure())
    assert [round(suspicion.of("main.py", number, number), 2) for number in range(1, 6)] == [0.3, 0.71, 1.0, 0.04, 0.04]
    assert suspicion.of("main.py", 1, 3) == 1.0


def test_a_fault_that_one_file_of_failing_tests_finds_is_not_outdone_by_others() -> None:
    both = ("a.py", 1)
    fails = {"t/test_b.py::one": 5, "t/test_b.py::two": 5, "t/test_a.py::three": 9}
    tests = {name: TestLines(failed=True, lines=frozenset({both, ("a.py", line)})) for name, line in fails.items()}
    scores = localise(Coverage(tests=tests), Failure()).scores
    assert scores[both] > scores["a.py", 9] >= scores["a.py", 5]


def test_executed_lines_of_functions_that_the_task_names_weigh_more() -> None:
    text = "def area(a):\n    return a\n\n\nclass Box:\n    def side(self):\n        return 1\n\n\nprint(area(2))\n"
    named = named_lines({"main.py": text, "broken.py": "def area(:\n"}, "why is area(2) wrong, not the Area of a box?")
    assert named == {line(1), line(2)}
    assert named_lines({"main.py": text}, "Box: a side is too long") == {line(number) for number in (5, 6, 7)}
    coverage = Coverage(lines=frozenset({line(1), line(2), line(10)}))
    suspicion = localise(coverage, Failure(), likelier=dict.fromkeys([*named, line(7)], 1.3))
    assert [suspicion.of("main.py", number, number) for number in (2, 10, 7)] == [0.65, 0.5, 0.04]
    assert not suspicion.ran("main.py", 7, 7)
    assert localise(None, Failure(), likelier=dict.fromkeys(named, 1.3)).of("main.py", 2, 2) == 0.65


def test_tables_that_named_functions_read_count_as_named(tmp_path: Path) -> None:
    text = (
        "from re import compile\n"
        "UNITS = {\n    'km': 1,\n}\n"
        "OTHER = {}\n"
        "class Box:\n    SIZE: int = 1\n    def half(self):\n        local = self.SIZE\n        return local\n"
        "def convert(a):\n    return UNITS[a]\n"
        "def unused():\n    return OTHER\n"
    )
    texts = {"main.py": text, "broken.py": "UNITS = (\n"}
    assert named_tables(texts, "convert") == {line(2), line(3), line(4)}
    assert named_tables(texts, "OTHER Box") == {line(5), line(7)}
    assert named_tables(texts, "") == frozenset()


@pytest.mark.parametrize("name", ["first", "second"])
def test_of_equal_repairs_the_one_in_the_function_that_the_task_names_is_taken(name: str, tmp_path: Path) -> None:
    text = "def first(a):\n    return a + 1\n\n\ndef second(b):\n    return b + 1\n\n\nprint(first(2) + second(3))\n"
    prepared = bench(tmp_path, {"main.py": text, "expected.txt": "8\n"})
    found = prepared.search(task=f"{name} gives a wrong number", max_order=1)
    assert f"`{name}`" in found.repairs[0].patch.explanation


def test_without_coverage_tracebacks_decide() -> None:
    failure = Failure(raised=(Raised(kind="IndexError", frames=(line(9), line(3))),))
    suspicion = localise(None, failure)
    assert [suspicion.of("main.py", number, number) for number in (3, 9, 5)] == [1.0, 0.7, 0.5]


def test_a_test_that_was_stopped_shows_what_was_running() -> None:
    stopped = "E   Failed: it did not end within 18 s; stopped here"
    report = SHORT_REPORT.replace("E   ZeroDivisionError: division by zero", stopped)
    found = localise(None, read_failure(Verdict(status="failed", error=report), ROOT))
    assert found.running == {("test_main.py", 5), ("main.py", 2)}
    waits = f"{report}E   bank.py:5: in transfer waits, too\n____ test_b ____\n{SHORT_REPORT}"
    later = read_failure(Verdict(status="failed", error=waits), ROOT).of("ZeroDivisionError")
    assert [each.frames for each in later] == [(("test_main.py", 5), ("main.py", 2))]
    other = report.replace("it did not end", "no reason given")
    assert not localise(None, read_failure(Verdict(status="failed", error=other), ROOT)).running


def test_coverage_moves_with_inserted_lines() -> None:
    coverage = Coverage(lines=frozenset({line(1), line(2), line(3)}))
    found = moved(coverage, {"main.py": "a\nb\nc\n"}, {"main.py": "a\nnew\nnew\nb\nc\n"})
    assert found == Coverage(lines=frozenset({line(1), line(4), line(5)}))


def newer_pythons() -> list[str]:
    """Interpreters with `sys.monitoring` that are installed here; no version manager's scripts."""
    places = [*os.get_exec_path(), *map(str, Path.home().glob(".pyenv/versions/3.1[2-9]*/bin"))]
    real = os.pathsep.join(place for place in places if "shims" not in place)
    found = (shutil.which(name, path=real) for name in ("python3.12", "python3.13", "python3.14"))
    return [path for path in found if path is not None]


def test_the_tracer_tells_the_same_with_and_without_monitoring(tmp_path: Path) -> None:
    if sys.version_info < (3, 12) and not newer_pythons():
        pytest.skip("no Python with sys.monitoring is installed here")
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "part.py").write_text("def twice(a):\n    return a + a\n")
    told = []
    for python in [sys.executable, *newer_pythons()]:
        out = tmp_path / "out.json"
        limits = json.dumps({"seconds": 5, "failing": [], "in_order": False, "counted": False})
        words = [python, str(TRACER), str(out), str(tmp_path), limits, "main.py"]
        subprocess.run(words, cwd=tmp_path, check=False, capture_output=True)
        told.append(json.loads(out.read_text()))
    assert ["part.py", 2] in told[0]["lines"]
    assert all(each == told[0] for each in told)


def test_a_failing_test_names_what_it_uses_under_its_own_name() -> None:
    text = dedent(
        """
        from shop import area as size, total
        import shop

        def made(side):
            return shop.Box(side)

        def test_size():
            assert size(made(2)) == 4

        class TestTotal:
            def test_total(self):
                assert total(1) == 1
        """
    )
    tests = {"tests/test_shop.py": text, "broken.py": "def test_x(:\n"}
    names = names_in_tests(tests, ["tests/test_shop.py::test_size[2]", "broken.py::test_x", "gone.py::test_y", "x"])
    assert {"area", "shop", "Box"} <= set(names.split())
    assert "total" not in names
    assert "total" in names_in_tests(tests, ["tests/test_shop.py::TestTotal::test_total"]).split()
    assert named_lines({"shop.py": "def area(box):\n    return 4\n"}, names) == {("shop.py", 1), ("shop.py", 2)}
