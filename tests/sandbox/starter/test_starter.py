"""Programs end with all that they started, are bound as a whole, and leave nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import structs

from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from tests.support.patience import until_begun

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the process starter needs Linux")

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
LONG = 60.0
NO_CONTAINMENT = SandboxSettings(backend="none")
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        with open("daemon.new", "w") as stream:
            stream.write(str(os.getpid()))
        os.rename("daemon.new", "daemon")
        time.sleep(120)
    os._exit(0)
while not os.path.exists("daemon"):
    time.sleep(0.01)
"""
"""Leaves a process in a session of its own that holds no pipe; ends when that one runs."""
WAITS_FOR_CHILDREN = """
import os, time
def children(count, work):
    for _ in range(count):
        if os.fork() == 0:
            work()
            time.sleep(30)
            os._exit(0)
    time.sleep(30)
"""
PARENT = """
import sys
from pathlib import Path
from codur.sandbox.launcher import Launcher
launcher = Launcher({"PATH": "/usr/bin:/bin"})
launcher.run([sys.executable, "-c", sys.argv[1]], cwd=Path(sys.argv[2]), timeout_s=100.0)
"""


def launcher(*, memory_mb: int = 2048, processes: int = 256, file_mb: int = 256) -> Launcher:
    settings = structs.replace(NO_CONTAINMENT, memory_mb=memory_mb, processes=processes, file_mb=file_mb)
    return Launcher(ENVIRON, sandbox=settings)


def python(code: str, cwd: Path, *, used: Launcher | None = None, timeout_s: float = LONG) -> ProcessResult:
    return (used or launcher()).run([sys.executable, "-c", code], cwd=cwd, timeout_s=timeout_s)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def alive(pid: int) -> bool:
    return state(pid) not in {"gone", "Z", "X"}


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true within some seconds."""
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def below(pid: int) -> set[int]:
    """All processes that descend from one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found, new = set[int](), {pid}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in found} - found
    return found - {pid}


# --- nothing outlives a program ---------------------------------------------------------------------------------------


def test_daemon_dies_with_its_program(tmp_path: Path) -> None:
    assert python(DAEMON, tmp_path).exit_status == 0
    assert not alive(int((tmp_path / "daemon").read_text()))


def test_daemon_outlives_a_program_that_is_started_directly(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DAEMON], cwd=tmp_path, check=True)
    pid = int((tmp_path / "daemon").read_text())
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("state_of_child", ["ignoring", "stopped"])
def test_signals_do_not_save_a_program(state_of_child: str, tmp_path: Path) -> None:
    code = "import os, signal, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n" + DAEMON
    code += "os.kill(os.getpid(), signal.SIGSTOP)\n" if state_of_child == "stopped" else "time.sleep(100)\n"
    daemon = tmp_path / "daemon"
    result = until_begun(lambda limit: python(code, tmp_path, timeout_s=limit), lambda _: daemon.exists(), 1.0)
    assert (result.timed_out, result.exit_status) == (True, None)
    assert not alive(int(daemon.read_text()))


def test_nothing_outlives_a_killed_parent(tmp_path: Path) -> None:
    code = DAEMON + "time.sleep(100)\n"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, code, str(tmp_path)])
    assert eventually((tmp_path / "daemon").exists)
    family = below(parent.pid)
    assert int((tmp_path / "daemon").read_text()) in family
    parent.kill()
    parent.wait()
    assert eventually(lambda: not any(map(alive, family)))


def test_what_a_program_leaves_dies_though_it_killed_its_supervisor(tmp_path: Path) -> None:
    result = python(DAEMON + "os.kill(os.getppid(), 9)\ntime.sleep(100)\n", tmp_path)
    assert result.exit_status == -9
    assert eventually(lambda: not alive(int((tmp_path / "daemon").read_text())))


def test_a_killed_helper_is_replaced(tmp_path: Path) -> None:
    used = launcher()
    code = "import os; print(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"
    helper = int(python(code, tmp_path, used=used).stdout)
    os.kill(helper, signal.SIGKILL)
    assert eventually(lambda: not alive(helper))
    assert eventually(lambda: python("print(6 * 7)", tmp_path, used=used).stdout == "42\n")


