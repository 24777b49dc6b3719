"""`codur solve` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import codur, codur_here
from tests.runs.kit import REPAIRABLE, contents, fill

BUG = {"main.py": "print(2)\n", "expected.txt": "1\n", "prompt.txt": "fix main.py\n"}
SOLVABLE = {**REPAIRABLE, "prompt.txt": "the report is wrong\n"}
OFF = {"CODUR_REPAIR__MODE": "off"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with two challenges, to run in."""
    fill(tmp_path / "given" / "bug", BUG)
    fill(tmp_path / "given" / "set" / "sum", SOLVABLE)
    (tmp_path / "home").mkdir()
    return tmp_path


def told(text: str) -> dict[str, Any]:
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def test_a_batch_from_start_to_end(place: Path) -> None:
    before = contents(place / "given")
    ran = codur("solve", "given", "--offline", cwd=place, home=place / "home")
    assert ran.code == 1, ran.err
    rows = [line.split() for line in ran.out.splitlines()[2:4]]
    assert [row[:2] for row in rows] == [["bug", "failed"], ["set/sum", "solved"]]
    assert ran.out.splitlines()[-1].startswith("1 of 2 solved")
    *lines, last = ran.err.splitlines()
    assert sorted(line.split("]")[0] for line in lines) == ["[ 1/2", "[ 2/2"]
    assert contents(place / "given") == before
    (results,) = (place / "codur-results").iterdir()
    assert last == f"results: codur-results/{results.name}/report.html"
    assert {path.name for path in results.iterdir()} >= {
        "results.jsonl",
        "predictions.jsonl",
        "patches",
        "report.html",
        "report.md",
    }
    assert [path.name[:9] for path in (results / "patches").iterdir()] == ["set--sum-"]
    words = ("solve", "given", "--offline", "--resume", "--json")
    again = codur(*words, cwd=place, home=place / "home")
    value = told(again.out)
    assert (again.code, again.err) == (1, "")
    assert (value["challenges"], value["challenges_solved"], value["ended"]) == (2, 1, "all")
    assert (value["attempts"], value["attempts_finished"], value["attempts_solved"]) == (2, 2, 1)
    assert value["results_directory"] == str(results)
    assert len((results / "results.jsonl").read_text().splitlines()) == 2


def test_going_on_with_other_options_is_told(place: Path) -> None:
    words = ("solve", "given/bug", "--offline", "--results", "out")
    assert codur_here(*words, cwd=place, home=place / "home", **OFF).code == 1
    again = codur_here(*words, "--resume", "--timeout", "99", cwd=place, home=place / "home", **OFF)
    first = "note: 1 earlier result belongs to other settings or options, such as --offline or --timeout"
    assert again.err.splitlines()[0] == f"{first}: this work is done again"
    assert [line[:6] for line in again.err.splitlines()[1:]] == ["[ 1/1]", "result"]
    same = codur_here(*words, "--resume", "--timeout", "99", cwd=place, home=place / "home", **OFF)
    assert [line[:6] for line in same.err.splitlines()] == ["result"]


def test_json_junit_and_quiet(place: Path) -> None:
    words = ("solve", "given/bug", "--offline", "--results", "out", "--junit", "junit.xml")
    ran = codur_here(*words, "--json", cwd=place, home=place / "home", **OFF)
    value = told(ran.out)
    (row,) = value["results"]
    assert (ran.code, value["exit_code"], row["name"], row["status"]) == (1, 1, "bug", "failed")
    assert (ran.err, value["model_calls"]) == ("", 0)
    assert str(place / "junit.xml") in value["reports"]
    assert "<testsuite" in (place / "junit.xml").read_text()
    quiet = codur_here("solve", "given/bug", "--offline", "-q", cwd=place, home=place / "home", **OFF)
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")


def test_list_shows_what_would_be_done_and_does_nothing(place: Path) -> None:
    ran = codur_here("solve", "given", "--list", "--filter", "set/*", cwd=place, home=place / "home")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].split() == ["set/sum", "to", "do", str(place / "given" / "set" / "sum")]
    assert ran.err == "1 challenge\n"
    ran = codur_here("solve", "given", "--list", "--attempts", "3", cwd=place, home=place / "home")
    assert ran.err == "6 attempts at 2 challenges\n"
    rows = json.loads(codur_here("solve", "given", "--list", "--json", cwd=place, home=place / "home").out)
    assert [row["name"] for row in rows] == ["bug", "set/sum"]
    assert not (place / "codur-results").exists()


