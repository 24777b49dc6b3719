"""A program that a request gives so many seconds: it is run, and what it does meanwhile has to stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.checks.suites.time_limit import printed_within, time_limit
from codur.workspace.workspace import Workspace
from tests.cli.test_linter_checks import ran
from tests.runs.kit import contents, fill
from tests.support.groq_server import ServerReply, calls

SLOW = "import time\n\n\ndef total(numbers):\n    time.sleep(5)\n    return sum(numbers)\n"
QUICK = "def total(numbers):\n    return sum(numbers)\n"
BENCH = "from calc import total\n\nprint(total([1, 2, 3]))\n"
TESTS = (
    "from calc import total\n\n\ndef test_total(monkeypatch):\n    monkeypatch.setattr('time.sleep', print)\n"
    "    assert total([1, 2]) == 3\n"
)


def replaced(old: str, new: str) -> ServerReply:
    return calls(("replace_in_file", {"path": "calc.py", "old": old, "new": new}))


WAITS = "    time.sleep(5)\n    return sum(numbers)"


def test_it_is_measured_and_the_tests_must_still_pass(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS})
    wrong, right = replaced(WAITS, "    return 6"), replaced("    return 6", "    return sum(numbers)")
    result, code, asked = ran(project, home, [wrong, right], "python bench.py takes 5 s, get it under 3 s")
    assert (code, asked, result["outcome"]) == (0, 2, "done")
    assert result["verdict"]["check"] == "python bench.py && python -m pytest"
    assert "3 s are allowed" in result["verdict"]["note"]
    assert "time.sleep" not in contents(project)["calc.py"]


def test_what_is_still_too_slow_is_not_done_and_its_measure_is_left_alone(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS})
    measure = calls(("replace_in_file", {"path": "bench.py", "old": "print(total([1, 2, 3]))", "new": "print(6)"}))
    slower = replaced("sleep(5)", "sleep(4.5)")
    words = ("python bench.py takes 5 s, get it under 3 s", "--max-iterations", "2")
    result, code, _ = ran(project, home, [measure, slower], *words)
    assert code == 4
    assert "3 s are allowed" in result["verdict"]["error"]
    assert contents(project) == {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS}


def test_without_tests_the_output_has_to_stay_the_same(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "report.py": BENCH})
    wrong, right = replaced(WAITS, "    return 7"), replaced(WAITS, "    return sum(numbers)")
    result, code, asked = ran(project, home, [wrong, right], "report.py is slow, make it run in less than 3 seconds")
    assert (code, asked, result["outcome"]) == (0, 2, "done")


def test_a_program_that_does_not_run_by_itself_measures_nothing(project: Path, home: Path) -> None:
    fill(
        project,
        {"calc.py": QUICK, "bench.py": "import sys\n\nsys.exit('usage: bench.py FILE')\n", "test_calc.py": TESTS},
    )
    result, code, _ = ran(project, home, [], "python bench.py takes 5 s, get it under 3 s", "--offline")
    assert (code, result["verdict"]["check"]) == (3, "python -m pytest")


@pytest.mark.parametrize(
    ("prompt", "argv", "within_s", "measure"),
    [
        ("python bench.py takes 7 s, get it under 1 s", ("{python}", "bench.py"), 1, "bench.py"),
        (
            "make `python main.py data.csv -n 3` run in less than 500 ms",
            ("{python}", "main.py", "data.csv", "-n", "3"),
            0.5,
            "",
        ),
        ("main.py has to finish within a minute", ("{python}", "main.py"), 60, ""),
        ("node bench.js is slow: at most half a second", ("node", "bench.js"), 0.5, "bench.js"),
    ],
)
def test_which_time(prompt: str, argv: tuple[str, ...], within_s: float, measure: str, project: Path) -> None:
    found = time_limit(filled(project), prompt)
    assert found is not None
    assert (found.argv, found.within_s, found.measure) == (argv, within_s, measure)


@pytest.mark.parametrize(
    "prompt",
    [
        "python bench.py is slow, make it faster",
        "retries in main.py should take less than 5 s",
        "lib.py should run under 1 s",
        "absent.py should run under 1 s",
        "main.py and bench.py should run under 1 s",
        "main.py takes less than 5 s, get it under 2 s",
    ],
)
def test_no_time_of_a_program(prompt: str, project: Path) -> None:
    assert time_limit(filled(project), prompt) is None


def filled(project: Path) -> Workspace:
    script = "print(1)\n"
    fill(project, {"bench.py": script, "main.py": script, "bench.js": "", "data.csv": "", "lib.py": "A = 1\n"})
    return Workspace.open(project)


@pytest.mark.parametrize(
    ("output", "within"),
    [("3 words\ntook 0.15 s", True), ("0.4", True), ("0.15 s\n1.2 s", False), ("total: none", False)],
)
def test_the_times_that_a_program_prints_of_itself(output: str, within: bool) -> None:
    assert printed_within(output, 1.0) is within