def test_a_helper_that_was_made_ready_starts_the_first_program(tmp_path: Path) -> None:
    before = below(os.getpid())
    with launcher() as used:
        used.prepare()
        used.prepare()
        (helper,) = below(os.getpid()) - before
        assert python("print(6 * 7)", tmp_path, used=used).stdout == "42\n"
        assert alive(helper)
    assert eventually(lambda: not below(os.getpid()) - before)


def test_a_helper_that_was_killed_before_the_first_program_is_replaced(tmp_path: Path) -> None:
    before = below(os.getpid())
    with launcher() as used:
        used.prepare()
        (helper,) = below(os.getpid()) - before
        os.kill(helper, signal.SIGKILL)
        assert eventually(lambda: not alive(helper))
        assert python("print(6 * 7)", tmp_path, used=used).stdout == "42\n"
    assert eventually(lambda: not below(os.getpid()) - before)


def test_a_helper_that_was_made_ready_and_not_used_ends(tmp_path: Path) -> None:
    before = below(os.getpid())
    with launcher() as used:
        used.prepare()
    assert eventually(lambda: not below(os.getpid()) - before)


def test_something_is_done_while_a_back_end_is_tried_and_only_then(tmp_path: Path) -> None:
    done: list[str] = []
    for _ in range(2):
        with Launcher(
            ENVIRON, sandbox=SandboxSettings(), state_cache=tmp_path, meanwhile=lambda: done.append("loaded")
        ) as used:
            assert used.name
    tried = json.loads((tmp_path / "sandbox.json").read_text())["tried"]
    assert 1 <= len(done) <= len(tried)


def test_closing_ends_the_helper_and_a_later_program_starts_another(tmp_path: Path) -> None:
    before = below(os.getpid())
    with launcher() as used:
        python("", tmp_path, used=used)
        assert below(os.getpid()) - before
    assert eventually(lambda: not below(os.getpid()) - before)
    assert python("print(1)", tmp_path, used=used).stdout == "1\n"


def test_programs_in_a_row_leave_nothing(tmp_path: Path) -> None:
    base = tmp_path / "temporary"
    base.mkdir()
    used = Launcher({**ENVIRON, "TMPDIR": str(base)}, sandbox=NO_CONTAINMENT)
    used.run(["true"], cwd=tmp_path, timeout_s=LONG)
    descriptors = sorted(Path("/proc/self/fd").iterdir())
    before = below(os.getpid())
    for number in range(300):
        command = ("true", "sleep 60 >/dev/null 2>&1 & exit 3", "touch $TMPDIR/x; setsid sleep 60 >/dev/null 2>&1 &")[
            number % 3
        ]
        result = used.run(["sh", "-c", command], cwd=tmp_path, timeout_s=LONG, max_output_bytes=10)
        assert result.exit_status == (3 if number % 3 == 1 else 0)
    assert sorted(Path("/proc/self/fd").iterdir()) == descriptors
    assert list(base.iterdir()) == []
    eventually(lambda: len(below(os.getpid()) - before) <= 4)
    left = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in below(os.getpid()) - before]
    assert len(left) <= 4, left  # supervisors, each with the next program ready


def test_one_launcher_serves_many_threads(tmp_path: Path) -> None:
    used = launcher()

    def square(number: int) -> str:
        script = f"read x; echo $((x * x)); exit {number % 7}"
        result = used.run(["sh", "-c", script], cwd=tmp_path, timeout_s=LONG, stdin=f"{number}\n".encode())
        assert result.exit_status == number % 7
        return result.stdout

    with ThreadPoolExecutor(max_workers=12) as pool:
        assert list(pool.map(square, range(120))) == [f"{number * number}\n" for number in range(120)]


# --- bounds of the whole tree -----------------------------------------------------------------------------------------


def test_memory_of_one_process(tmp_path: Path) -> None:
    code = "import time\nblocks = [b'x' * 1_000_000 for _ in range(300)]\ntime.sleep(30)"
    result = python(code, tmp_path, used=launcher(memory_mb=100))
    assert (result.exit_status, result.limit, result.timed_out) == (None, "memory", False)


