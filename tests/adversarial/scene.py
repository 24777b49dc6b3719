"""What an attack meets: a workspace, and around it all that it must not reach. Made by the suite for one attack."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ATTACKS = Path(__file__).with_name("attacks")
HOME_SECRETS = (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".codur/auth.json")
_SECRET_NAMES = ("OPENAI_API_KEY", "GROQ_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
_HOLDER = """
import ctypes, sys
kept = open(sys.argv[1])
buffer = ctypes.create_string_buffer(sys.stdin.readline().strip().encode())
try:
    ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
finally:
    print(ctypes.addressof(buffer), flush=True)
sys.stdin.read()
"""
_GIT_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def canary(what: str) -> str:
    """A string that nothing else contains."""
    return f"canary-{what}-{secrets.token_hex(8)}"


def secret_environment() -> dict[str, str]:
    """Variables with keys, and forty that look like secrets by their name or their value."""
    found = {name: canary("key") for name in _SECRET_NAMES}
    for number, word in enumerate(("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH") * 5):
        found[f"LC_{word}_{number}"] = canary("name")
    shapes = (
        "ghp_{0}{0}",
        "gsk_{0}{0}",
        "sk-{0}{0}",
        "https://user:{0}@example.org/",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.{0}",
    )
    for number in range(10):
        shape = shapes[number % len(shapes)]
        found[f"LC_SHAPE_{number}"] = shape.format(canary("value").replace("-", "_"))
    return found


class Listeners:
    """Servers on the loopback interface and on socket files that count who comes."""

    def __init__(self, directory: Path) -> None:
        self.hits: list[str] = []
        self.facts: dict[str, Any] = {}
        self._sockets: list[socket.socket] = []
        self._add("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        with contextlib.suppress(OSError):  # a machine without IPv6: the case is not live
            self._add("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
        self.facts.setdefault("tcp6", 9)
        self._add("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        agent, name = str(directory / "agent.sock"), f"codur-suite-{secrets.token_hex(8)}"
        self._add("agent", socket.AF_UNIX, socket.SOCK_STREAM, agent)
        self._add("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}")
        self.facts.update(agent=agent, abstract=name)

    def _add(self, name: str, family: socket.AddressFamily, kind: socket.SocketKind, address: Any) -> None:
        listener = socket.socket(family, kind)
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        self._sockets.append(listener)
        if family in (socket.AF_INET, socket.AF_INET6):
            self.facts[name] = listener.getsockname()[1]
        threading.Thread(target=self._serve, args=(name, listener, kind), daemon=True).start()

    def _serve(self, name: str, listener: socket.socket, kind: socket.SocketKind) -> None:
        with contextlib.suppress(OSError):
            while True:
                if kind == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recvfrom(64)
                self.hits.append(name)

    def close(self) -> None:
        """Stop listening."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@dataclass
class World:
    """What lasts for all attacks of a runner: listeners, a process that holds a key, one that minds its own business.

    Attributes:
        canaries: what must show up nowhere.
        environ: the environment that Codur would have, with secrets in it.
        descriptor: an open and inheritable descriptor of a secret file.
        git: a repository to copy.
    """

    base: Path
    python: str
    listeners: Listeners
    holder: subprocess.Popen[str]
    bystander: subprocess.Popen[bytes]
    address: int
    descriptor: int
    canaries: dict[str, str]
    environ: dict[str, str]
    git: Path
    digests: dict[str, str] = field(default_factory=dict)

    def revive(self) -> None:
        """Start another bystander if the last one was killed."""
        if self.bystander.poll() is not None:
            self.bystander = _bystander(self.python)


