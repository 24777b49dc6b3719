"""Challenges are made as red examples, and examined: check, red, the same twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.batch.discovery import find_challenges
from codur.batch.new_challenge import make_challenge
from codur.batch.soundness import Soundness, examine
from codur.config.settings import Settings
from codur.errors import UsageError
from tests.runs.kit import contents, fill, host

RED = {"main.py": "print(2)\n", "expected.txt": "1\n", "prompt.txt": "fix main.py\n"}


def examined(directory: Path) -> Soundness:
    """What is found out about the only challenge in a directory, which stays as it is."""
    (challenge,) = find_challenges([directory])
    before = {path: path.lstat().st_mtime_ns for path in directory.rglob("*")}
    found = examine(challenge, Settings(), host=host(key=None))
    assert {path: path.lstat().st_mtime_ns for path in directory.rglob("*")} == before
    return found


@pytest.mark.parametrize(
    ("tests", "check", "files"),
    [
        (False, "python main.py", ["expected.txt", "main.py", "prompt.txt"]),
        (True, "python -m pytest", ["main.py", "prompt.txt", "test_main.py"]),
    ],
)
def test_a_new_challenge_is_sound(tests: bool, check: str, files: list[str], tmp_path: Path) -> None:
    directory, told = make_challenge("my first one", within=tmp_path / "deep" / "er", tests=tests)
    assert directory == tmp_path / "deep" / "er" / "my first one"
    assert sorted(contents(directory)) == files == sorted(file for file, _ in told)
    found = examined(directory)
    assert (found.problems, found.notes) == ((), ())
    assert (found.own_task, found.check, found.before, found.alike, found.timed_out) == (
        True,
        check,
        "failed",
        True,
        False,
    )
    assert found.seconds > 0
    assert found.told in ("failed at output line 2", "failed: 1 of 2 tests pass")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    fill(tmp_path, {"taken/main.py": "mine", "file": "mine"})
    (tmp_path / "link").symlink_to("nowhere")
    before = contents(tmp_path)
    for name in ("taken", "file", "link"):
        with pytest.raises(UsageError) as caught:
            make_challenge(name, within=tmp_path, tests=False)
        assert caught.value.message == f"{tmp_path / name}: is there already"
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "a/b", "/tmp/x", "-x", ".hidden", "a\nb", "a\0b", "a\u202eb", "\udc80"]
)
def test_what_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        make_challenge(name, within=tmp_path, tests=False)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    fill(tmp_path, {"file": ""})
    with pytest.raises(UsageError) as caught:
        make_challenge("x" * 300, within=tmp_path, tests=False)
    assert caught.value.message.endswith("cannot be made: file name too long")
    with pytest.raises(UsageError):
        make_challenge("x", within=tmp_path / "file", tests=False)


def test_a_green_challenge_is_not_sound(tmp_path: Path) -> None:
    found = examined(fill(tmp_path, {**RED, "main.py": "print(1)\n"}))
    assert found.problems == ("its check passes already, so it cannot show whether anything is solved",)
    assert found.before == "passed"


def test_one_without_a_check_is_not_sound(tmp_path: Path) -> None:
    found = examined(fill(tmp_path, {"main.py": "print(1)\n", "prompt.txt": "make it better"}))
    assert found.problems == ("no check was found: no expected output, no tests, no command in challenge.yaml",)
    assert (found.before, found.alike) == ("", None)


def test_output_that_varies_is_told(tmp_path: Path) -> None:
    program = "import os\nprint('first')\nprint(os.urandom(16).hex())\n"
    found = examined(fill(tmp_path, {**RED, "main.py": program, "expected.txt": "first\nsecond\n"}))
    assert found.problems == ("two runs of its check differ: what the program prints changes",)
    assert found.alike is False


def test_a_check_that_fails_once_is_told(tmp_path: Path) -> None:
    program = "import os\nprint(1 if os.path.exists('been') else 2)\nopen('been', 'w')\n"
    found = examined(fill(tmp_path, {**RED, "main.py": program}))
    assert found.problems == ("two runs of its check differ: failed at output line 1; then passed",)


def test_one_that_does_not_end_is_sound_and_told(tmp_path: Path) -> None:
    files = {**RED, "main.py": "while True: pass\n", "challenge.yaml": "timeout: 0.5\n"}
    found = examined(fill(tmp_path, files))
    assert (found.problems, found.timed_out, found.limit_s) == ((), True, 0.5)
    assert found.notes == ("a run was stopped after 0.5 s; `timeout` in challenge.yaml sets that time",)


def test_a_task_is_read_or_told_to_be_missing(tmp_path: Path) -> None:
    general = examined(fill(tmp_path / "1", {**RED, "prompt.txt": "\n"}))
    assert general.problems == ()
    assert general.notes == ("no task of its own (prompt.txt); the general one applies",)
    fill(tmp_path / "2", RED)
    (tmp_path / "2" / "prompt.txt").write_bytes(b"\xff\xfe")
    assert examined(tmp_path / "2").problems == (f"{tmp_path / '2' / 'prompt.txt'}: cannot be read as UTF-8 text",)


def test_a_check_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    found = examined(fill(tmp_path, {**RED, "challenge.yaml": "check: no-such-program-here\n"}))
    assert len(found.problems) == 1
    assert found.problems[0].startswith("its check cannot be run: ")


def test_a_wrong_challenge_file_is_told_with_its_line(tmp_path: Path) -> None:
    found = examined(fill(tmp_path, {**RED, "challenge.yaml": "timeout: 5\nentry: [\n"}))
    assert len(found.problems) == 1
    assert found.problems[0].startswith("challenge.yaml:")


def test_tests_that_are_not_there_are_told(tmp_path: Path) -> None:
    found = examined(fill(tmp_path, {"prompt.txt": "x", "main.py": "", "test_main.py": "def helper():\n    pass\n"}))
    assert found.problems[0].startswith(("its check says nothing: no_check", "no check was found"))
