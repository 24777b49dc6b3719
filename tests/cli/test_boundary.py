"""What a command raises: one line, one object, the exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codur.cli.exit_codes import JsonKind, exit_code_of
from codur.errors import LimitReached, UsageError, internal_error
from codur.types import Usage
from tests.cli.kit import ROOT, Ran, codur, the_object
from tests.runs.kit import REPAIRABLE, contents, fill

RERUN = "Run it again with --debug, and report what that shows."


def raises(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


def told(command: Callable[[], int], *, json: JsonKind | None = None, debug: bool = False) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = exit_code_of(command, json=json, debug=debug)
    return Ran(code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("json", ["json", "json_stream", None])
def test_a_command_that_raises_nothing_is_left_alone(json: JsonKind | None) -> None:
    assert told(lambda: 3, json=json) == Ran(3, "", "")


@pytest.mark.parametrize(
    ("error", "code", "outcome", "shown"),
    [
        (UsageError("bad", remedy="Do so."), 2, "usage", "✘ bad\n→ Do so.\n"),
        (LimitReached("too much"), 4, "limit", "✘ too much\n"),
        (KeyboardInterrupt(), 130, "interrupted", "✘ interrupted\n"),
        (
            ValueError("a\n  b \x1b[31m"),
            1,
            "not_achieved",
            f"✘ internal error: ValueError: a b \\x1b[31m\n→ {RERUN}\n",
        ),
        (AssertionError(), 1, "not_achieved", f"✘ internal error: AssertionError\n→ {RERUN}\n"),
        (KeyError("x" * 9_000), 1, "not_achieved", f"✘ internal error: KeyError: '{'x' * 499}\n→ {RERUN}\n"),
    ],
)
def test_one_line_one_object_one_code(error: BaseException, code: int, outcome: str, shown: str) -> None:
    assert told(raises(error)) == Ran(code, "", shown)
    ran = told(raises(error), json="json")
    value = the_object(ran.out)
    assert (ran.code, ran.err, value["exit_code"], value["outcome"]) == (code, shown, code, outcome)
    assert json.loads(told(raises(error), json="json_stream").out) == {"event": "run_finished", "result": value}
    debugged = told(raises(error), json="json", debug=True)
    assert debugged.err.startswith("Traceback (most recent call last):\n")
    assert (debugged.code, debugged.out) == (code, ran.out)
    assert debugged.err.endswith(shown)


def test_what_a_broken_run_has_cost_is_told() -> None:
    error = internal_error(ValueError("x"), usage=Usage(calls=2, prompt_tokens=7, cost_usd=0.5))
    value = the_object(told(raises(error), json="json").out)
    assert (value["model_calls"], value["usage"]["prompt_tokens"], value["usage"]["cost_usd"]) == (2, 7, 0.5)


def test_a_full_disk_is_no_internal_error() -> None:
    error = internal_error(OSError(errno.ENOSPC, "No space left on device"))
    assert str(error) == "no space is left on a disk"
    assert error.remedy == "Make room where output and temporary files go (TMPDIR names another place for these)."


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a bug that shows in the middle of a run, after the program was checked."""
    root = tmp_path_factory.mktemp("installation")
    shutil.copytree(ROOT / "codur", root / "codur", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "config", root / "config")
    (root / "codur" / "repair" / "engine.py").write_text("raise ZeroDivisionError('a bug')\n")
    return root


@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_bug_in_a_run(json_wanted: bool, broken: Path, tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    fill(project, REPAIRABLE)
    words = ("fix main.py", "--json") if json_wanted else ("fix main.py",)
    ran = codur(*words, cwd=project, home=home, PYTHONPATH=str(broken), PYTHONDONTWRITEBYTECODE="1")
    said = "internal error: ZeroDivisionError: a bug"
    assert ran.code == 1, ran
    assert f"✘ {said}\n→ {RERUN}\n" in ran.err
    assert "engine.py" not in ran.err
    if json_wanted:
        assert the_object(ran.out)["reason"] == said
    else:
        assert ran.out == ""
    assert contents(project) == REPAIRABLE


def test_a_bug_in_a_run_with_debug(broken: Path, tmp_path: Path) -> None:
    fill(tmp_path / "project", REPAIRABLE)
    ran = codur(
        *("--debug", "fix main.py"),
        cwd=tmp_path / "project",
        home=tmp_path,
        PYTHONPATH=str(broken),
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert ran.code == 1
    assert f"{os.sep}engine.py" in ran.err
    assert "ZeroDivisionError: a bug" in ran.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device here")
@pytest.mark.parametrize("words", [("doctor",), ("verify", "--check", "true", "--json")])
def test_an_output_that_cannot_be_written_is_told_in_a_line(words: tuple[str, ...], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "codur", *words]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "no space is left on a disk" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