def test_list_tells_what_is_done(place: Path) -> None:
    words = ("solve", "given", "--offline", "--results", "out")
    assert codur_here(*words, "--filter", "bug", cwd=place, home=place / "home", **OFF).code == 1

    def states(*more: str) -> list[str]:
        ran = codur_here(*words, "--list", *more, cwd=place, home=place / "home", **OFF)
        *_, bug, other = ran.out.splitlines()
        return [" ".join(line.split()[1:-1]) for line in (bug, other)] + ran.err.splitlines()

    assert states("--resume") == ["done: failed", "to do", "2 challenges, 1 done"]
    assert states("--rerun-failed") == ["to do", "to do", "2 challenges"]
    assert states() == ["to do", "to do", "2 challenges"]
    assert states("--resume", "--timeout", "99") == ["to do", "to do", "2 challenges"]
    rows = json.loads(codur_here(*words, "--list", "--resume", "--json", cwd=place, home=place / "home", **OFF).out)
    assert [(row["name"], row["done"], row["status"]) for row in rows] == [
        ("bug", True, "failed"),
        ("set/sum", False, ""),
    ]
    none = codur_here("solve", "given", "--list", "--resume", cwd=place, home=place / "home")
    assert (none.code, none.err.splitlines()[-1]) == (0, "2 challenges")


def test_attempts_and_challenges_are_counted_apart(place: Path) -> None:
    words = ("solve", "given/set", "--offline", "--attempts", "2", "--results", "out")
    value = told(codur_here(*words, "--json", cwd=place, home=place / "home").out)
    assert (value["challenges"], value["challenges_solved"], value["exit_code"]) == (1, 1, 0)
    assert (value["attempts"], value["attempts_finished"], value["attempts_solved"]) == (2, 2, 2)
    shown = codur_here(*words, "--resume", cwd=place, home=place / "home")
    assert shown.out.splitlines()[-1].startswith("2 of 2 attempts solved")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "nowhere: no such directory"),
        (("x" * 300,), "file name too long"),
        (("empty",), "empty: no challenge found"),
        (("given", "--filter", "x*"), "no challenge is called 'x*'"),
        (("given", "--resume", "--fresh"), "exclude each other"),
        (("given", "--in-place", "--attempts", "2"), "--in-place takes one attempt"),
        (("given", "--results", "given/bug/out"), "is inside the challenge bug"),
        (("given", "--results", "file"), "cannot be used"),
        (("given", "--jobs", "0"), "--jobs"),
        (("given", "--agent", "nobody", "--results", "new"), ""),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_left(words: tuple[str, ...], said: str, place: Path) -> None:
    (place / "empty").mkdir()
    (place / "file").touch()
    before = contents(place / "given")
    ran = codur_here("solve", *words, "--offline", cwd=place, home=place / "home", **OFF)
    if said:
        assert (ran.code, ran.out) == (2, ""), ran.err
        assert said in ran.err.splitlines()[0]
        assert ran.err.splitlines()[1].startswith("→ ")
    else:  # an agent that there is not costs its work, not the batch
        assert ran.code == 1
        assert "error" in ran.out
    assert contents(place / "given") == before


def test_in_place_can_be_undone(place: Path) -> None:
    given = place / "given" / "set" / "sum"
    ran = codur("solve", str(given), "--offline", "--in-place", "-q", cwd=place, home=place / "home")
    assert ran.code == 0, ran.err
    assert contents(given) != SOLVABLE
    undone = codur("undo", "-C", str(given), cwd=place, home=place / "home")
    assert undone.code == 0, undone.err
    assert contents(given) == SOLVABLE


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom codur.__main__ import main\nsys.argv = ['codur', 'solve', '--help']\ncode = main()\n"
        "heavy = {'langgraph', 'groq', 'pydantic', 'rich', 'httpx', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(code or str(sorted(heavy)) if heavy else code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for option in ("--jobs", "--attempts", "--budget", "--rerun-failed", "--in-place", "--junit"):
        assert option in done.stdout


def test_the_supervisor_itself_stays_light(place: Path) -> None:
    """What works is another process; this one only watches."""
    script = (
        "import sys\nfrom codur.__main__ import main\n"
        "sys.argv = ['codur', 'solve', 'given/bug', '--offline', '-q']\nmain()\n"
        "print(sorted({'langgraph', 'groq', 'pydantic', 'rich', 'httpx'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), **OFF},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[]\n", done.stderr
