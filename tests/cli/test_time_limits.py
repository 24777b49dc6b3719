"""A program that a request gives so many seconds: it is run in copies, and what it does meanwhile stays the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codur.checks.suites.time_limit import time_limit
from codur.workspace.workspace import Workspace
from tests.cli.test_linter_checks import ran
from tests.runs.kit import contents, fill
from tests.support.groq_server import ServerReply, calls

SLOW = "import time\n\n\ndef total(numbers):\n    time.sleep(4)\n    return sum(numbers)\n"
WAITS = "    time.sleep(4)\n    return sum(numbers)"
BENCH = "import time\n\nfrom calc import total\n\nbegin = time.time()\ntotal([1, 2])\nprint(time.time() - begin)\n"
REPORT = (
    "import os\n\nfrom calc import total\n\nos.remove('old.txt')\nopen('out.txt', 'w').write('6')\n"
    "print('the total is', total([1, 2, 3]))\nprint('errors: 0')\n"
)
TESTS = (
    "from calc import total\n\n\ndef test_total(monkeypatch):\n    monkeypatch.setattr('time.sleep', print)\n"
    "    assert total([1, 2]) == 3\n"
)
RED = (
    f"{TESTS}\n\ndef test_none(monkeypatch):\n    monkeypatch.setattr('time.sleep', print)\n    assert total([]) == 1\n"
)
IN_JS = "const end = Date.now() + 4000;\nwhile (Date.now() < end);\nconsole.log('the sum is', 3);\n"
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def replaced(old: str, new: str, path: str = "calc.py") -> ServerReply:
    return calls(("replace_in_file", {"path": path, "old": old, "new": new}))


def test_it_is_measured_and_the_tests_must_still_pass(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS})
    wrong, right = replaced(WAITS, "    return 6"), replaced("    return 6", "    return sum(numbers)")
    result, code, asked = ran(project, home, [wrong, right], "python bench.py takes 4 s, get it under 2.5 s")
    assert (code, asked, result["outcome"]) == (0, 2, "done")
    assert result["verdict"]["check"] == "python bench.py && python -m pytest"
    assert "2.5 s are allowed" in result["verdict"]["note"]
    assert "time.sleep" not in contents(project)["calc.py"]


def test_what_is_still_too_slow_is_not_done_and_its_measure_is_left_alone(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS})
    measure = replaced("total([1, 2])", "print('0.1 s')", "bench.py")
    slower = replaced("sleep(4)", "sleep(3.5)")
    words = ("python bench.py takes 4 s, get it under 2.5 s", "--max-iterations", "2")
    result, code, _ = ran(project, home, [measure, slower], *words)
    assert code == 4
    assert "2.5 s are allowed" in result["verdict"]["error"]
    assert contents(project) == {"calc.py": SLOW, "bench.py": BENCH, "test_calc.py": TESTS}


def test_a_test_that_is_to_be_mended_as_well_is_not_excused_by_the_time(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "report.py": REPORT, "old.txt": "", "test_calc.py": RED})
    words = ("Fix the failing test of total and get report.py under 2.5 s", "--max-iterations", "1")
    result, code, _ = ran(project, home, [replaced(WAITS, "    return sum(numbers)")], *words)
    assert (code, result["verdict"]["tests_passed"]) == (4, 1)


@pytest.mark.parametrize(
    ("files", "wrong", "right", "prompt"),
    [
        (
            {"calc.py": SLOW, "report.py": REPORT, "old.txt": "precious"},
            replaced(WAITS, "    return 7"),
            replaced(WAITS, "    return sum(numbers)"),
            "report.py is slow, make it run in less than 2.5 seconds",
        ),
        (
            {"calc.py": SLOW, "report.py": REPORT, "old.txt": "precious"},
            replaced("print('the total is', total([1, 2, 3]))", "print('the total is 6')", "report.py"),
            replaced(WAITS, "    return sum(numbers)"),
            "report.py takes 4 s, get it under 2.5 s",
        ),
        (
            {"calc.py": SLOW, "trip.py": "from calc import total\n\nprint('travel time:', total([30, 65]), 'min')\n"},
            replaced(WAITS, "    return max(numbers)"),
            replaced(WAITS, "    return sum(numbers)"),
            "Hi! The script trip.py takes 4 s, get it under 2.5 s",
        ),
        pytest.param(
            {"app.js": IN_JS},
            calls(("replace_file_content", {"path": "app.js", "content": ""})),
            replaced("while (Date.now() < end);\n", "", "app.js"),
            "node app.js is slow, get it under 2.5 s",
            marks=NODE,
        ),
    ],
)
def test_without_tests_the_output_has_to_stay_the_same_and_nothing_is_run_in_place(
    files: dict[str, str], wrong: ServerReply, right: ServerReply, prompt: str, project: Path, home: Path
) -> None:
    fill(project, files)
    result, code, asked = ran(project, home, [wrong, right], prompt)
    assert (code, asked, result["outcome"]) == (0, 2, "done")
    assert "2.5 s are allowed" in result["verdict"]["note"]
    assert contents(project).keys() == files.keys()


def test_where_each_run_prints_something_else_it_still_has_to_print_and_that_is_not_compared(
    project: Path, home: Path
) -> None:
    lines = "for _ in range(random.randint(2, 9)):\n    print('draw', random.random())\n"
    draws = f"import random\n\nfrom calc import total\n\n{lines}print('sum', total([1, 2]))\n"
    fill(project, {"calc.py": SLOW, "draws.py": draws, "test_calc.py": TESTS})
    empty = calls(("replace_file_content", {"path": "draws.py", "content": "pass\n"}))
    right = replaced(WAITS, "    return sum(numbers)")
    result, code, asked = ran(project, home, [empty, right], "python draws.py takes 4 s, get it under 2.5 s")
    assert (code, asked, contents(project)["draws.py"]) == (0, 2, draws)
    assert "what it prints is not compared" in result["verdict"]["note"]


def test_what_else_is_asked_for_may_change_the_output(project: Path, home: Path) -> None:
    fill(project, {"calc.py": SLOW, "report.py": REPORT, "old.txt": ""})
    edits = calls(
        ("replace_in_file", {"path": "calc.py", "old": "    time.sleep(4)\n", "new": ""}),
        ("replace_in_file", {"path": "report.py", "old": "the total is", "new": "total of all:"}),
    )
    prompt = "report.py is slow, get it under 2.5 s. Also print 'total of all:' in place of 'the total is'"
    result, code, _ = ran(project, home, [edits], prompt, "--agent", "codur-coding")
    assert (code, result["verdict"]["status"]) == (0, "no_check")
    assert "prints something else" in result["verdict"]["note"]


@pytest.mark.parametrize("words", [("--no-sandbox",), ("--offline",)])
def test_nothing_is_run_uncontained_or_that_acts_by_its_name(words: tuple[str, ...], project: Path, home: Path) -> None:
    outside = project.parent / "outside.txt"
    name = "report.py" if words == ("--no-sandbox",) else "migrate.py"
    fill(project, {name: f"import time\n\nopen({str(outside)!r}, 'w').write('run')\ntime.sleep(3)\n"})
    result, _, _ = ran(project, home, [], f"{name} is slow, make it run in less than 2 s", *words)
    assert not outside.exists()
    assert result["verdict"] is None or result["verdict"]["status"] == "no_check"


@pytest.mark.parametrize(
    "prompt", ["laps below 60 s get lost in main.py; fix it", "main.py must run within 60 s; fix the failing test"]
)
def test_a_time_that_is_none_of_the_run_or_is_kept_already_changes_nothing(
    prompt: str, project: Path, home: Path
) -> None:
    best = (
        "def best(laps):\n    return [lap for lap in laps if lap < 59]\n\n\nif __name__ == '__main__':\n    best([1])\n"
    )
    test = "import main\n\n\ndef test_best():\n    assert main.best([59, 60]) == [59]\n"
    fill(project, {"main.py": best, "test_main.py": f"{test}\n\ndef test_none():\n    assert main.best([61]) == []\n"})
    result, code, _ = ran(project, home, [], prompt, "--offline")
    assert (code, result["outcome"], result["verdict"]["check"]) == (0, "done", "python -m pytest")


def test_a_program_that_does_not_run_by_itself_measures_nothing(project: Path, home: Path) -> None:
    bench = "import sys\n\nsys.exit('usage: bench.py FILE')\n"
    fill(project, {"calc.py": SLOW, "bench.py": bench, "test_calc.py": TESTS})
    result, code, _ = ran(project, home, [], "python bench.py takes 5 s, get it under 3 s", "--offline")
    assert (code, result["verdict"]["check"]) == (3, "python -m pytest")


@pytest.mark.parametrize(
    ("prompt", "argv", "within_s", "alone"),
    [
        ("python bench.py takes 7 s, get it under 1 s", ("{python}", "bench.py"), 1, True),
        ("python bench.py takes too long. It should take less than 1 s.", ("{python}", "bench.py"), 1, True),
        ("My main.py takes 7 s, get it under 1 s", ("{python}", "main.py"), 1, True),
        ("Speed up main.py so that it runs in under 1 s", ("{python}", "main.py"), 1, True),
        ("main.py is slow. It takes 7 s and should take less than 1 s", ("{python}", "main.py"), 1, True),
        ("make main.py faster: it takes 7 s and must take less than 1 s", ("{python}", "main.py"), 1, True),
        ("main.py has to finish within a minute", ("{python}", "main.py"), 60, True),
        ("main.py --out x.txt -n 5 -m 5 is slow, get it under 1 s", "main.py --out x.txt -n 5 -m 5", 1, True),
        ("make `python main.py solve big -n 3` run in less than 500 ms", "main.py solve big -n 3", 0.5, True),
        ("node bench.js is slow: at most half a second", ("node", "bench.js"), 0.5, True),
        ("Fix the test of total and get main.py under 1 s", ("{python}", "main.py"), 1, False),
    ],
)
def test_which_time(prompt: str, argv: str | tuple[str, ...], within_s: float, alone: bool, project: Path) -> None:
    found = time_limit(filled(project), prompt)
    assert found is not None
    words = argv if isinstance(argv, tuple) else ("{python}", *argv.split())
    assert (found.argv, found.within_s, found.may_differ) == (words, within_s, not alone)
    assert found.protected == tuple(path for path in found.argv if "bench" in path)


@pytest.mark.parametrize(
    "prompt",
    [
        "python bench.py is slow, make it faster",
        "Retries in main.py should take less than 5 s",
        "Timeout in main.py: finish requests within 5 s",
        "In main.py, get all events within 5 minutes of each other into one group",
        "main.py should complete words within 1 second of the last key stroke",
        "main.py takes laps of at most 60 s for invalid; fix that",
        "Add a cache to main.py: get prices not more than 5 min old",
        "make main.py 10 times faster, below 1 s",
        "main.py takes 7 s, get it under 0 s",
        "python -O main.py takes 7 s, get it below 1 s",
        "lib.py should run under 1 s",
        "absent.py should run under 1 s",
        "migrate.py should run under 1 s",
        "main.py and bench.py should run under 1 s",
    ],
)
def test_no_time_of_a_program(prompt: str, project: Path) -> None:
    assert time_limit(filled(project), prompt) is None


def filled(project: Path) -> Workspace:
    scripts = dict.fromkeys(("bench.py", "main.py", "migrate.py"), "print(1)\n")
    fill(project, {**scripts, "bench.js": "", "lib.py": "A = 1\n"})
    return Workspace.open(project)
