"""What is piped in goes with the task."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.kit import codur_anew, environment
from tests.cli.test_conversation import EXPLAINED
from tests.runs.kit import fill
from tests.session.kit import place
from tests.support.groq_server import text


def test_a_model_is_told_what_was_piped_in(tmp_path: Path) -> None:
    with place(tmp_path, [EXPLAINED, text("It divides by zero.")]) as here:
        fill(here.project, {"app.py": "def half(n):\n    return n / 0\n"})
        said = b'  File "app.py", line 2, in half\nZeroDivisionError: heron\n'
        ran = codur_anew("what is wrong", cwd=here.project, home=here.home, stdin=said, **here.variables({}))
        assert (ran.code, ran.out.strip()) == (0, "It divides by zero.")
        assert "standard input is part of the task: 2 lines" in ran.err
        for request in here.server.requests:
            assert "ZeroDivisionError: heron" in json.dumps(request.body)
        assert "return n / 0" in json.dumps(here.server.requests[-1].body)


def test_a_secret_is_taken_out_before_the_text_is_cut(tmp_path: Path) -> None:
    key = "".join(f"{number:02}canary{'K' * 56}\n" for number in range(99))
    said = (
        f"{'x' * 79}\n" * 150 + f"-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n" + f"{'y' * 79}\n" * 60
    )
    with place(tmp_path, [EXPLAINED, text("It is long.")]) as here:
        ran = codur_anew("what is wrong", cwd=here.project, home=here.home, stdin=said.encode(), **here.variables({}))
        assert ran.code == 0
        bodies = json.dumps([request.body for request in here.server.requests])
    assert "yyyy" in bodies
    assert "canaryKK" not in bodies


def test_what_is_piped_in_and_no_words_is_the_task(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    home.mkdir()
    fill(project, {"notes.txt": "milk\n"})
    ran = codur_anew(cwd=project, home=home, stdin=b"show notes.txt\n")
    assert (ran.code, ran.out) == (0, "milk\n"), ran.err
    empty = codur_anew(cwd=project, home=home, stdin=b"\n")
    assert (empty.code, "the task is empty" in empty.err) == (2, True)


def test_a_pipe_that_stays_open_is_not_waited_for(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    fill(project, {"a.txt": "x\n"})
    argv = [sys.executable, "-m", "codur", "list files"]
    with subprocess.Popen(
        argv,
        cwd=project,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"a.txt" in process.stdout.read()
        assert b"standard input stays open" in process.stderr.read()
