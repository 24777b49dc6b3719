"""One attempt at a challenge, called as the worker calls it."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.batch.challenge_directory import Challenge
from codur.batch.results.challenge_record import Attempted
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.batch.worker.attempt import attempt
from codur.config.settings import Settings
from codur.events import Emit, Event, ModelAnswered, NodeEntered, ignore
from tests.batch.kit import BUG, setup
from tests.runs.kit import EDIT, fill, host, settings_for
from tests.support.groq_server import GroqServer


def tried(place: Path, *, emit: Emit = ignore, given: Setup | None = None, files: Mapping[str, str] = BUG) -> Attempted:
    fill(place / "bug", dict(files))
    below = place / "copies"
    below.mkdir()
    job = Work(number=0, challenge=Challenge(name="bug", directory=place / "bug"), agent="", attempt=1, file="bug")
    given = given or setup()
    done = attempt(job, "k", given, given.host, below=below, emit=emit)
    assert list(below.iterdir()) == []
    return done


def test_a_fault_of_ours_is_an_error_and_not_a_failure_of_the_challenge(tmp_path: Path) -> None:
    def faulty(event: Event) -> None:
        raise ZeroDivisionError("a\n  bug" + "!" * 900)

    result = tried(tmp_path, emit=faulty).result
    assert (result.status, result.tier, result.name, result.key) == ("error", "none", "bug", "k")
    assert result.reason.startswith("internal error: ZeroDivisionError: a bug!!!")
    assert len(result.reason) <= 500


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ZeroDivisionError("a bug"), "internal error: ZeroDivisionError: a bug"),
        (OSError(errno.ENOSPC, "No space left on device"), "cannot be worked on: no space left on device"),
    ],
)
def test_what_a_run_has_cost_counts_whatever_ends_it(fault: Exception, reason: str, tmp_path: Path) -> None:
    answered = False

    def faulty(event: Event) -> None:
        nonlocal answered
        if answered and isinstance(event, NodeEntered):
            raise fault
        answered = answered or isinstance(event, ModelAnswered)

    with GroqServer(lambda body: EDIT) as server:
        given = setup(settings_for(server, repair={"mode": "off"}), host=host(), offline=False)
        result = tried(tmp_path, emit=faulty, given=given).result
    assert (result.status, result.reason, result.calls) == ("error", reason, 1)
    assert result.tokens > 0


def test_what_is_judged_and_not_solved_is_a_failure(tmp_path: Path) -> None:
    found = tried(tmp_path)
    assert (found.result.status, found.result.verdict, found.files) == ("failed", "failed", {})
    assert found.result.reason.startswith("needs a model: line 1: expected `")


def test_a_patch_applies_although_a_secret_lies_near_what_it_changes(tmp_path: Path) -> None:
    before = (
        'DB = "postgres://anna:Sommerregen!2026@db.example.org/noten"\n\n'
        "def last(items):\n    return items[len(items)]\n\nprint(last([1, 2, 3]))\n"
    )
    done = tried(tmp_path, given=setup(Settings()), files={"main.py": before, "expected.txt": "3\n"})
    assert done.result.status == "solved"
    assert done.files["main.py"] is not None
    after = done.files["main.py"].decode()
    assert after.splitlines()[0] == before.splitlines()[0]
    assert "Sommerregen" not in done.patch
    assert "redacted" not in done.patch
    applied = subprocess.run(["git", "apply", "-"], cwd=tmp_path / "bug", input=done.patch, text=True, check=False)
    assert applied.returncode == 0
    assert (tmp_path / "bug" / "main.py").read_text() == after


def test_no_part_of_a_secret_is_in_a_patch_as_its_beginning_is_left_out(tmp_path: Path) -> None:
    key = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF"
    pem = f'KEY = """-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----"""\n'
    before = f"{pem}def last(items):\n    return items[len(items)]\n\nprint(last([1, 2, 3]))\n"
    done = tried(tmp_path, given=setup(Settings()), files={"main.py": before, "expected.txt": "3\n"})
    assert done.result.status == "solved"
    assert done.files["main.py"] is not None
    assert done.files["main.py"].decode().startswith(pem)
    assert key not in done.patch
    assert "+    return items" in done.patch
