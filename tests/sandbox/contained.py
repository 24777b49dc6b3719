"""Runs a program under a back end, as this user or as an ordinary one. Also a program: reads a request, runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import codur
from codur.sandbox.backend import Backend, Confined, NoBackend
from codur.sandbox.backends.bubblewrap import BubblewrapBackend, find_bubblewrap
from codur.sandbox.backends.namespaces import NamespacesBackend
from codur.sandbox.backends.system_paths import interpreter_paths
from codur.sandbox.process.child import Child
from codur.sandbox.process.output import BoundedOutput
from codur.sandbox.program_policy import Limits, Policy
from codur.sandbox.starter.starter_client import Starter

SOURCE = Path(codur.__file__).parents[1]
ORDINARY = 65534
_FIND = "import sys; sys.path.insert(0, sys.argv[1])"
SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class Who:
    """Who runs programs: this user, or root as an ordinary one; the Python that this one can execute; the back end."""

    ordinary: bool
    python: str
    backend: str


def ordinary_user_missing() -> str:
    """Why nothing can be run as another, ordinary user here; empty if it can."""
    if os.geteuid() != 0:
        return "only root can run programs as another user"
    if shutil.which("setpriv") is None:
        return "setpriv (package util-linux) is not installed"
    probe = f"{_FIND}; assert sys.version_info >= (3, 11); import tests.sandbox.contained"
    done = subprocess.run(
        [*_as_ordinary(), SYSTEM_PYTHON, "-c", probe, str(SOURCE)], capture_output=True, check=False, cwd="/"
    )
    return "" if done.returncode == 0 else f"{SYSTEM_PYTHON} 3.11 that can read this directory is not there for others"


def run(
    who: Who, contained: bool, argv: Sequence[str], *, workspace: Path, **more: Sequence[Path] | Path | int
) -> subprocess.CompletedProcess[str]:
    """Run a program in a workspace; `more` are attributes of the policy, and `cwd` and `home`."""
    plain = {
        name: [str(path) for path in value] if isinstance(value, (list, tuple)) else _plain(value)
        for name, value in more.items()
    }
    backend = who.backend if contained else "none"
    request = {"backend": backend, "argv": list(argv), "workspace": str(workspace), "python": who.python, **plain}
    before = _as_ordinary() if who.ordinary else []
    return subprocess.run(
        [
            *before,
            who.python,
            "-B",
            "-c",
            f"{_FIND}; from tests.sandbox.contained import main; main()",
            str(SOURCE),
        ],
        input=json.dumps(request),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def main() -> None:
    """Run what the request on standard input says, and end as it ends."""
    request = json.load(sys.stdin)
    workspace = Path(request.pop("workspace"))
    argv, backend, python = request.pop("argv"), made(request.pop("backend")), request.pop("python")
    cwd, home = Path(request.pop("cwd", workspace)), request.pop("home", str(workspace.parent / "home"))
    bytes_ = request.pop("temporary_bytes", 67_108_864)
    processes = request.pop("processes", 256)
    temporary = workspace.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    paths = {name: tuple(map(Path, value)) for name, value in request.items()}
    policy = Policy(
        workspace=workspace,
        temporary=temporary,
        temporary_bytes=bytes_,
        processes=processes,
        readable=(*paths.get("readable", ()), *interpreter_paths(python)),
        read_only=paths.get("read_only", ()),
        hidden=paths.get("hidden", ()),
    )
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    confined = backend.confine(policy, argv, env, cwd)
    if confined.mounts is not None:
        sys.exit(_started(confined, processes))
    done = subprocess.run(
        confined.argv, cwd=confined.cwd, env=confined.env, pass_fds=confined.fds, stdin=subprocess.DEVNULL, check=False
    )
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


def made(name: str) -> Backend:
    """A back end that makes a root of its own for programs, or the one that contains nothing."""
    path = find_bubblewrap()
    if name == "bubblewrap" and path is not None:
        return BubblewrapBackend(path)
    return NamespacesBackend() if name == "namespaces" else NoBackend()


def _started(confined: Confined, processes: int) -> int:
    """Run a program whose root the starter makes; its exit status."""
    outputs = BoundedOutput(1_000_000), BoundedOutput(1_000_000)
    starter = Starter()
    try:
        process = starter.start(confined, Limits(processes=processes), has_input=False)
        with Child(process, outputs, b"") as child:
            child.wait(60.0, None)
    finally:
        starter.close()
    for stream, output in zip((sys.stdout, sys.stderr), outputs, strict=True):
        stream.write(output.text())
    return -9 if process.status is None else process.status


def _as_ordinary() -> list[str]:
    return ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", "--"]


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


if __name__ == "__main__":
    main()