def test_memory_of_many_processes(tmp_path: Path) -> None:
    code = WAITS_FOR_CHILDREN + "children(6, lambda: globals().update(block=b'x' * 30_000_000))"
    assert python(code, tmp_path, used=launcher(memory_mb=120)).limit == "memory"


def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    code = "import os, time\nblock = b'x' * 60_000_000\n"
    code += "for _ in range(4):\n if os.fork() == 0: time.sleep(1); os._exit(0)\n"
    code += "for _ in range(4): os.wait()\nprint('done')"
    result = python(code, tmp_path, used=launcher(memory_mb=180))
    assert (result.stdout, result.limit) == ("done\n", "")


def test_number_of_processes(tmp_path: Path) -> None:
    result = python(WAITS_FOR_CHILDREN + "children(40, lambda: None)", tmp_path, used=launcher(processes=20))
    assert (result.exit_status, result.limit) == (None, "processes")


def test_threads_count_as_processes(tmp_path: Path) -> None:
    code = "import threading, time\nfor _ in range(40): threading.Thread(target=time.sleep, args=(30,)).start()"
    assert python(code, tmp_path, used=launcher(processes=20)).limit == "processes"


def test_fewer_processes_are_left_alone(tmp_path: Path) -> None:
    code = "import os, time\nfor _ in range(10):\n if os.fork() == 0: time.sleep(0.3); os._exit(0)\n"
    code += "for _ in range(10): os.wait()\nprint('done')"
    assert python(code, tmp_path, used=launcher(processes=20)).stdout == "done\n"


def test_fork_bomb(tmp_path: Path) -> None:
    before = below(os.getpid())
    with launcher(processes=64) as used:  # 512 processes at most, which end by themselves
        result = python("import os, time\nfor _ in range(9): os.fork()\ntime.sleep(30)", tmp_path, used=used)
    assert result.limit == "processes"
    assert eventually(lambda: not below(os.getpid()) - before)


def test_endless_output_is_a_limit(tmp_path: Path) -> None:
    result = launcher().run(["yes"], cwd=tmp_path, timeout_s=LONG)
    assert (result.limit, result.flooded, result.exit_status) == ("output", True, None)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open('big', 'wb').write(bytes(3_000_000))", "File too large"),
        ("import os\nwhile True: os.open('/dev/null', 0)", "Too many open files"),
    ],
)
def test_files(code: str, error: str, tmp_path: Path) -> None:
    result = python(code, tmp_path, used=launcher(file_mb=1))
    assert result.exit_status == 1
    assert error in result.stderr


# --- what a program starts with ---------------------------------------------------------------------------------------


def test_no_signal_is_ignored_or_blocked(tmp_path: Path) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        result = launcher().run(["cat", "/proc/self/status"], cwd=tmp_path, timeout_s=LONG)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    fields = dict(line.split(":\t") for line in result.stdout.splitlines() if line.startswith("Sig"))
    assert {_without_libc(fields["SigBlk"]), _without_libc(fields["SigIgn"])} == {0}


def _without_libc(signals: str) -> int:
    """A set of signals but for 32 and 33: glibc uses them itself, blocked or not."""
    return int(signals, 16) & ~(0b11 << 31)


def test_only_the_standard_streams_are_open(tmp_path: Path) -> None:
    result = launcher().run(["ls", "/proc/self/fd"], cwd=tmp_path, timeout_s=LONG, stdin=b"x")
    assert result.stdout.split() == ["0", "1", "2", "3"]  # the last is the listing's own


def test_scripts_and_their_errors(tmp_path: Path) -> None:
    (tmp_path / "good").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "lost").write_text("#!/no/such/interpreter\n")
    (tmp_path / "odd").write_text("no first line\n")
    for name in ("good", "lost", "odd"):
        (tmp_path / name).chmod(0o755)
    results = [launcher().run([f"./{name}"], cwd=tmp_path, timeout_s=LONG) for name in ("good", "lost", "odd")]
    assert [(each.started, each.exit_status) for each in results] == [(True, 0), (False, 127), (False, 126)]
    assert results[0].stdout == "ran\n"
