"""Instances of SWE-bench from a file, worked on in checkouts."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codur.batch.dataset import read_dataset
from codur.batch.results.identity import settings_hash
from codur.batch.results.kept_files import Keys
from codur.batch.work import work_of
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.types import Limits
from tests.cli.kit import codur
from tests.runs.kit import fill

WRONG = "def total(n):\n    return sum(range(1, n))\n"
TESTS = """from calc import total

def test_total():
    assert total(3) == 6

def test_zero():
    assert total(0) == 0
"""
ROW = {
    "instance_id": "owner__calc-1",
    "repo": "owner/calc",
    "problem_statement": "the last number is left out",
    "patch": "a solution that nobody may see",
    "FAIL_TO_PASS": '["test_calc.py::test_total"]',
    "PASS_TO_PASS": ["test_calc.py::test_zero"],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a checkout below it."""
    checkout = fill(tmp_path / "checkouts" / "owner__calc-1", {"calc.py": WRONG, "test_calc.py": TESTS})
    (checkout / "prompt.txt").write_text("a file of the project\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it was"], ["checkout", "-q", "--detach"]):
        git(checkout, *words)
    return tmp_path


def git(checkout: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=checkout, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def dataset(place: Path, *rows: Any) -> Path:
    path = place / "tasks.jsonl"
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def test_an_instance_becomes_a_prediction_whose_patch_applies(place: Path) -> None:
    checkout, home = place / "checkouts" / "owner__calc-1", fill(place / "home", {})
    commit = git(checkout, "rev-parse", "HEAD")
    dataset(place, ROW | {"base_commit": commit})
    words = ("solve", "checkouts", "--dataset", "tasks.jsonl", "--offline", "--results", "out")
    ran = codur(*words, cwd=place, home=home)
    assert ran.code == 0, ran.err
    assert ran.err.startswith("note: the dataset's lists of tests decide, ")
    (line,) = (place / "out" / "predictions.jsonl").read_text().splitlines()
    prediction = json.loads(line)
    assert set(prediction) == {"instance_id", "model_name_or_path", "model_patch"}
    assert prediction["instance_id"] == "owner__calc-1"
    (place / "a.patch").write_text(prediction["model_patch"])
    git(checkout, "apply", str(place / "a.patch"))
    assert git(checkout, "status", "--porcelain").split() == ["M", "calc.py"]
    (result,) = (json.loads(each) for each in (place / "out" / "results.jsonl").read_text().splitlines())
    assert (result["status"], result["prompt"]) == ("solved", ROW["problem_statement"])
    assert shlex.split(result["check"])[-2:] == ["test_calc.py::test_total", "test_calc.py::test_zero"]


def test_what_is_read_of_an_instance(place: Path) -> None:
    (given,) = read_dataset(dataset(place, "\n", ROW | {"base_commit": ""}), [place, place / "checkouts"])
    assert given.directory == place / "checkouts" / "owner__calc-1"
    assert (given.name, given.prompt(), given.problem) == ("owner__calc-1", ROW["problem_statement"], "")
    assert given.check == "python -m pytest -q test_calc.py::test_total test_calc.py::test_zero"


@pytest.mark.parametrize(
    ("columns", "check"),
    [
        ({"FAIL_TO_PASS": [], "PASS_TO_PASS": "[]"}, ""),
        ({"FAIL_TO_PASS": "", "PASS_TO_PASS": ["test_calc.py::test_zero"]}, ""),
        ({"FAIL_TO_PASS": ["test_it (calc.tests.Test)"]}, ""),
        ({"FAIL_TO_PASS": ["--rootdir=/elsewhere/a.py"]}, ""),
        ({"FAIL_TO_PASS": ["a.py::b[x y]"], "PASS_TO_PASS": []}, "python -m pytest -q 'a.py::b[x y]'"),
    ],
)
def test_names_of_tests(place: Path, columns: dict[str, Any], check: str) -> None:
    (given,) = read_dataset(dataset(place, ROW | columns), [place / "checkouts"])
    assert given.check == check


def test_of_many_tests_those_that_fail_come_first_and_a_command_can_hold_them(place: Path) -> None:
    many = [f"tests/test_calc.py::test_with_a_long_name[{number} of many]" for number in range(20_000)]
    (given,) = read_dataset(dataset(place, ROW | {"PASS_TO_PASS": many}), [place / "checkouts"])
    assert 90_000 < len(given.check) <= 100_000
    words = shlex.split(given.check)
    assert words[4] == "test_calc.py::test_total"
    assert words[5:] == many[: len(words) - 5]


def test_a_checkout_that_is_absent_or_at_another_commit_costs_its_instance(place: Path) -> None:
    rows = [ROW | {"base_commit": "0" * 40}, ROW | {"instance_id": "owner__calc-2", "base_commit": "1" * 40}]
    elsewhere, absent = read_dataset(dataset(place, *rows), [place / "checkouts"])
    head = git(place / "checkouts" / "owner__calc-1", "rev-parse", "HEAD")
    assert elsewhere.problem == f"the checkout is at {head}, and not at {'0' * 40}"
    assert absent.problem == f"no checkout of owner/calc at {'1' * 40}: {place / 'checkouts' / 'owner__calc-2'}"


def test_another_task_or_other_tests_are_other_work(place: Path) -> None:
    keys = []
    for row in (ROW, ROW, ROW | {"problem_statement": "else"}, ROW | {"PASS_TO_PASS": []}):
        (work,) = work_of(read_dataset(dataset(place, row), [place / "checkouts"]))
        keys.append(Keys(settings_hash(Settings(), Limits(), offline=True))(work))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "no instance found"),
        ("{", "tasks.jsonl:1: no JSON object"),
        ("[" * 100_000, "tasks.jsonl:1: no JSON object"),
        ("[]", "tasks.jsonl:1: Expected `object`, got `array`"),
        ({"instance_id": "a"}, "missing required field `problem_statement`"),
        (ROW | {"instance_id": "../elsewhere"}, "$.instance_id"),
        (ROW | {"instance_id": ".."}, "$.instance_id"),
        (ROW | {"FAIL_TO_PASS": '{"a": 1}'}, "Expected `array`, got `object`"),
        (ROW | {"FAIL_TO_PASS": [1]}, "tasks.jsonl:1: Expected `"),
        (json.dumps(ROW) + "\n" + json.dumps(ROW), "tasks.jsonl:2: owner__calc-1 occurs twice"),
    ],
)
def test_a_file_that_is_no_dataset(place: Path, line: Any, reason: str) -> None:
    with pytest.raises(UsageError) as told:
        read_dataset(dataset(place, line), [place / "checkouts"])
    assert reason in told.value.message


def test_a_file_or_a_directory_that_is_not_there(place: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read as UTF-8 text"):
        read_dataset(place / "absent.jsonl", [place])
    with pytest.raises(UsageError, match="no such directory"):
        read_dataset(dataset(place, ROW), [place / "absent"])
