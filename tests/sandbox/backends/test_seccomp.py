"""What the filter of system calls refuses, with real calls. Each call is also made without it: it must work then."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from codur.sandbox.backends.seccomp import filter_program

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the calls are those of Linux on x86-64"
)

EPERM, EINVAL, ENOSYS = 1, 22, 38

REFUSED = {
    "ptrace": ("(101, 0, 0, 0, 0)", EPERM),
    "process_vm_readv": ("(310, os.getpid(), 0, 0, 0, 0, 0)", EPERM),
    "kcmp": ("(312, os.getpid(), os.getpid(), 0, 1, 1)", EPERM),
    "pidfd_getfd": ("(438, os.pidfd_open(os.getpid()), 1, 0)", EPERM),
    "mount": ("(165, b'x', b'/codur-absent', b'tmpfs', 0, 0)", EPERM),
    "setns": ("(308, 999, 0)", EPERM),
    "bpf": ("(321, 999, 0, 0)", EPERM),
    "open_by_handle_at": ("(304, 999, 0, 0)", EPERM),
    "name_to_handle_at": ("(303, 999, b'x', 0, 0, 0)", EPERM),
    "perf_event_open": ("(298, 0, 0, -1, -1, 0)", EPERM),
    "keyctl": ("(250, 999)", EPERM),
    "reboot": ("(169, 0, 0, 0, 0)", EPERM),
    "a new user namespace": ("(272, 0x10000000)", EPERM),
    "a new user namespace by clone": ("(56, 0x10000000 | 17, 0, 0, 0, 0)", EPERM),
    "clone3": ("(435, 0, 0)", ENOSYS),
    "openat2": ("(437, -100, b'/', 0, 0)", ENOSYS),
    "io_uring_setup": ("(425, 1, 0)", ENOSYS),
    "typing into the terminal": ("(16, 0, 0x5412, b'x')", EPERM),
    "the high half of an ioctl does not matter": ("(16, 0, 0x7_0000_5412, b'x')", EPERM),
    "a personality": ("(135, 0x0040000)", EPERM),
    "netlink of the packet filter": ("(41, 16, 3, 12)", EPERM),
    "vsock": ("(41, 40, 1, 0)", EPERM),
    "packets": ("(41, 17, 3, 0)", EPERM),
    "a set-user-ID bit": ("(90, b'own', 0o4755)", EPERM),
    "a set-group-ID bit": ("(268, -100, b'own', 0o2755)", EPERM),
    "a file born with one": ("(257, -100, b'born', 0o101, 0o4755)", EPERM),
    "a node born with one": ("(133, b'node', 0o104755, 0)", EPERM),
    "limits of another process": ("(302, os.getppid(), 7, struct.pack('QQ', 64, 64), 0)", EPERM),
    "a file in memory": ("(319, b'held', 0)", ENOSYS),
    "a large segment": ("(29, 0, 65_537, 0o1600)", EINVAL),
    "a segment of more than 32 bits": ("(29, 0, 1 << 33, 0o1600)", EINVAL),
    "the x32 interface": ("(0x40000000 + 39,)", EPERM),
}
"""Arguments of `syscall`, and the error under the filter."""

REFUSED_WITHOUT_NETWORK = {
    "Internet": ("(41, 2, 1, 0)", EPERM),
    "Internet, version 6": ("(41, 10, 1, 0)", EPERM),
    "Unix": ("(41, 1, 1, 0)", EPERM),
    "netlink": ("(41, 16, 3, 0)", EPERM),
    "a pair for datagrams": ("(53, 1, 2, 0, bytes(8))", EPERM),
}

ALLOWED = {
    "a file": "open('file', 'w').close()",
    "its mode": "os.chmod('own', 0o755)",
    "fork": "os.waitpid(os.fork() or os._exit(0), 0)",
    "threads": "import threading; threading.Thread(target=int).start()",
    "programs": "import subprocess; subprocess.run(['true'], check=True)",
    "own limits": "import resource; resource.setrlimit(7, (64, 64))",
    "limits of another": "import resource; resource.prlimit(os.getppid(), 7)",
    "a pair": "import socket; [end.close() for end in socket.socketpair()]",
    "a segment": "import ctypes; lib = ctypes.CDLL(None); assert lib.shmctl(lib.shmget(0, 65_536, 0o1600), 0, 0) == 0",
    "multiprocessing": "import multiprocessing; multiprocessing.Pipe(); multiprocessing.Lock()",
}
ALLOWED_WITH_NETWORK = {
    "Internet": "import socket; socket.socket().close()",
    "Internet, version 6": "import socket; socket.socket(socket.AF_INET6).close()",
    "Unix": "import socket; socket.socket(socket.AF_UNIX).close()",
    "names": "import socket; socket.getaddrinfo('127.0.0.1', 80)",
    "interfaces": "import socket; socket.if_nameindex(); socket.socket(16, 3, 0).close()",
}

_CHILD = """
import ctypes, json, os, struct, sys, tempfile
request = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(arguments):
    ctypes.set_errno(0)
    made = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(*made)
    if result == 0 and arguments[0] == 56: os._exit(0)
    return ctypes.get_errno() if result == -1 else 0
