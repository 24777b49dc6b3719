"""Under each back end nothing of a program outlives it, whatever ends it, and its limits bound it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from tests.adversarial.backends import AGAIN
from tests.sandbox.contained import SOURCE
from tests.support.patience import until_begun

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="for Linux"),
    pytest.mark.parametrize("back_end", dict.fromkeys((*AGAIN, "none"))),
]

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
LONG = 60.0
DAEMON = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]], start_new_session=True)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: open("asked", "w").close())
open("ready", "w").close()
while True: time.sleep(0.01)
"""


def launcher(back_end: str, cancel: CancelToken | None = None, **bounds: int) -> Launcher:
    settings = SandboxSettings(backend=back_end, **bounds)  # type: ignore[arg-type]
    return Launcher(ENVIRON, sandbox=settings, cancel=cancel)


def mark(tmp_path: Path) -> str:
    return f"mark-{os.getpid()}-{tmp_path.name}"


def run(back_end: str, code: str, tmp_path: Path, timeout_s: float = LONG, **bounds: int) -> ProcessResult:
    with launcher(back_end, None, **bounds) as programs:
        return programs.run([sys.executable, "-c", code, mark(tmp_path)], cwd=tmp_path, timeout_s=timeout_s)


def left(tmp_path: Path, *, patience: int = 500) -> list[str]:
    """Processes with the mark, once they had time to go."""
    found: list[str] = []
    for _ in range(patience):
        found = [place.parent.name for place in Path("/proc").glob("[0-9]*/cmdline") if _named(place, mark(tmp_path))]
        if not found:
            break
        time.sleep(0.01)
    return found


def _named(place: Path, name: str) -> bool:
    try:
        return name.encode() in place.read_bytes() and place.parent.name != str(os.getpid())
    except OSError:
        return False


def test_a_daemon_ends_with_the_program(back_end: str, tmp_path: Path) -> None:
    assert run(back_end, DAEMON, tmp_path).exit_status == 0
    assert left(tmp_path) == []


def test_one_that_ignores_its_end_is_asked_and_then_killed(back_end: str, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    done = until_begun(
        lambda limit: run(back_end, DAEMON + STUBBORN, tmp_path, timeout_s=limit), lambda _: asked.exists(), 3.0
    )
    assert done.timed_out
    assert asked.exists()
    assert left(tmp_path) == []


def test_one_that_is_cancelled_leaves_nothing(back_end: str, tmp_path: Path) -> None:
    token = CancelToken()

    def cancel() -> None:
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        token.cancel()

    waiting = threading.Thread(target=cancel, daemon=True)
    waiting.start()
    with launcher(back_end, token) as programs:
        words = [sys.executable, "-c", DAEMON + STUBBORN, mark(tmp_path)]
        assert programs.run(words, cwd=tmp_path, timeout_s=LONG).cancelled
    assert left(tmp_path) == []


def test_the_first_process_is_not_killed_from_inside(back_end: str, tmp_path: Path) -> None:
    if back_end not in ("namespaces", "bubblewrap"):
        pytest.skip("the first process is the machine's")
    done = run(back_end, "import os; os.getpid() < 10 and os.kill(1, 9); print('alive')", tmp_path)
    assert (done.exit_status, done.stdout) == (0, "alive\n")
    assert run(back_end, "import os; os.kill(os.getpid(), 9)", tmp_path).exit_status == -signal.SIGKILL
    assert left(tmp_path) == []


def test_processes_and_memory_are_bounded(back_end: str, tmp_path: Path) -> None:
    forks = (
        "import os, time\n"
        "try:\n"
        "    for _ in range(100):\n"
        "        if os.fork() == 0: time.sleep(600)\n"
        "except OSError: raise SystemExit(3)\n"
        "time.sleep(600)\n"
    )
    done = run(back_end, forks, tmp_path, processes=20)
    assert done.limit == "processes" or done.exit_status == 3
    assert left(tmp_path) == []
    done = run(back_end, "import time; x = bytearray(400_000_000); time.sleep(600)", tmp_path, memory_mb=128)
    assert done.limit == "memory" or "MemoryError" in done.stderr
    assert left(tmp_path) == []


def test_when_the_one_who_started_it_is_killed_nothing_is_left(back_end: str, tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})
from pathlib import Path
from tests.sandbox.test_ends import DAEMON, STUBBORN, launcher
with launcher({back_end!r}) as programs:
    words = [sys.executable, "-c", DAEMON + STUBBORN, {mark(tmp_path)!r}]
    programs.run(words, cwd=Path({str(tmp_path)!r}), timeout_s=600)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path) as runner:
        while not (tmp_path / "ready").exists() and runner.poll() is None:
            time.sleep(0.01)
        assert left(tmp_path, patience=1)
        runner.kill()
    assert left(tmp_path) == []


def test_no_zombie_is_left(back_end: str, tmp_path: Path) -> None:
    with launcher(back_end) as programs:
        for _ in range(5):
            words = ["sh", "-c", "(sleep 0.01 &) ; true"]
            assert programs.run(words, cwd=tmp_path, timeout_s=LONG).exit_status == 0
        for _ in range(500):
            zombies = [pid for pid, state in _below(os.getpid()) if state == "Z"]
            if not zombies:
                break
            time.sleep(0.01)
    assert zombies == []


def _below(root: int) -> list[tuple[int, str]]:
    """The processes below one, with their states."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append((int(place.parent.name), fields[0]))
    found, waiting = [], [root]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += [pid for pid, _ in below]
    return found
