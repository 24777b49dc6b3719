"""Stopping from outside: Ctrl-C, a stop signal, a closed terminal; before a run, in it, and in a batch."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.kit import codur, environment, the_object
from tests.runs.kit import EDIT, KEY, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.session.kit import programs_named
from tests.support.groq_server import GroqServer, ServerReply, calls, hold

PATIENCE_S = 300.0
MODEL = {"GROQ_API_KEY": KEY, "CODUR_REPAIR__MODE": "off"}
STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def start(project: Path, home: Path, *words: str, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "codur", *words],
        cwd=project,
        env=environment(home, **{**MODEL, **variables}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def settings_file(home: Path, url: str) -> None:
    fill(home, {".config/codur/config.yaml": f"providers:\n  groq:\n    api: groq\n    base_url: {url}\n"})


@pytest.fixture
def project(project: Path) -> Path:
    return fill(project, NEEDS_MODEL)


def edit(code: str) -> ServerReply:
    return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))


SLEEPS = "open('started', 'w').close()\nimport time\ntime.sleep(600)\n"
"""A program that says that it has been started, and then stays."""


def token() -> str:
    """A word for command lines, by which a program is found again."""
    return f"token-{secrets.token_hex(8)}"


def appears(path: Path) -> None:
    """Wait until there is such a file."""
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert path.exists()


def all_gone(name: str) -> None:
    """No program with this word is left, as soon as the system has taken away those that were killed."""
    deadline = time.monotonic() + PATIENCE_S
    while programs_named(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert programs_named(name) == []


def code_of(number: int) -> int:
    return 130 if number == signal.SIGINT else 143


def ended_well(process: subprocess.Popen[bytes], number: int = signal.SIGINT) -> str:
    """The exit code of the signal, a line that says so, how to go on, no traceback of ours, no key."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code_of(number), err.decode()
    assert b"interrupted" in err
    assert b"codur resume 20" in err
    assert b'Traceback (most recent call last):\n  File "/' not in err
    assert KEY.encode() not in out + err
    return err.decode()


@pytest.mark.parametrize("number", STOPS)
def test_while_a_model_is_asked_after_an_attempt(number: signal.Signals, project: Path, home: Path) -> None:
    with GroqServer([EDIT, edit(MEDIAN_ODD_ONLY), hold()]) as server:
        settings_file(home, server.url)
        process = start(project, home, "main.py is wrong")
        assert server.holding.wait(PATIENCE_S)
        assert MEDIAN_ODD_ONLY in contents(project)["main.py"]  # the better attempt is what is worked on
        process.send_signal(number)
        ended_well(process, number)
    assert contents(project) == NEEDS_MODEL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_while_an_attempt_is_checked(number: signal.Signals, project: Path, home: Path) -> None:
    name = token()
    fill(project, {"args.txt": f"{name}\n"})
    sleeper = "def median(values):\n" + "".join(f"    {row}\n" for row in SLEEPS.splitlines())
    with GroqServer([EDIT, edit(sleeper)]) as server:
        settings_file(home, server.url)
        process = start(project, home, "main.py is wrong", CODUR_VERIFICATION__TIMEOUT_S="500")
        appears(project / "started")
        assert programs_named(name)
        assert "time.sleep(600)" in contents(project)["main.py"]
        process.send_signal(number)
        ended_well(process, number)
    assert contents(project)["main.py"] == NEEDS_MODEL["main.py"]
    all_gone(name)


