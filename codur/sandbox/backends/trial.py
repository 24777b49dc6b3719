"""Tries a back end with a program that does what it must not.

It tries to write a file and to read a file outside what it may, and to connect to sockets that listen; all of that
must fail, and writing its own file must work, as must a connection to itself where the back end says that it has a
loopback. The control is here: the files and the sockets are made for it.
"""

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codur.errors import CodurError
from codur.sandbox.backend import Backend, Confined
from codur.sandbox.backends.system_paths import interpreter_paths
from codur.sandbox.process.child import Child, GroupProcess, Process
from codur.sandbox.process.output import BoundedOutput
from codur.sandbox.program_policy import Limits, Policy
from codur.sandbox.starter.starter_client import Starter

_MOST_BYTES = 65_536
_TIMEOUT_S = 10.0  # a machine that needs more for this is not usable under it
_PROGRAM = """
import _socket, sys
outside, secret, own, port, path = sys.argv[1:]
def reads(): open(secret).read()
def writes(): open(outside, "w").close()
def connects():
    client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    client.settimeout(5)
    client.connect(("127.0.0.1", int(port)))
def calls(): _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM).connect(path)
def meets():
    server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    server.bind(("127.0.0.1", 0))
    server.listen()
    client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    client.settimeout(5)
    client.connect(server.getsockname())
def makes(): open(own, "w").close()
for attempt in (reads, writes, connects, calls, meets, makes):
    try: attempt()
    except OSError: continue
    print(attempt.__name__)
"""
_CONTAINED = "makes"
_MEANINGS = {
    "reads": "could read a file outside its directories",
    "writes": "could write a file outside its directories",
    "connects": "could connect to a socket",
    "calls": "could connect to a socket in the file system",
}
_LOOPBACK = "meets"


def try_backend(backend: Backend, environ: Mapping[str, str], starter: Callable[[], Starter] | None = None) -> str:
    """Run a program under a back end that tries what it must not.

    Args:
        starter: gives the one that starts it; None for one of its own. To start another takes some 30 ms.

    Returns:
        What went wrong; empty if the program was contained.
    """
    given = starter() if starter is not None else None  # first: it starts beside what is made here
    with tempfile.TemporaryDirectory(prefix="codur-probe-", dir=environ.get("TMPDIR") or None) as made_here:
        base = Path(made_here).resolve()
        for name in ("workspace", "temporary", "outside"):
            (base / name).mkdir()
        secret, outside = base / "outside" / "secret", base / "outside" / "new"
        # Proof that it ran at all: a back end that lets nothing run contains everything.
        own = base / "workspace" / "own"
        secret.write_text("x")
        path = base / "outside" / "socket"
        with socket.create_server(("127.0.0.1", 0)) as listener, _listening(path):
            port = str(listener.getsockname()[1])
            words = ("-I", "-S", "-c", _PROGRAM, str(outside), str(secret), str(own), port, str(path))
            policy = Policy(
                workspace=base / "workspace",
                temporary=base / "temporary",
                readable=interpreter_paths(sys.executable),
            )
            env = {"PATH": "/usr/bin:/bin", "HOME": str(base / "temporary"), "TMPDIR": str(base / "temporary")}
            try:
                confined = backend.confine(policy, [sys.executable, *words], env, base / "workspace")
                output, errors = _run(confined, given)
            except (OSError, CodurError) as error:
                return f"a program cannot be started under it: {error}"
        # What it says and what is there afterwards: it could be kept from saying it.
        did = [*output.split(), *(["writes"] if outside.exists() else [])]
        return _judged(did, errors, wrote=own.exists(), loopback=backend.has_loopback)


@contextlib.contextmanager
def _listening(path: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        with contextlib.suppress(OSError):  # too long for an address: then nobody can connect to it either
            listener.bind(str(path))
            listener.listen()
        yield


def _judged(did: list[str], errors: str, *, wrote: bool, loopback: bool) -> str:
    wrong = [meaning for name, meaning in _MEANINGS.items() if name in did]
    if wrong:
        return f"a program under it {' and '.join(wrong)}"
    if _CONTAINED not in did or not wrote:
        lines = errors.strip().splitlines()
        return f"a program cannot work under it{': ' if lines else ''}{lines[-1][:200] if lines else ''}"
    if loopback and _LOOPBACK not in did:
        return "a program under it cannot connect to itself"
    return ""


def _run(confined: Confined, starter: Starter | None) -> tuple[str, str]:
    """Standard output and error of a confined program."""
    outputs = (BoundedOutput(_MOST_BYTES), BoundedOutput(_MOST_BYTES))
    with contextlib.ExitStack() as stack:
        for descriptor in confined.fds:
            stack.callback(os.close, descriptor)
        with Child(_started(stack, confined, starter), outputs, b"") as child:
            end = child.wait(_TIMEOUT_S, None)
    return (outputs[0].text(), outputs[1].text()) if end == "ended" else ("", "it does not end")


def _started(stack: contextlib.ExitStack, confined: Confined, starter: Starter | None) -> Process:
    if sys.platform != "linux":
        return GroupProcess.start(confined.argv, cwd=confined.cwd, env=confined.env, has_input=False)
    starter = starter or stack.enter_context(contextlib.closing(Starter()))
    return starter.start(confined, Limits(wall_s=_TIMEOUT_S), has_input=False)
