"""Batches in their plainest form: found, solved in copies, judged by the check."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codur.batch.challenge import DEFAULT_PROMPT, find_challenges
from codur.batch.solve import judged, solve_all
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.types import Limits, RunResult, Verdict
from tests.cli.kit import bound_by_permissions
from tests.runs.kit import REPAIRABLE, contents, fill, host

GREEN = {"main.py": "print(1)\n", "expected.txt": "1\n"}


def test_find_challenges_looks_below_and_names_by_path(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "b/prompt.txt": "x",
            "a/deep one/challenge.yaml": "entry: x.py\n",
            "c/notes.txt": "none",
            ".hidden/prompt.txt": "x",
            "b/inner/prompt.txt": "part of b",
        },
    )
    (tmp_path / "again").symlink_to(tmp_path / "b")
    assert [item.name for item in find_challenges([tmp_path])] == ["a/deep one", "b"]
    assert [item.name for item in find_challenges([tmp_path / "b", tmp_path])] == ["a/deep one", "b"]


def test_nothing_found_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_challenges([tmp_path])
    assert caught.value.remedy == "A challenge is a directory with a prompt.txt or a challenge.yaml."


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_challenge_without_a_prompt_has_a_general_one(text: str | None, tmp_path: Path) -> None:
    fill(tmp_path, {"challenge.yaml": ""} if text is None else {"prompt.txt": text})
    (challenge,) = find_challenges([tmp_path])
    assert challenge.prompt() == DEFAULT_PROMPT


def test_each_is_solved_in_a_copy_and_one_bad_one_costs_only_itself(tmp_path: Path) -> None:
    fill(tmp_path / "1 bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    fill(tmp_path / "2 green", {**GREEN, "prompt.txt": "fix main.py\n"})
    fill(tmp_path / "3 broken", {**GREEN, "challenge.yaml": "entry: [\n"})
    (tmp_path / "4 no text").mkdir()
    (tmp_path / "4 no text" / "prompt.txt").write_bytes(b"\xff\xfe\x00")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    solved = list(solve_all(find_challenges([tmp_path]), Settings(), Limits(), host=host(key=None), offline=True))
    assert [(item.challenge.name, item.outcome) for item in solved] == [
        ("1 bug", "solved"),
        ("2 green", "failed"),
        ("3 broken", "error"),
        ("4 no text", "error"),
    ]
    assert solved[0].result.solved_by == "repair"
    assert "challenge.yaml" in solved[2].note
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert contents(tmp_path / "2 green")["main.py"] == GREEN["main.py"]


def test_what_cannot_be_copied_costs_one_challenge_and_special_files_are_left_out(tmp_path: Path) -> None:
    plain = {**GREEN, "main.py": "print(2)\n", "prompt.txt": "fix main.py\n"}
    for name in ("1", "2", "3", "4"):
        fill(tmp_path / name, plain)
    (tmp_path / "1" / "data").mkdir()
    os.mkfifo(tmp_path / "1" / "data" / "pipe")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener, contextlib.chdir(tmp_path / "2"):
        listener.bind("socket")
    (tmp_path / "3" / "prompt.txt").rename(tmp_path / "3" / "challenge.yaml")
    os.mkfifo(tmp_path / "3" / "prompt.txt")
    settings = replace(Settings(), repair=replace(Settings().repair, mode="off"))
    solved = list(solve_all(find_challenges([tmp_path]), settings, Limits(), host=host(key=None), offline=True))
    assert [(item.challenge.name, item.outcome) for item in solved] == [
        ("1", "failed"),
        ("2", "failed"),
        ("3", "error"),
        ("4", "failed"),
    ]
    assert solved[0].result.notes == ("data/pipe: left out of the copy: not a regular file",)
    assert solved[1].result.notes == ("socket: left out of the copy: not a regular file",)
    assert solved[2].note == f"{tmp_path / '3' / 'prompt.txt'}: is not a regular file"


def test_a_program_keeps_its_own_prompt_file(tmp_path: Path) -> None:
    """Only the task itself stays behind."""
    program = "import os\nprint(os.path.exists('prompt.txt'), open('data/prompt.txt').read())\n"
    files = {"main.py": program, "expected.txt": "no\n", "data/prompt.txt": "mine", "prompt.txt": "fix main.py\n"}
    fill(tmp_path, files)
    settings = replace(Settings(), repair=replace(Settings().repair, mode="off"))
    (solved,) = solve_all(find_challenges([tmp_path]), settings, Limits(), host=host(key=None), offline=True)
    assert solved.result.before is not None
    assert solved.result.before.actual == "False mine\n"


BATCH = """
import sys
from pathlib import Path
from codur.batch.challenge import find_challenges
from codur.batch.solve import solve_all
from codur.config.settings import Settings
from codur.session.run import Host
from codur.types import Limits
host = Host(environ={}, home=Path("/nonexistent"))
for item in solve_all(find_challenges([Path(sys.argv[1])]), Settings(), Limits(), host=host, offline=True):
    print(item.challenge.name, item.outcome, item.note, sep="|")
"""


def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    broken = {"main.py": "print('a'\n", "expected.txt": "1\n", "challenge.yaml": "entry: [\n", "prompt.txt": "x"}
    for name in ("1", "2", "3", "4"):
        fill(tmp_path / name, broken)
    fill(tmp_path / "2", {"data/a.txt": "", "data/b.txt": ""})
    closed = [tmp_path / "1/main.py", tmp_path / "2/data/a.txt", tmp_path / "2/data/b.txt", tmp_path / "3/prompt.txt"]
    for path in closed:
        path.chmod(0)
    done = subprocess.run(
        [*bound_by_permissions(), sys.executable, "-c", BATCH, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("|") for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows] == [[name, "error"] for name in ("1", "2", "3", "4")]
    assert [row[2] for row in rows][:3] == [
        "main.py cannot be copied",
        "data/a.txt and 1 more cannot be copied",
        f"{tmp_path}/3/prompt.txt: cannot be read as UTF-8 text",
    ]
    assert "challenge.yaml" in rows[3][2]


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o600])
def test_a_directory_that_may_not_be_searched_is_named(mode: int, tmp_path: Path) -> None:
    fill(tmp_path, {"closed/prompt.txt": "x", "open/prompt.txt": "x"})
    (tmp_path / "closed").chmod(mode)
    try:
        done = subprocess.run(
            [*bound_by_permissions(), sys.executable, "-c", BATCH, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert f"UsageError: {tmp_path / 'closed'}: cannot be read: permission denied" in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("failed", "passed", "solved"),
        ("passed", "passed", "failed"),
        ("no_check", "no_check", "failed"),
        ("failed", "tampered", "failed"),
    ],
)
def test_only_red_to_green_counts(before: str, after: str, outcome: str, tmp_path: Path) -> None:
    fill(tmp_path, {"prompt.txt": "x"})
    (challenge,) = find_challenges([tmp_path])
    result = RunResult(
        outcome="done",
        exit_code=0,
        before=Verdict(status=before),  # type: ignore[arg-type]
        verdict=Verdict(status=after),  # type: ignore[arg-type]
    )
    assert judged(challenge, result).outcome == outcome
