"""What Landlock and the filter of system calls keep a program from; each attack also runs uncontained, and succeeds."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.errors import CodurError
from codur.sandbox.backend import Confined
from codur.sandbox.backends.landlock import LandlockBackend, landlock_abi
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from codur.sandbox.program_policy import FileRules, Limits
from codur.sandbox.starter.starter_client import Starter

pytestmark = pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")

LONG = 60.0
SECRET = "canary-5d2f"


@dataclass(frozen=True)
class Place:
    """A workspace, and what is outside it."""

    workspace: Path
    outside: Path
    home: Path
    launchers: Mapping[str, Launcher]

    def run(
        self, backend: str, code: str, *words: object, root: Path | None = None, writable: Sequence[Path] = ()
    ) -> ProcessResult:
        """Run a Python program that has the words as its arguments."""
        return self.launchers[backend].run(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=self.workspace,
            timeout_s=LONG,
            env={"HOME": str(self.home)},
            root=root,
            writable=writable,
        )


@pytest.fixture(scope="module")
def launchers() -> Iterator[dict[str, Launcher]]:
    """With Landlock, and without: the control that shows that an attack works."""
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    with (
        Launcher(environ, sandbox=SandboxSettings(backend="none")) as none,
        Launcher(environ, sandbox=SandboxSettings(backend="landlock")) as landlock,
    ):
        yield {"none": none, "landlock": landlock}


@pytest.fixture
def place(tmp_path: Path, launchers: dict[str, Launcher]) -> Place:
    for name in ("workspace", "outside", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside" / "secret").write_text(SECRET)
    (tmp_path / "outside" / "directory").mkdir()
    (tmp_path / "home" / ".netrc").write_text(SECRET)
    return Place(tmp_path / "workspace", tmp_path / "outside", tmp_path / "home", launchers)


def tree(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): path.read_text() if path.is_file() else "" for path in directory.rglob("*")
    }


CHANGES = {
    "write": "open(sys.argv[1] + '/secret', 'w').write('x')",
    "append": "open(sys.argv[1] + '/secret', 'a').write('x')",
    "truncate": "os.truncate(sys.argv[1] + '/secret', 0)",
    "create": "open(sys.argv[1] + '/new', 'w')",
    "unlink": "os.unlink(sys.argv[1] + '/secret')",
    "rename away": "os.rename(sys.argv[1] + '/secret', 'mine')",
    "rename over": "open('mine', 'w').write('x'); os.rename('mine', sys.argv[1] + '/secret')",
    "directory": "os.mkdir(sys.argv[1] + '/new')",
    "remove directory": "os.rmdir(sys.argv[1] + '/directory')",
    "fifo": "os.mkfifo(sys.argv[1] + '/new')",
    "symbolic link": "os.symlink('x', sys.argv[1] + '/new')",
    "hard link out": "open('mine', 'w').write('x'); os.link('mine', sys.argv[1] + '/new')",
    "through a link": "os.symlink(sys.argv[1], 'link'); open('link/secret', 'w').write('x')",
    "from a child": "subprocess.run(['sh', '-c', 'echo x > ' + sys.argv[1] + '/secret'], check=True)",
    "from a daemon": "pid = os.fork()\nif not pid:\n os.setsid(); open(sys.argv[1] + '/secret', 'w')\nelse: os.wait()",
}


@pytest.mark.parametrize("attack", CHANGES)
@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_changes_outside(backend: str, attack: str, place: Place) -> None:
    before = tree(place.outside)
    place.run(backend, f"import os, subprocess, sys\n{CHANGES[attack]}", place.outside)
    assert (tree(place.outside) == before) == (backend == "landlock")


READS = {
    "read": "print(open(sys.argv[1] + '/secret').read())",
    "link": "os.symlink(sys.argv[1] + '/secret', 'link'); print(open('link').read())",
    "hard link": "os.link(sys.argv[1] + '/secret', 'mine'); print(open('mine').read())",
    "root link": "print(open('/proc/self/root' + sys.argv[1] + '/secret').read())",
    "shell": "print(subprocess.run(['cat', sys.argv[1] + '/secret'], stdout=-1, text=True).stdout)",
    "home": "print(open(sys.argv[2] + '/.netrc').read())",
    "rename in": "os.rename(sys.argv[1] + '/secret', 'mine'); print(open('mine').read())",
}


@pytest.mark.parametrize("attack", READS)
@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_reads_outside(backend: str, attack: str, place: Place) -> None:
    result = place.run(backend, f"import os, subprocess, sys\n{READS[attack]}", place.outside, place.home)
    assert (SECRET in result.stdout) == (backend == "none")


@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_names_outside(backend: str, place: Place) -> None:
    code = "import os, sys\nprint(os.listdir(sys.argv[1]), os.listdir('/proc'))"
    assert (place.run(backend, code, place.outside).exit_status == 0) == (backend == "none")
    code = "import os\nprint(os.listdir('/proc'))"
    assert (place.run(backend, code).exit_status == 0) == (backend == "none")


def test_home_is_an_empty_one(place: Place) -> None:
    code = "import os, pathlib\nhome = pathlib.Path.home()\nprint(list(home.iterdir()), (home / 'x').write_text('x'))"
    assert place.run("landlock", code).stdout == "[] 1\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read these anyway")
@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_passwords_of_the_system(backend: str, place: Place) -> None:
    assert (place.run(backend, "print(len(open('/etc/shadow').read()))").exit_status == 0) == (backend == "none")


# --- other processes --------------------------------------------------------------------------------------------------


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[tuple[dict[str, str], dict[str, socket.socket]]]:
    """Sockets that only take what comes, and how to reach them."""
    path, abstract = str(tmp_path / "socket"), f"\0codur-test-{os.getpid()}"
    sockets = {
        "tcp": socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "udp": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "unix": socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        "abstract": socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    }
    for name, address in (("tcp", ("127.0.0.1", 0)), ("udp", ("127.0.0.1", 0)), ("unix", path), ("abstract", abstract)):
        sockets[name].bind(address)
        sockets[name].setblocking(False)
    sockets["tcp"].listen()
    sockets["unix"].listen()
    attacks = {
        "tcp": f"s = socket.create_connection({sockets['tcp'].getsockname()!r})",
        "udp": f"s = socket.socket(2, 2); s.sendto(b'x', {sockets['udp'].getsockname()!r})",
        "unix": f"s = socket.socket(1, 1); s.connect({path!r})",
        "abstract": f"s = socket.socket(1, 2); s.sendto(b'x', {abstract!r})",
    }
    yield attacks, sockets
    for each in sockets.values():
        each.close()


def reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("way", ["tcp", "udp", "unix", "abstract"])
@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_connections(
    backend: str, way: str, place: Place, listeners: tuple[dict[str, str], dict[str, socket.socket]]
) -> None:
    attacks, sockets = listeners
    place.run(backend, f"import socket\n{attacks[way]}")
    assert reached(sockets[way]) == (backend == "none")


@pytest.mark.parametrize("backend", ["none", "landlock"])
def test_signals(backend: str, place: Place) -> None:
    if landlock_abi() < 6:
        pytest.skip("this kernel's Landlock does not keep signals in")
    victim = subprocess.Popen(["sleep", "60"])
    try:
        place.run(backend, f"import os; os.kill({victim.pid}, {signal.SIGKILL:d})")
        if backend == "landlock":
            assert victim.poll() is None
        else:
            assert victim.wait(timeout=300) == -signal.SIGKILL
    finally:
        victim.kill()
        victim.wait()


def test_privileges_are_gone(place: Place) -> None:
    result = place.run("landlock", "print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t") for line in result.stdout.splitlines() if ":\t" in line)
    assert (int(fields["CapEff"], 16), int(fields["CapPrm"], 16), fields["NoNewPrivs"]) == (0, 0, "1")
    assert fields["Seccomp"] == "2"


# --- what programs may do ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "open('a', 'w').write('x'); os.mkdir('d'); os.rename('a', 'd/b'); print(open('d/b').read())",
        "os.makedirs('d/e'); open('d/e/f', 'w').close(); shutil.rmtree('d'); print(os.listdir())",
        "with tempfile.NamedTemporaryFile() as file: print(file.write(b'x'))",
        "print(subprocess.run(['sh', '-c', 'cat /etc/passwd | wc -l'], check=True).returncode)",
        "thread = threading.Thread(target=print, args=('x',)); thread.start(); thread.join()",
        "async def main(): print(await asyncio.sleep(0, 'x'))\nasyncio.run(main())",
        "with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, 2]))",
        "print(os.cpu_count(), time.localtime().tm_year, os.urandom(1), open(os.devnull).read())",
        "print(ssl.create_default_context(), sqlite3.connect('x.db').execute('create table t (a)'))",
    ],
)
def test_useful_programs(code: str, place: Place) -> None:
    modules = "asyncio, multiprocessing, os, shutil, sqlite3, ssl, subprocess, sys, tempfile, threading, time"
    result = place.run("landlock", f"import {modules}\n{code}")
    assert (result.exit_status, result.stderr) == (0, "")
    assert result.stdout


def test_more_places(place: Place) -> None:
    code = "import sys\nopen(sys.argv[1] + '/new', 'w').write('x')"
    assert place.run("landlock", code, place.outside, writable=[place.outside]).exit_status == 0
    assert place.run("landlock", code, place.workspace, root=Path("/")).exit_status == 1


def test_program_that_must_not_be_executed(place: Place) -> None:
    (place.outside / "tool").write_text("#!/bin/sh\necho ran\n")
    (place.outside / "tool").chmod(0o755)
    code = "import subprocess, sys\nprint(subprocess.run([sys.argv[1] + '/tool'], stdout=-1, text=True).stdout)"
    assert "ran" in place.run("none", code, place.outside).stdout
    assert "ran" not in place.run("landlock", code, place.outside).stdout


def test_rules_that_cannot_be_applied_start_nothing(tmp_path: Path) -> None:
    confined = Confined(
        argv=("touch", "made"),
        env={"PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        landlock=FileRules(common=(), own=((b"/", 0),)),  # a rule without a right is an error
    )
    starter = Starter()
    program = starter.start(confined, Limits(), has_input=False)
    select.select([program], [], [])
    with pytest.raises(CodurError, match="could not be contained"):
        program.poll()
    program.close()
    starter.close()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_claimed_that_is_not_so() -> None:
    backend = LandlockBackend(loopback=True)
    assert not backend.hides
    assert any("hidden" in gap for gap in backend.gaps)
    assert any("signals" in gap for gap in backend.gaps) == (landlock_abi() < 6)
