"""What a program reaches of other programs of its user: memory, queues, priorities, a look at what they do to files.

Each attack also runs uncontained: it must succeed then. All that is attacked is made here.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from tests.adversarial.backends import AGAIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux")

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
PRIVATE = 0
REMOVE = 0
LIBC = ctypes.CDLL(None, use_errno=True)

PROGRAM = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
name, queue, memory, victim, directory, kind = sys.argv[1:]
def reached(result):
    if result < 0: raise OSError(ctypes.get_errno(), "")
def changed(call, *words):
    call(int(victim), *words)
{
    "shared memory": lambda: open("/dev/shm" + name).read(),
    "a message queue": lambda: reached(libc.mq_open(name.encode(), os.O_RDONLY)),
    "a System V queue": lambda: reached(libc.msgctl(int(queue), 2, ctypes.create_string_buffer(512))),
    "System V memory": lambda: reached(libc.shmctl(int(memory), 2, ctypes.create_string_buffer(512))),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, int(victim), 5),
    "affinity": lambda: changed(os.sched_setaffinity, {min(os.sched_getaffinity(0))}),
    "scheduling": lambda: changed(os.sched_setscheduler, os.SCHED_BATCH, os.sched_param(0)),
    "watching": lambda: reached(libc.inotify_add_watch(libc.inotify_init(), directory.encode(), 0x100)),
}[kind]()
"""
KINDS = (
    "shared memory",
    "a message queue",
    "a System V queue",
    "System V memory",
    "priority",
    "affinity",
    "scheduling",
    "watching",
)
NOT_HELD = {("landlock", "shared memory")}
"""As `codur doctor` says."""


@dataclass(frozen=True)
class Victims:
    """What belongs to other programs: a name (of memory and of a queue), two numbers, a process, a directory."""

    words: tuple[str, ...]


@pytest.fixture
def victims(tmp_path: Path) -> Iterator[Victims]:
    name = f"/codur-test-{os.getpid()}-{os.urandom(4).hex()}"
    watched = tmp_path / "watched"
    watched.mkdir()
    with ExitStack() as stack:
        Path(f"/dev/shm{name}").write_text("canary")
        stack.callback(Path(f"/dev/shm{name}").unlink)
        named = LIBC.mq_open(name.encode(), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, None)
        stack.callback(LIBC.mq_unlink, name.encode())
        stack.callback(os.close, named)
        queue = LIBC.msgget(PRIVATE, 0o600)
        stack.callback(LIBC.msgctl, queue, REMOVE, None)
        memory = LIBC.shmget(PRIVATE, ctypes.c_size_t(4096), 0o600)
        stack.callback(LIBC.shmctl, memory, REMOVE, None)
        victim = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(victim.kill)
        assert min(named, queue, memory) >= 0
        yield Victims((name, str(queue), str(memory), str(victim.pid), str(watched)))


@pytest.mark.parametrize("back_end", [*AGAIN, "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_belongs_to_other_programs(kind: str, back_end: str, victims: Victims, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    settings = SandboxSettings(backend=back_end)  # type: ignore[arg-type]
    with Launcher(ENVIRON, sandbox=settings) as launcher:
        done = launcher.run(
            [sys.executable, "-c", PROGRAM, *victims.words, kind], cwd=tmp_path / "work", timeout_s=60.0
        )
    reached = back_end == "none" or (back_end, kind) in NOT_HELD
    assert done.exit_status == (0 if reached else 1), done.stderr
    if not reached:
        assert "OSError" in done.stderr or "Error: [Errno" in done.stderr


@pytest.mark.parametrize("back_end", AGAIN)
def test_what_a_program_keeps_in_shared_memory_is_gone_at_its_end(back_end: str, tmp_path: Path) -> None:
    place = Path(f"/dev/shm/codur-test-{os.getpid()}-{os.urandom(4).hex()}")
    settings = SandboxSettings(backend=back_end)  # type: ignore[arg-type]
    with Launcher(ENVIRON, sandbox=settings) as launcher:
        code = "import sys; open(sys.argv[1], 'w').write('x')"
        done = launcher.run([sys.executable, "-c", code, str(place)], cwd=tmp_path, timeout_s=60.0)
    stays = place.exists()
    place.unlink(missing_ok=True)
    assert done.exit_status == 0
    assert stays == (back_end == "landlock")


@pytest.mark.parametrize("back_end", AGAIN)
def test_a_program_may_change_its_own_priority(back_end: str, tmp_path: Path) -> None:
    settings = SandboxSettings(backend=back_end)  # type: ignore[arg-type]
    code = "import os; os.nice(1); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.setpriority(0, 0, 19)"
    with Launcher(ENVIRON, sandbox=settings) as launcher:
        done = launcher.run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=60.0)
    assert done.exit_status == 0, done.stderr
