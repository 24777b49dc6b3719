"""Nobody's words reach the terminal but through the sanitiser: libraries, warnings, threads, parser, tracebacks."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from codur.ui.guarded_streams import GuardedStream, beneath, guarded
from codur.ui.sanitise import Shown
from codur.ui.stream import SafeStream
from tests.cli.kit import ROOT, environment
from tests.ui.fuzz_sanitise import UNSAFE, fuzz

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e\r"


def test_fuzz() -> None:
    assert fuzz(5_000, seed=20_260_102) == []


def test_what_others_write_is_sanitised_and_what_codur_writes_is_not_again() -> None:
    stream = io.StringIO()
    others = guarded(stream)
    assert others.write("a\x1b") == 2
    others.writelines(["b\r", "c\n"])
    print("d\u202e", file=others)
    assert stream.getvalue() == "a\\x1bb\\rc\nd<U+202E>\n"
    SafeStream(others).put(Shown("\x1b[1mstyled\x1b[0m"))
    assert stream.getvalue().endswith("\x1b[1mstyled\x1b[0m\n")
    assert (beneath(others), beneath(stream)) == (stream, stream)
    assert others.isatty() is False
    assert isinstance(others, GuardedStream)


STRAY = {
    "a warning": "import warnings; warnings.warn(ESCAPE, stacklevel=1)",
    "a warning about a file": "import warnings; warnings.showwarning(Warning(ESCAPE), Warning, ESCAPE, 1, line=ESCAPE)",
    "a logger": "import logging; logging.getLogger('x').error(ESCAPE)",
    "a thread": "import threading; t = threading.Thread(target=exec, args=('raise ValueError(ESCAPE)', globals()))\n"
    "t.start(); t.join()",
    "a finaliser": "class C:\n    def __del__(self): raise ValueError(ESCAPE)\nC()",
    "print": "print(ESCAPE)",
    "an uncaught error": "raise ValueError(ESCAPE)",
}


@pytest.mark.parametrize("name", STRAY)
def test_stray_words_of_the_process(name: str) -> None:
    program = (
        "import sys; from codur.ui.guarded_streams import guarded\n"
        "sys.stdout, sys.stderr = guarded(sys.stdout), guarded(sys.stderr)\n"
        f"ESCAPE = {ESCAPE!r}\n{STRAY[name]}\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
    )
    shown = (done.stdout + done.stderr).decode()
    assert "owned" in shown
    assert not UNSAFE.search(shown)


HOSTILE_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "an option that is none": (f"--{ESCAPE}",),
    "an option's value": ("run", "--timeout", ESCAPE, "x"),
    "a directory": ("run", "-C", ESCAPE, "run main.py"),
    "a settings file": ("run", "--config", ESCAPE, "run main.py"),
    "a task file": ("run", "--file", ESCAPE),
    "a task": ("run", "--offline", f"run {ESCAPE}.py"),
    "an agent": ("run", "--agent", ESCAPE, "fix main.py"),
    "a project to trust": ("trust", ESCAPE),
    "a run": ("show", ESCAPE),
    "a traceback": ("--debug", "trust", ESCAPE),
    "a command that is none": ("config", ESCAPE),
}


@pytest.mark.parametrize("name", HOSTILE_ARGUMENTS)
def test_arguments_are_not_echoed_raw(name: str, tmp_path: Path) -> None:
    done = codur(*HOSTILE_ARGUMENTS[name], cwd=tmp_path)
    assert done
    assert not UNSAFE.search(done)


def test_completion_echoes_nothing_raw(tmp_path: Path) -> None:
    for shell in ("complete_bash", f"complete_{ESCAPE}", ESCAPE):
        done = codur(cwd=tmp_path, _CODUR_COMPLETE=shell, COMP_WORDS=f"codur {ESCAPE}", COMP_CWORD="1")
        assert not UNSAFE.search(done)


def test_names_and_contents_of_a_project_are_not_echoed_raw(tmp_path: Path) -> None:
    work = tmp_path / "w"
    work.mkdir()
    (work / f"a{ESCAPE}.py").write_text(f"print({ESCAPE!r})\n'{ESCAPE}' is 1\n")
    (work / "main.py").write_text(f"import sys\nsys.stdout.write({ESCAPE!r})\nraise ValueError({ESCAPE!r})\n")
    (work / "codur.yaml").write_text(f"{ESCAPE!r}: 1\n")
    said = codur("config", "check", cwd=work)
    assert "codur.yaml:1" in said
    (work / "codur.yaml").unlink()
    for words in (["run main.py"], ["list files"], ["git status"], ["read main.py"], ["search for owned"]):
        said += codur("run", "--offline", "--verbose", *words, cwd=work)
    assert "owned" in said
    assert not UNSAFE.search(said)


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_a_simple_terminal_gets_no_colours(variables: dict[str, str], tmp_path: Path) -> None:
    work = tmp_path / "w"
    work.mkdir()
    (work / "main.py").write_text("print('hello')\n")
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "codur", "run", "--offline", "run main.py"],
        cwd=work,
        env=environment(tmp_path / "home", PYTHONPATH=str(ROOT), **variables),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        seen = b""
        while chunk := _read(controller):
            seen += chunk
        process.wait()
    os.close(controller)
    assert b"hello" in seen
    if "NO_COLOR" in variables:
        assert b"\x1b[3" not in seen
    else:
        assert b"\x1b" not in seen


def _read(descriptor: int) -> bytes:
    """What the terminal shows next; nothing once its other end is closed (Linux says EIO)."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def codur(*words: str, cwd: Path, **variables: str) -> str:
    """All that a command line prints."""
    done = subprocess.run(
        [sys.executable, "-m", "codur", *words],
        cwd=cwd,
        env=environment(cwd.parent / "home", PYTHONPATH=str(ROOT), **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode()
