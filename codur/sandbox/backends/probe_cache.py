"""Remembers which back ends were seen to contain programs, for as long as the system stays the same."""

import contextlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import to_builtins

from codur import __version__
from codur.errors import StateError
from codur.sandbox import backends
from codur.store.atomic import PRIVATE_DIRECTORY, write_private
from codur.store.state_list import StateList
from codur.structs import Struct, replace

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
    """What became of trying a back end."""

    name: str = ""
    problem: str = ""  # why it does not contain programs here; empty if it does
    remedy: str = ""  # what would make it work; empty if nothing is known to
    loopback: bool = False  # programs under it can talk to themselves


class _Results(Struct):
    key: dict[str, str]
    tried: Mapping[str, Tried]


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
        found = StateList[_Results](cache / _CACHE_NAME, _Results).read()
    except (StateError, ValueError):
        return {}
    tried = found.tried if found is not None and found.key == key else {}
    return {name: replace(result, name=name) for name, result in tried.items()}


def remember(cache: Path, key: dict[str, str], results: Mapping[str, Tried]) -> None:
    """Remember results; where that is not possible they are found again each time."""
    with contextlib.suppress(OSError):
        cache.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        found = to_builtins(_Results(key=key, tried=results))
        write_private(cache / _CACHE_NAME, json.dumps(found).encode(), durable=False)
