"""The bundled challenges are what they claim to be: red as shipped, green with the reference solution, self-contained.

Every program really runs, in a copy. Output is compared as the README states: white space at line ends and a final
newline do not count. Reference solutions lie in `tests/data/solutions`, out of reach of whoever works on a challenge.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.kit import codur_here

ROOT = Path(__file__).parents[2]
CHALLENGES = ROOT / "challenges"
SOLUTIONS = ROOT / "tests" / "data" / "solutions"

DEFAULT_TIMEOUT_S = 20.0
MAX_PROMPT_LINES = 5
MIN_EXPECTED_LINES = 5
SHORTEST_TELLING_LINE = 12
CONTROL_FILES = frozenset({"prompt.txt", "challenge.yaml", "expected.txt", "input.txt", "args.txt"})
CONTROL_KEYS = frozenset({"entry", "check", "timeout", "args"})

RED: dict[str, tuple[str, str]] = {
    # name: entry point (empty where tests decide), how the shipped program fails
    "01-weekend-rota": ("main.py", "line 10 differs"),
    "02-parcel-prices": ("main.py", "line 2 differs"),
    "03-meter-readings": ("main.py", "line 1 differs"),
    "04-ticket-times": ("main.py", "ZeroDivisionError: division by zero"),
    "05-workshop-invoice": ("main.py", "line 8 differs"),
    "06-tide-report": ("tide_report.py", "line 3 differs"),
    "07-shelf-labels": ("main.py", "line 8 differs"),
    "08-course-signup": ("main.py", "line 1 differs"),
    "09-room-bookings": ("", "6 failed, 8 passed"),
    "10-order-discounts": ("main.py", "line 3 differs"),
    "11-night-shift-pay": ("main.py", "line 2 differs"),
    "12-access-log": ("main.py", "ValueError: invalid literal for int() with base 10: '-'"),
    "13-recipe-scaler": ("main.py", "ModuleNotFoundError: No module named 'units'"),
    "14-backup-retention": ("", "FAILED (errors=8)"),
    "15-shared-expenses": ("main.py", "line 1 differs"),
    "16-production-order": ("schedule.py", "timed out"),
    "17-fuel-log": ("fuel.py", "No such file or directory"),
    "18-worklog-options": ("", "6 failed, 1 passed"),
}
NAMES = sorted(RED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    passed: bool
    how: str


# --- running ----------------------------------------------------------------------------------------------------------


def control(folder: Path) -> Mapping[str, Any]:
    file = folder / "challenge.yaml"
    loaded = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    assert isinstance(loaded, dict)
    return loaded


def fenced(prompt: str) -> str | None:
    """The text between the prompt's first two fences, if there are any."""
    match = re.search(r"^```\n(.*?)^```$", prompt, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else None


def expected_output(folder: Path) -> str | None:
    file = folder / "expected.txt"
    if file.exists():
        return file.read_text(encoding="utf-8")
    return fenced((folder / "prompt.txt").read_text(encoding="utf-8"))


def command(folder: Path, entry: str) -> list[str]:
    keys = control(folder)
    if "check" in keys:
        return shlex.split(keys["check"])
    if not entry:
        return ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    arguments = folder / "args.txt"
    text = arguments.read_text(encoding="utf-8") if arguments.exists() else keys.get("args", "")
    return ["python", entry, *shlex.split(text)]


def lines_that_count(text: str) -> list[str]:
    return [line.rstrip() for line in text.removesuffix("\n").split("\n")]


def first_difference(expected: str, actual: str) -> int | None:
    pairs = zip_longest(lines_that_count(expected), lines_that_count(actual))
    return next((number for number, (left, right) in enumerate(pairs, start=1) if left != right), None)


def run(folder: Path, entry: str, *, hash_seed: int = 0) -> Outcome:
    """Run the challenge's check in `folder` and say how it ended."""
    stdin = folder / "input.txt"
    environ = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONIOENCODING": "utf-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    try:
        done = subprocess.run(
            command(folder, entry),
            cwd=folder,
            input=stdin.read_text(encoding="utf-8") if stdin.exists() else "",
            env=environ,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=control(folder).get("timeout", DEFAULT_TIMEOUT_S),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(passed=False, how="timed out")
    if done.returncode != 0:
        return Outcome(passed=False, how=(done.stderr.strip() or done.stdout.strip()).splitlines()[-1])
    expected = expected_output(folder)
    if expected is None:
        return Outcome(passed=True, how="exit status 0")
    line = first_difference(expected, done.stdout)
    return Outcome(passed=line is None, how="output as expected" if line is None else f"line {line} differs")


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copy_of(name: str, target: Path, *, solved: bool = False) -> Path:
    folder = target / name
    leftovers = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(CHALLENGES / name, folder, ignore=leftovers)
    if solved:
        shutil.copytree(SOLUTIONS / name, folder, dirs_exist_ok=True, ignore=leftovers)
    return folder


# --- what they do -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_is_red_as_shipped(name: str, tmp_path: Path) -> None:
    entry, how = RED[name]

    outcome = run(copy_of(name, tmp_path), entry)

    assert not outcome.passed
    assert how in outcome.how


@pytest.mark.parametrize("name", NAMES)
def test_is_green_with_the_reference_solution(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path, solved=True)
    before = tree(folder)

    outcomes = [run(folder, RED[name][0], hash_seed=seed) for seed in (0, 1)]

    assert [outcome.how for outcome in outcomes if not outcome.passed] == []
    assert tree(folder) == before, "the program wrote files"


# --- what Codur does with them ----------------------------------------------------------------------------------------

ROWS = re.findall(
    r"^\| (\d\d-[\w-]+) \|.*\| ([\w ]+) \|$", (CHALLENGES / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_readme_has_a_row_for_each() -> None:
    assert [name for name, _ in ROWS] == NAMES
    assert {told for _, told in ROWS} == {"solved", "needs a model"}


@pytest.mark.parametrize("name", [name for name, told in ROWS if told == "solved"])
def test_is_solved_without_a_model_as_the_readme_says(name: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    shutil.copytree(CHALLENGES / name, tmp_path / name)
    ran = codur_here("solve", name, "--offline", "--json", cwd=tmp_path, home=tmp_path / "home")
    told = json.loads(ran.out)
    assert (told["challenges_solved"], told["tokens"], ran.code) == (1, 0, 0), ran.err


# --- what they are made of --------------------------------------------------------------------------------------------


def test_every_challenge_has_its_row_and_its_solution() -> None:
    assert sorted(path.name for path in CHALLENGES.iterdir() if path.is_dir()) == NAMES
    assert sorted(path.name for path in SOLUTIONS.iterdir()) == NAMES
    assert [name[:3] for name in NAMES] == [f"{number:02d}-" for number in range(1, len(NAMES) + 1)]


@pytest.mark.parametrize("name", NAMES)
def test_has_the_files_it_needs(name: str) -> None:
    folder = CHALLENGES / name
    prompt = (folder / "prompt.txt").read_text(encoding="utf-8")
    spoken = prompt.split("```", maxsplit=1)[0]
    entry = RED[name][0]

    assert 1 <= len(spoken.strip().splitlines()) <= MAX_PROMPT_LINES
    assert set(control(folder)) <= CONTROL_KEYS
    if entry:
        assert (SOLUTIONS / name / entry).exists() or (folder / entry).exists()
        assert len((expected_output(folder) or "").splitlines()) >= MIN_EXPECTED_LINES
    else:
        assert list(folder.glob("test_*.py"))
        assert expected_output(folder) is None


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_point_can_be_found(name: str) -> None:
    folder = CHALLENGES / name
    entry = RED[name][0]
    prompt = (folder / "prompt.txt").read_text(encoding="utf-8")

    if entry and entry != "main.py":
        assert control(folder).get("entry") == entry or entry in prompt


@pytest.mark.parametrize("name", NAMES)
def test_holds_text_files_only(name: str) -> None:
    files = tree(CHALLENGES / name)
    endings = {Path(path).suffix for path in files if "__pycache__" not in path and ".pytest_cache" not in path}

    assert endings <= {".py", ".txt", ".csv", ".yaml"}
    assert [path for path in files if path.endswith((".pyc", ".pyo"))] == []
    for content in files.values():
        content.decode("utf-8")
        assert b"\r" not in content


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_changes_sources_only(name: str) -> None:
    shipped, solution = tree(CHALLENGES / name), tree(SOLUTIONS / name)
    names = {Path(path).name for path in solution}

    assert solution
    assert all(path.endswith(".py") for path in solution)
    assert not names & CONTROL_FILES
    assert not any(file.startswith("test_") for file in names)
    assert [path for path, content in solution.items() if shipped.get(path) == content] == []


def telling_lines(name: str) -> Iterator[str]:
    """Lines of the reference solution that the shipped file lacks and that are long enough to tell something."""
    shipped = tree(CHALLENGES / name)
    for path, content in tree(SOLUTIONS / name).items():
        known = {line.strip() for line in shipped.get(path, b"").decode().splitlines()}
        for line in content.decode().splitlines():
            if len(line.strip()) >= SHORTEST_TELLING_LINE and line.strip() not in known:
                yield line.strip()


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_the_solution_lies_in_the_challenge(name: str) -> None:
    folder = CHALLENGES / name
    lines = {line.strip() for content in tree(folder).values() for line in content.decode().splitlines()}
    prompt = (folder / "prompt.txt").read_text(encoding="utf-8")
    new = list(telling_lines(name))

    assert new
    assert [line for line in new if line in lines or line in prompt] == []


@pytest.mark.parametrize("name", NAMES)
def test_needs_the_standard_library_only(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path, solved=True)
    local = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir() if path.is_dir()}
    imported: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])

    assert imported - local - sys.stdlib_module_names <= {"pytest"}
    assert not imported & {"socket", "urllib", "http", "subprocess", "random", "time", "tempfile"}