def test_a_signal_that_is_ignored_stays_so(project: Path, home: Path) -> None:
    """As under `nohup`."""
    with GroqServer([EDIT, hold(edit(MEDIAN_RIGHT))]) as server:
        settings_file(home, server.url)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # inherited by the child
        try:
            process = start(project, home, "main.py is wrong")
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
os.execv(sys.executable, [sys.executable, "-m", "codur", "main.py is wrong"])
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
        assert process.wait(PATIENCE_S) == 143
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_batch_shows_what_was_finished(number: signal.Signals, json_wanted: bool, home: Path, tmp_path: Path) -> None:
    name, challenges = token(), tmp_path / "challenges"
    program = {"expected.txt": "1\n", "prompt.txt": "main.py is wrong\n"}
    fill(challenges / "1", {"main.py": "print(2)\n", **program})
    fill(challenges / "2", {"main.py": SLEEPS, "args.txt": f"{name}\n", **program})
    fill(challenges / "3", {"main.py": "print(1)\n", **program})
    words = ("solve", str(challenges), "--offline", "--no-sandbox", "--jobs", "1", *(["--json"] if json_wanted else []))
    process = start(tmp_path, home, *words, CODUR_VERIFICATION__TIMEOUT_S="500")
    deadline = time.monotonic() + PATIENCE_S
    while not programs_named(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code_of(number), err.decode()
    assert err.endswith(b"interrupted; 1 of 3 challenges finished\n")
    assert b"Traceback" not in err
    if json_wanted:
        assert [(row["name"], row["status"]) for row in json.loads(out)["results"]] == [("1", "failed")]
    else:
        assert [line.split()[0] for line in out.decode().splitlines()[2::2]] == ["1", "0"]  # the row and the totals
    all_gone(name)


@pytest.mark.parametrize("number", STOPS)
def test_while_a_program_runs(number: signal.Signals, project: Path, home: Path) -> None:
    name = token()
    fill(project, {"main.py": SLEEPS, "expected.txt": "done\n", "args.txt": f"{name}\n"})
    process = start(project, home, "main.py is wrong", CODUR_VERIFICATION__TIMEOUT_S="500")
    appears(project / "started")
    process.send_signal(number)
    ended_well(process, number)
    all_gone(name)


LOADING = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "codur.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

if sys.argv.pop(1) == "ignored":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.meta_path.insert(0, Interrupts())
from codur.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(("how", "code"), [("heard", -signal.SIGINT), ("ignored", 0)])
def test_while_codur_loads(how: str, code: int, project: Path, home: Path) -> None:
    words = [sys.executable, "-c", LOADING, how, "list files"]
    done = subprocess.run(words, cwd=project, env=environment(home), capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr


DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('started', 'w').close()
time.sleep(600)
"""


@pytest.mark.parametrize("again", [False, True])
def test_programs_that_do_not_want_to_end(again: bool, project: Path, home: Path) -> None:
    """They ignore the signals, and leave their session."""
    name = token()
    fill(project, {"main.py": DEAF, "expected.txt": "done\n", "args.txt": f"{name}\n"})
    process = start(project, home, "main.py is wrong", CODUR_VERIFICATION__TIMEOUT_S="500")
    appears(project / "started")
    process.send_signal(signal.SIGINT)
    if again:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err.decode()
    assert b"Traceback" not in err
    all_gone(name)


def test_while_a_repair_is_searched(project: Path, home: Path) -> None:
    name = token()
    program = "import time\ntotal = 0\nfor i in range(10):\n    total = total - i * 3\ntime.sleep(1)\nprint(total)\n"
    fill(project, {"main.py": program, "expected.txt": "977\n", "args.txt": f"{name}\n"})
    process = start(project, home, "main.py is wrong", "--offline", "--json-stream", CODUR_REPAIR__MODE="before_model")
    assert process.stdout is not None
    seen = any(b'"node_entered"' in line and b'"repair"' in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert seen, err.decode()
    assert process.returncode == 130, err.decode()
    all_gone(name)


def test_twice_leaves_at_once(project: Path, home: Path) -> None:
    """The second Ctrl-C does not wait for anything, not even for the first; the session can be gone on with."""
    with GroqServer([EDIT, edit(MEDIAN_ODD_ONLY), hold(edit(MEDIAN_RIGHT)), edit(MEDIAN_RIGHT)]) as server:
        settings_file(home, server.url)
        process = start(project, home, "main.py is wrong")
        assert server.holding.wait(PATIENCE_S)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert b"Traceback" not in err
        (run,) = json.loads(codur("runs", "--json", cwd=project, home=home).out)
        assert run["status"] in {"interrupted", "crashed"}
        server.release()
        resumed = codur("resume", cwd=project, home=home, stdin=b"", before=(), **MODEL)
        assert resumed.code == 0, resumed.err
    assert MEDIAN_RIGHT in contents(project)["main.py"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_stop_that_python_ignores_is_raised_again(name: str) -> None:
    """What a handler raises while a destructor runs is lost; the run would go on."""
    program = f"""
import signal, time
from codur.cli.main import _stopped_by_signals
from codur.session.stop import Stopped

class Ends:
    def __del__(self):
        signal.raise_signal(signal.{name})

try:
    with _stopped_by_signals():
        Ends()
        time.sleep(600)
except Stopped as stop:
    print(stop.exit_code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.stderr) == (f"{code_of(signal.Signals[name])}\n", "")
