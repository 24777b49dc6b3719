"""Stopping from outside: Ctrl-C, a stop signal, a closed terminal; before a run, in it, and in a batch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.kit import environment, the_object
from tests.runs.kit import EDIT, KEY, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.support.groq_server import GroqServer, ServerReply, calls, hold

PATIENCE_S = 60.0
STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def start(project: Path, home: Path, *words: str, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "codur", *words],
        cwd=project,
        env=environment(home, GROQ_API_KEY=KEY, CODUR_REPAIR__MODE="off", **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def settings_file(home: Path, url: str) -> None:
    fill(home, {".config/codur/config.yaml": f"providers:\n  groq:\n    api: groq\n    base_url: {url}\n"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return fill(path, NEEDS_MODEL)


def edit(code: str) -> ServerReply:
    return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))


def child_that_wrote(path: Path) -> int:
    """The process id in a file, as soon as it is there."""
    deadline = time.monotonic() + PATIENCE_S
    while not (path.exists() and path.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.02)
    return int(path.read_text())


def ended_well(process: subprocess.Popen[bytes]) -> None:
    """Exit 130, a line that says so, no traceback of ours, no key."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err.decode()
    assert b"interrupted" in err
    assert b'Traceback (most recent call last):\n  File "/' not in err
    assert KEY.encode() not in out + err


@pytest.mark.parametrize("number", STOPS)
def test_while_a_model_is_asked_after_an_attempt(number: signal.Signals, project: Path, home: Path) -> None:
    with GroqServer([EDIT, edit(MEDIAN_ODD_ONLY), hold()]) as server:
        settings_file(home, server.url)
        process = start(project, home, "fix main.py")
        assert server.holding.wait(PATIENCE_S)
        assert MEDIAN_ODD_ONLY in contents(project)["main.py"]  # the better attempt is what is worked on
        process.send_signal(number)
        ended_well(process)
    assert contents(project) == NEEDS_MODEL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_while_an_attempt_is_checked(number: signal.Signals, project: Path, home: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    sleeper = (
        "def median(values):\n    import os, time\n"
        f"    open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\n    time.sleep(600)\n"
    )
    with GroqServer([EDIT, edit(sleeper)]) as server:
        settings_file(home, server.url)
        process = start(project, home, "fix main.py", CODUR_VERIFICATION__TIMEOUT_S="500")
        child = child_that_wrote(pid)
        assert "time.sleep(600)" in contents(project)["main.py"]
        process.send_signal(number)
        ended_well(process)
    assert contents(project) == NEEDS_MODEL
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_signal_that_is_ignored_stays_so(project: Path, home: Path) -> None:
    """As under `nohup`."""
    with GroqServer([EDIT, hold(edit(MEDIAN_RIGHT))]) as server:
        settings_file(home, server.url)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # inherited by the child
        try:
            process = start(project, home, "fix main.py")
        finally:
            signal.signal(signal.SIGHUP, before)
        assert server.holding.wait(PATIENCE_S)
        process.send_signal(signal.SIGHUP)
        server.release()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err.decode()
    assert MEDIAN_RIGHT in contents(project)["main.py"]


TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "codur", "fix main.py"])
"""


def test_a_terminal_that_is_closed(project: Path, home: Path) -> None:
    """The hang-up signal comes, and nothing can be written any more."""
    with GroqServer([EDIT, edit(MEDIAN_ODD_ONLY), hold()]) as server:
        settings_file(home, server.url)
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL],
            cwd=project,
            env=environment(home, GROQ_API_KEY=KEY, CODUR_REPAIR__MODE="off"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        assert server.holding.wait(PATIENCE_S)
        os.close(ours)
        assert process.wait(PATIENCE_S) == 130
    assert contents(project) == NEEDS_MODEL


def test_before_a_run(project: Path, home: Path) -> None:
    """While the command line is still being loaded, up to the reading of the task."""
    os.mkfifo(home / "task")
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "codur", "--json", "--file", str(home / "task")],
        cwd=project,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert any("typer" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert [line for line in err.splitlines() if not line.startswith("import time:")] == ["✘ interrupted"]
    assert the_object(out)["outcome"] == "interrupted"


def test_while_the_task_is_read(project: Path, home: Path) -> None:
    task = home / "task"
    os.mkfifo(task)
    process = start(project, home, "--file", str(task))
    with task.open("wb"):  # waits until it is opened for reading
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE_S) == (b"", "✘ interrupted\n".encode())
    assert process.returncode == 130


@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_batch_shows_what_was_finished(json_wanted: bool, home: Path, tmp_path: Path) -> None:
    pid, challenges = tmp_path / "pid", tmp_path / "challenges"
    sleeper = f"import os, time\nopen({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    for name, program in (("1", "print(2)\n"), ("2", sleeper), ("3", "print(1)\n")):
        fill(challenges / name, {"main.py": program, "expected.txt": "1\n", "prompt.txt": "fix main.py\n"})
    words = ("solve", str(challenges), "--offline", *(["--json"] if json_wanted else []))
    process = start(tmp_path, home, *words, CODUR_VERIFICATION__TIMEOUT_S="500")
    child = child_that_wrote(pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err.decode()
    assert err.endswith(b"interrupted; 1 of 3 challenges finished\n")
    assert b"Traceback" not in err
    if json_wanted:
        assert [(row["challenge"], row["outcome"]) for row in json.loads(out)] == [("1", "failed")]
    else:
        assert [line.split()[0] for line in out.decode().splitlines()[2::2]] == ["1", "0"]  # the row and the totals
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_while_a_program_runs(project: Path, home: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"import os, time\nopen({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    fill(project, {"main.py": program, "expected.txt": "done\n"})
    process = start(project, home, "fix main.py", CODUR_VERIFICATION__TIMEOUT_S="500")
    child = child_that_wrote(pid)
    process.send_signal(signal.SIGINT)
    ended_well(process)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
