"""Programs talk to themselves through sockets, and to nothing else; each attack also runs uncontained, and succeeds."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.backends.landlock import LandlockBackend
from codur.sandbox.launcher import Launcher
from codur.sandbox.program_policy import Policy
from tests.adversarial.backends import AGAIN
from tests.sandbox.contained import ORDINARY, SOURCE, SYSTEM_PYTHON, ordinary_user_missing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux")

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
LONG = 60.0
BACKENDS = ("none", *(name for name in AGAIN if name != "seatbelt"))

MEETING = """
import socket, subprocess, sys
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.socket(family)
    server.bind((address, 0))
    server.listen()
    code = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2]))).sendall(b'tcp')"
    child = subprocess.Popen([sys.executable, "-c", code, address, str(server.getsockname()[1])])
    print(server.accept()[0].recv(9), child.wait())
    one = socket.socket(family, socket.SOCK_DGRAM)
    one.bind((address, 0))
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"udp", one.getsockname())
    print(one.recv(9))
"""
FRAMED = f"""
import contextlib, io, struct
with contextlib.redirect_stdout(io.StringIO()) as said:
    exec({MEETING!r})
data = said.getvalue().encode()
sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
"""
LISTENING = """
import struct, sys, socket
server = socket.create_server((sys.argv[1], 0))
data = str(server.getsockname()[1]).encode()
sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
sys.stdout.buffer.flush()
sys.stdin.read()
"""
MET = "b'tcp' 0\nb'udp'\n" * 2

AS_ANOTHER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
with Launcher({"PATH": "/usr/bin:/bin"}, sandbox=SandboxSettings(backend=sys.argv[2])) as launcher:
    with launcher.temporary_directory() as place:
        done = launcher.run([sys.executable, "-c", sys.argv[3], *sys.argv[4:]], cwd=place, timeout_s=60)
    print(json.dumps([launcher.has_loopback, done.stdout, done.stderr]))
"""


@pytest.fixture(scope="module")
def launchers() -> Iterator[dict[str, Launcher]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(Launcher(ENVIRON, sandbox=SandboxSettings(backend=name)))  # type: ignore[arg-type]
            for name in BACKENDS
        }


def listening(address: str) -> list[str]:
    """A program that says at which port of the address it listens."""
    return [sys.executable, "-c", LISTENING, address]