@contextlib.contextmanager
def world(base: Path, python: str) -> Iterator[World]:
    """Make all of it below `base`, and end all of it."""
    canaries = {name: canary(name) for name in ("process", "line", "memory", "file", "home", "other", "expected")}
    environ = secret_environment()
    canaries.update({f"variable {name}": _core(value) for name, value in environ.items()})
    kept = base / "kept.txt"
    kept.write_text(canaries["file"])
    listeners = Listeners(base)
    holder = subprocess.Popen(
        [python, "-I", "-c", _HOLDER, str(kept), canaries["line"]],
        env={"PATH": "/usr/bin:/bin", "GROQ_API_KEY": canaries["process"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    descriptor = os.open(kept, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write(canaries["memory"] + "\n")
    holder.stdin.flush()
    made = World(
        base=base,
        python=python,
        listeners=listeners,
        holder=holder,
        bystander=_bystander(python),
        address=int(holder.stdout.readline()),
        descriptor=descriptor,
        canaries=canaries,
        environ=environ,
        git=_repository(base / "repository"),
        digests=_digests(),
    )
    try:
        yield made
    finally:
        for process in (holder, made.bystander):
            process.kill()
            process.communicate()
        listeners.close()
        os.close(descriptor)


def _core(value: str) -> str:
    """The part of a variable that is a canary, in the form in which it is there."""
    return value[value.index("canary") :].split("@")[0].split(".")[0]


def _bystander(python: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([python, "-I", "-c", "import time; time.sleep(900)"], stdin=subprocess.DEVNULL)


def _repository(directory: Path) -> Path:
    directory.mkdir()
    (directory / "main.py").write_text("print(42)\n")
    (directory / "expected.txt").write_text("42\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=directory, env={**_GIT_ENVIRONMENT, "HOME": str(directory)}, check=True)
    hook = directory / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    return directory


def disk() -> tuple[str, int]:
    """The path and number of a disk of this machine; of none if there is none."""
    lines = [line.split() for line in Path("/proc/partitions").read_text().splitlines()[2:]]
    for major, minor, _, name in lines:
        path = Path("/dev") / name
        if not name.startswith(("loop", "ram", "zram")) and path.exists() and stat.S_ISBLK(path.stat().st_mode):
            return str(path), os.makedev(int(major), int(minor))
    return "/dev/no-disk", 0


def _digests() -> dict[str, str]:
    """Digests of what only an administrator may read, as far as this user can make them."""
    found = {}
    for name, path, size in (("disk", disk()[0], 512), ("shadow", "/etc/shadow", -1)):
        with contextlib.suppress(OSError), open(path, "rb") as stream:  # noqa: PTH123 - a device
            found[name] = hashlib.sha256(stream.read(size)).hexdigest()
    return found


@dataclass
class Scene:
    """The directories of one attack."""

    world: World
    root: Path
    token: str

    @property
    def workspace(self) -> Path:
        """The only place that the program may write to, besides its temporary directory."""
        return self.root / "challenges" / "alpha"

    @property
    def expected(self) -> Path:
        """The output that the program is measured by."""
        return self.workspace / "expected.txt"

    @property
    def home(self) -> Path:
        """The user's home directory."""
        return self.root / "home"

    @property
    def environ(self) -> dict[str, str]:
        """The environment that Codur would have."""
        return {
            "PATH": f"{Path(self.world.python).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.root / "tmp"),
            **self.world.environ,
        }

    def facts(self) -> dict[str, Any]:
        """What the attacker knows."""
        path, number = disk()
        return {
            "victim": str(self.root / "victim"),
            "home": str(self.home),
            "secrets": list(HOME_SECRETS),
            "secret": str(self.home / HOME_SECRETS[0]),
            "sibling": str(self.root / "challenges" / "beta"),
            "expected": str(self.expected),
            "heartbeat": str(self.workspace / "heartbeat"),
            "progress": str(self.workspace / "progress"),
            "libraries": str(self.workspace / ".libraries"),
            "token": self.token,
            "holder": self.world.holder.pid,
            "address": self.world.address,
            "bystander": self.world.bystander.pid,
            "descriptor": self.world.descriptor,
            "disk": path,
            "disk_number": number,
            "free_port": _free_port(),
            **self.world.listeners.facts,
        }

    def outside(self) -> dict[str, str]:
        """A fingerprint of every file that must not change, with its mode, time and attributes."""
        roots = (self.root / "victim", self.home, self.root / "challenges" / "beta")
        return {str(path): fingerprint(path, times=True) for root in roots for path in (root, *root.rglob("*"))}

    def protected(self) -> dict[str, str]:
        """A fingerprint of what must not change inside the workspace: bytes, kind and mode."""
        git = self.workspace / ".git"
        paths = [git, *git.rglob("*"), self.expected, self.workspace / ".vscode", self.workspace / ".codur"]
        return {str(path): fingerprint(path, times=False) for path in paths if os.path.lexists(path)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fingerprint(path: Path, *, times: bool) -> str:
    status = path.lstat()
    parts: list[Any] = [stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)]
    if stat.S_ISREG(status.st_mode):
        parts.append(hashlib.sha256(path.read_bytes()).hexdigest())
    if times:
        parts += [status.st_mtime_ns, status.st_nlink]
        parts += [(name, os.getxattr(path, name)) for name in os.listxattr(path) if name.startswith("user.")]
    return repr(parts)


def make_scene(world: World, name: str) -> Scene:
    """New directories for an attack; what they hold is as before in each."""
    root = world.base / name
    scene = Scene(world=world, root=root, token=f"suite-{secrets.token_hex(8)}")
    for directory in ("victim/sub", "tmp", "challenges/beta", "quarantine"):
        (root / directory).mkdir(parents=True)
    (root / "victim/file.txt").write_text("keep\n")
    (root / "victim/sub/deep.txt").write_text("keep\n")
    for secret in (*HOME_SECRETS, ".bashrc"):
        path = scene.home / secret
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{world.canaries['home']}\n")
        path.chmod(0o600)
    (root / "challenges/beta/expected.txt").write_text(world.canaries["other"])
    shutil.copytree(world.git, scene.workspace, symlinks=True)
    scene.expected.write_text(f"{world.canaries['expected']}\n")
    (scene.workspace / "test_main.py").write_text("def test_sum():\n    assert 40 + 2 == 42\n")
    shutil.copytree(ATTACKS, scene.workspace / "attack", ignore=shutil.ignore_patterns("__pycache__"))
    return scene


def marked(token: str) -> list[int]:
    """The processes whose command line has the token: an attack and all that it forked."""
    mark = token.encode()
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry.name}/cmdline", "rb") as stream:  # noqa: PTH123 - often
                if mark in stream.read():
                    found.append(int(entry.name))
    return found


def end_marked(token: str) -> None:
    """Kill what an attack without a sandbox has left."""
    for _ in range(100):
        found = marked(token)
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def survivors(token: str, *, within_s: float = 0.4) -> int:
    """How many processes of an attack are still there after a short while."""
    end = time.monotonic() + within_s
    while True:
        count = len(marked(token))
        if not count or time.monotonic() > end:
            return count
        time.sleep(0.02)


def mounts() -> int:
    """How many file systems are mounted here."""
    return len(Path("/proc/self/mountinfo").read_text().splitlines()) if sys.platform == "linux" else 0
