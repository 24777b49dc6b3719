"""Remembers which back ends were seen to contain programs, for as long as the system stays the same."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from codur import __version__
from codur.sandbox import backends
from codur.structs import Struct

_MAX_CACHE_BYTES = 65_536  # of a file that somebody may have exchanged
_CACHE_NAME = "sandbox.json"
SWITCHES = (
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/user/max_net_namespaces",
    "/proc/sys/user/max_mnt_namespaces",
    "/proc/sys/user/max_pid_namespaces",
)
"""What an administrator may switch without a restart."""


class Tried(Struct):
    """What became of trying a back end.

    Attributes:
        problem: why it does not contain programs here; empty if it does.
        remedy: what would make it work; empty if nothing is known to.
        loopback: programs under it can talk to themselves.
    """

    name: str
    problem: str = ""
    remedy: str = ""
    loopback: bool = False


def system_key() -> dict[str, str]:
    """What the results depend on."""
    path = backends.bubblewrap.find_bubblewrap() if sys.platform == "linux" else None
    return {
        # a restart may bring another kernel and other settings
        "boot": one_line(Path("/proc/sys/kernel/random/boot_id")),
        "uid": str(os.geteuid()),
        "privileges": _privileges(),
        "kernel": platform.release(),
        "codur": __version__,
        "python": sys.executable,  # the trial runs it: it must be readable under the back end
        "bubblewrap": f"{path} {path.stat().st_mtime_ns}" if path is not None else "",
        **{switch: one_line(Path(switch)) for switch in SWITCHES},
    }


def _privileges() -> str:
    """Lines on capabilities and filters of system calls, which a container may have taken away."""
    lines = one_line(Path("/proc/self/status")).splitlines()
    return " ".join(line for line in lines if line.startswith(("CapEff", "CapBnd", "Seccomp:")))


def one_line(path: Path) -> str:
    """What a file of the kernel says; nothing if it is not there."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def remembered(cache: Path, key: dict[str, str]) -> dict[str, Tried]:
    """What is remembered, if it is ours and of the same system."""
    try:
        # What stands here decides whether programs are contained, so that only a file of this user's own counts.
        opened = os.open(cache / _CACHE_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return {}
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return {}
        try:
            found = json.loads(file.read(_MAX_CACHE_BYTES))
            if found["key"] != key:
                return {}
            return {name: Tried(name=name, **result) for name, result in found["tried"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}


def remember(cache: Path, key: dict[str, str], results: Mapping[str, Tried]) -> None:
    """Remember results; where that is not possible they are found again each time."""
    tried = {r.name: {"problem": r.problem, "remedy": r.remedy, "loopback": r.loopback} for r in results.values()}
    found = {"key": key, "tried": tried}
    spare = cache / f".{_CACHE_NAME}.codur-{os.getpid()}-{os.urandom(4).hex()}.tmp"
    with contextlib.suppress(OSError):
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(opened, "w") as file:
            json.dump(found, file)
        spare.replace(cache / _CACHE_NAME)  # in one step: another process may be reading it