def as_another(backend: str, code: str, *words: object) -> tuple[bool, str, str]:
    """Run a program as an ordinary user: whether there is a loopback, and its outputs."""
    if missing := ordinary_user_missing():
        pytest.skip(missing)
    who = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", "--"]
    argv = [*who, SYSTEM_PYTHON, "-B", "-c", AS_ANOTHER, str(SOURCE), backend, code, *map(str, words)]
    done = subprocess.run(argv, cwd="/", env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    has_loopback, out, err = json.loads(done.stdout)
    return has_loopback, out, err


# --- among themselves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_program_and_its_children_meet(backend: str, launchers: dict[str, Launcher], tmp_path: Path) -> None:
    done = launchers[backend].run([sys.executable, "-c", MEETING], cwd=tmp_path, timeout_s=LONG)
    assert (done.stdout == MET) == launchers[backend].has_loopback, done.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_program_that_is_talked_to_meets_its_children(
    backend: str, launchers: dict[str, Launcher], tmp_path: Path
) -> None:
    with launchers[backend].open_channel([sys.executable, "-c", FRAMED], cwd=tmp_path, cpu_s=LONG) as channel:
        assert (channel.receive(LONG) == MET.encode()) == launchers[backend].has_loopback, channel.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_ordinary_user_s_programs_meet_too_and_stay_that_user_s(backend: str) -> None:
    code = (
        f"{MEETING}\nimport os\nprint(os.getuid(), os.getgid())\nopen('own', 'w').close(); print(os.stat('own').st_uid)"
    )
    has_loopback, out, err = as_another(backend, code)
    assert (out == f"{MET}{ORDINARY} {ORDINARY}\n{ORDINARY}\n") == has_loopback, err


def test_programs_of_two_starts_do_not_meet(launchers: dict[str, Launcher], tmp_path: Path) -> None:
    connects = "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])), 30)\nprint('met')"
    for backend in BACKENDS:
        with launchers[backend].open_channel(listening("127.0.0.1"), cwd=tmp_path, cpu_s=LONG) as channel:
            argv = [sys.executable, "-c", connects, (channel.receive(LONG) or b"1").decode()]
            met = launchers[backend].run(argv, cwd=tmp_path, timeout_s=LONG).stdout == "met\n"
        assert met == (backend == "none"), backend


# --- beyond -----------------------------------------------------------------------------------------------------------


INTERNET = {
    "tcp": (socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
    "tcp, version 6": (socket.AF_INET6, socket.SOCK_STREAM, "::1"),
    "udp": (socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
    "on all addresses": (socket.AF_INET, socket.SOCK_STREAM, "0.0.0.0"),
}
UNIX = {
    "a display": (socket.SOCK_STREAM, "{}/.X11-unix/X0"),
    "an abstract display": (socket.SOCK_STREAM, "\0{}/.X11-unix/X0"),
    "a log": (socket.SOCK_DGRAM, "{}/log"),
    "a log, by a pair": (socket.SOCK_DGRAM, "{}/log"),
}
SERVICES = (*INTERNET, *UNIX)


@dataclass(frozen=True)
class Service:
    """Something that listens on this machine, and the program that reaches it."""

    listener: socket.socket
    attack: str

    def reached(self) -> bool:
        try:
            if self.listener.type == socket.SOCK_DGRAM:
                self.listener.recv(1)
            else:
                self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    name: str = request.param
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        (Path(place) / ".X11-unix").mkdir()
        family, type_, address = INTERNET.get(name) or (socket.AF_UNIX, *UNIX[name])
        with socket.socket(family, type_) as listener:
            listener.bind(address.format(place) if family == socket.AF_UNIX else (address, 0))
            listener.setblocking(False)
            if type_ == socket.SOCK_STREAM:
                listener.listen()
            for path in (Path(place), *Path(place).rglob("*")):
                path.chmod(0o777)
            made = "socketpair(1, 2)[0]" if name.endswith("pair") else f"socket({int(family)}, {int(type_)})"
            call = "connect(" if type_ == socket.SOCK_STREAM else "sendto(b'x', "
            yield Service(listener, f"import socket\nsocket.{made}.{call}{listener.getsockname()!r})")


@pytest.mark.parametrize("service", SERVICES, indirect=True)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_listens_on_this_machine_is_out_of_reach(
    backend: str, service: Service, launchers: dict[str, Launcher], tmp_path: Path
) -> None:
    launchers[backend].run([sys.executable, "-c", service.attack], cwd=tmp_path, timeout_s=LONG)
    assert service.reached() == (backend == "none")


@pytest.mark.parametrize("service", SERVICES, indirect=True)
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_out_of_reach_of_an_ordinary_user_s_programs(backend: str, service: Service) -> None:
    as_another(backend, service.attack)
    assert service.reached() == (backend == "none")


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_program_opens_is_not_open_to_others(
    backend: str, launchers: dict[str, Launcher], tmp_path: Path
) -> None:
    with launchers[backend].open_channel(listening("0.0.0.0"), cwd=tmp_path, cpu_s=LONG) as channel:
        port = int(channel.receive(LONG) or b"1")
        with socket.socket() as client:
            refused = client.connect_ex(("127.0.0.1", port))
    assert (refused == 0) == (backend == "none")


@pytest.mark.parametrize("backend", BACKENDS)
def test_there_is_no_other_interface(backend: str, launchers: dict[str, Launcher], tmp_path: Path) -> None:
    here = {line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines() if ":" in line}
    code = "print(*(line.partition(':')[0].strip() for line in open('/proc/self/net/dev') if ':' in line))"
    done = launchers[backend].run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=LONG)
    assert set(done.stdout.split()) == ({"lo"} if launchers[backend].name != "none" else here)


# --- where the kernel gives no namespaces -----------------------------------------------------------------------------


def test_without_namespaces_the_network_stays_closed(tmp_path: Path) -> None:
    """The control is the same process with namespaces."""
    code = "import socket; socket.socket()"
    look = f"""
import sys
sys.path.insert(0, sys.argv[1])
from tests.sandbox.test_loopback import Launcher, Path, SandboxSettings
with Launcher({ENVIRON!r}, sandbox=SandboxSettings(backend="landlock")) as launcher:
    done = launcher.run([sys.executable, "-c", {code!r}], cwd=Path(sys.argv[2]), timeout_s=60)
    print(launcher.name, launcher.has_loopback, done.exit_status)
"""
    if "landlock" not in BACKENDS:
        pytest.skip("Landlock does not work here, or was tested before")
    said = []
    for number in ("100", "0"):
        shell = f'echo {number} > /proc/sys/user/max_net_namespaces && exec "$@"'
        argv = ["unshare", "--map-root-user", "sh", "-c", shell, "sh", sys.executable, "-c", look, str(SOURCE)]
        done = subprocess.run([*argv, str(tmp_path)], capture_output=True, text=True, check=False, env=os.environ)
        if done.returncode and number == "100":
            pytest.skip(f"no user namespaces here: {done.stderr}")
        said.append(done.stdout)
    assert said == ["landlock True 0\n", "landlock False 1\n"]


def test_a_program_with_the_machine_s_network_gets_no_other(tmp_path: Path) -> None:
    for network in (False, True):
        policy = Policy(workspace=tmp_path, temporary=tmp_path, network=network)
        assert LandlockBackend(loopback=True).confine(policy, ["x"], {}, tmp_path).own_network == (not network)
