"""Stopping a run from outside: Ctrl-C and a stop signal, while a model is asked and while a program runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.kit import environment
from tests.runs.kit import EDIT, KEY, NEEDS_MODEL, contents, fill
from tests.support.groq_server import GroqServer, hold

PATIENCE_S = 60.0


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_a_model_is_asked(number: signal.Signals, tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    fill(project, NEEDS_MODEL)
    with GroqServer([EDIT, hold()]) as server:
        settings_file(home, server.url)
        process = start(project, home, "fix main.py")
        assert server.holding.wait(PATIENCE_S)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
        server.release()
    assert process.returncode == 130, err.decode()
    assert b"interrupted" in err
    assert b'Traceback (most recent call last):\n  File "/' not in err
    assert contents(project) == NEEDS_MODEL
    assert KEY.encode() not in out + err


def test_while_a_program_runs(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    program = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    fill(project, {"main.py": program, "expected.txt": "done\n"})
    process = start(project, home, "fix main.py", CODUR_VERIFICATION__TIMEOUT_S="500")
    deadline = time.monotonic() + PATIENCE_S
    while not ((project / "pid").exists() and (project / "pid").read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int((project / "pid").read_text())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err.decode()
    assert b"interrupted" in err
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