def confine():
    program = bytes.fromhex(request["filter"])
    if not program: return
    buffer = ctypes.create_string_buffer(program, len(program))
    class Filter(ctypes.Structure):
        _fields_ = (("count", ctypes.c_ushort), ("code", ctypes.c_void_p))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    filter_ = Filter(len(program) // 8, ctypes.addressof(buffer))
    assert libc.prctl(22, 2, ctypes.byref(filter_), 0, 0) == 0
def own(work):
    ready, write = os.pipe()
    child = os.fork()
    if child == 0:
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            open("own", "w").close()
            confine()
            try: found = work()
            except BaseException as error: found = repr(error)
            os.write(write, json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(ready) as file: found = file.read()
    os.waitpid(child, 0)
    return json.loads(found) if found else "died"
print(json.dumps({
    "calls": {name: own(lambda: call(eval(text))) for name, text in request["calls"].items()},
    "code": {name: own(lambda: exec(text, {"os": os})) for name, text in request["code"].items()},
}))
"""


@cache
def results(network: bool | None) -> Any:
    """What all calls and pieces of code give under a filter; with None under no filter."""
    program = b"" if network is None else filter_program(network=network)
    assert program is not None
    calls = {**REFUSED, **REFUSED_WITHOUT_NETWORK}
    request = {
        "filter": program.hex(),
        "calls": {name: text for name, (text, _) in calls.items()},
        "code": {**ALLOWED, **{f"network: {name}": code for name, code in ALLOWED_WITH_NETWORK.items()}},
    }
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, network: bool) -> None:
    error = REFUSED[name][1]
    without = results(None)["calls"][name]
    assert results(network)["calls"][name] == error
    if without == error:
        pytest.skip("not live: this system refuses it by itself, to this user")


@pytest.mark.parametrize("name", REFUSED_WITHOUT_NETWORK)
def test_refused_without_a_network(name: str) -> None:
    error = REFUSED_WITHOUT_NETWORK[name][1]
    assert results(None)["calls"][name] == 0
    assert results(True)["calls"][name] == 0
    assert results(False)["calls"][name] == error


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name: str, network: bool) -> None:
    assert results(network)["code"][name] is None


@pytest.mark.parametrize("name", ALLOWED_WITH_NETWORK)
def test_allowed_with_a_network(name: str) -> None:
    assert results(True)["code"][f"network: {name}"] is None


def test_most_refusals_are_live() -> None:
    live = [name for name, (_, error) in REFUSED.items() if results(None)["calls"][name] != error]
    assert len(live) >= len(REFUSED) // 2


def test_the_program_of_each_known_machine_has_whole_instructions_and_ends_in_a_return() -> None:
    for machine in ("x86_64", "aarch64"):
        program = filter_program(network=True, machine=machine)
        assert program is not None
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096
        assert program[-8:-4] == b"\x06\0\0\0"


def test_no_program_for_a_machine_that_is_not_known() -> None:
    assert filter_program(network=True, machine="riscv64") is None
