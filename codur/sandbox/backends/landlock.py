"""Containment by Landlock and seccomp: rules that a process lays on itself and all that it starts, without namespaces.

What is not allowed here cannot be opened, made, removed or renamed. Landlock does not hide that a file exists, cannot
take away a part of what a rule allows (so nothing inside the workspace is hidden or kept from being written), and does
not bound a change of modes, times and extended attributes. See landlock(7) for the rights and their numbers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codur.sandbox.backend import Confined
from codur.sandbox.backends.seccomp import filter_program
from codur.sandbox.backends.system_paths import private_system_files, system_roots
from codur.sandbox.program_policy import FileRules, Policy

if TYPE_CHECKING:
    from codur.sandbox.starter.starter_protocol import LandlockRules as Rules

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1, 2, 4, 8
_REMOVE_DIRECTORY, _REMOVE_FILE = 0x10, 0x20
_MAKE_DIRECTORY, _MAKE_FILE, _MAKE_SOCKET, _MAKE_FIFO, _MAKE_LINK = 0x80, 0x100, 0x200, 0x400, 0x1000
_REFER, _TRUNCATE = 0x2000, 0x4000
_READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_WRITE = (
    _READ
    | _WRITE_FILE
    | _TRUNCATE
    | _REFER
    | _REMOVE_DIRECTORY
    | _REMOVE_FILE
    | _MAKE_DIRECTORY
    | _MAKE_FILE
    | _MAKE_SOCKET
    | _MAKE_FIFO
    | _MAKE_LINK
)
_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE  # `open(…, "w")` truncates, also a device
_SHARED_MEMORY = _DEVICE | _MAKE_FILE | _REMOVE_FILE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SHARED_MEMORY_PATH = "/dev/shm"
_KERNEL_FILES = tuple(
    """
    /proc/self /proc/cpuinfo /proc/meminfo /proc/stat /proc/loadavg /proc/uptime /proc/version /proc/filesystems
    /proc/sys/kernel/osrelease /proc/sys/kernel/ostype /proc/sys/kernel/cap_last_cap /proc/sys/kernel/pid_max
    /proc/sys/kernel/threads-max /proc/sys/kernel/random /proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count
    /sys/devices/system/cpu /sys/kernel/mm/transparent_hugepage
    """.split()
)
"""What language runtimes read; never all of `/proc`, where other processes are."""
_SETTINGS = "/etc"
_NEEDED_SETTINGS = tuple(
    """
    alternatives bash ca-certificates crypto-policies debian_version dotnet fonts gitconfig gradle group host inputrc
    java julia ld.so. locale localtime lsb-release magic maven mime.types mono nsswitch.conf npmrc openssl os-release
    passwd perl php pki profile protocols python R resolv.conf ruby services shells ssl terminfo timezone
    """.split()
)
"""How the names begin; what is not there costs nothing."""
_HOME_DIRECTORIES = ("XDG_CACHE_HOME", "GOCACHE")


def landlock_abi() -> int:
    """The version of Landlock's interface here; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    from codur.sandbox.starter import confinement  # noqa: PLC0415 - lazy: it loads ctypes, and needs Linux

    return confinement.landlock_abi()


class LandlockBackend:
    """Contains programs with Landlock and a filter of system calls.

    Args:
        loopback: each program gets a network namespace of its own, with a loopback; otherwise no sockets but connected
            pairs. Unix sockets with a name are refused in any case: Landlock does not bound to which one connects.
    """

    name = "landlock"
    hides = False

    def __init__(self, *, loopback: bool) -> None:
        self.has_loopback = loopback
        self._seccomp = filter_program(network=False, shared=loopback, alone=False)
        self._seccomp_shared = filter_program(network=False, shared=True, alone=False)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What Landlock has no rule for, and what this kernel's has none for."""
        version = landlock_abi()
        return (
            "files of the workspace cannot be hidden or kept from being written (they are put back)",
            "modes, times and attributes of your files outside can be changed",
            "files in /dev/shm are shared with other programs, and stay",
            "names and sizes of files outside can be found out",
            *(("signals reach your other processes",) if version < 6 else ()),
            *(("files outside can be truncated",) if version < 3 else ()),
        )

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Confined:
        """How to start a program so that it reads and writes only what the policy says.

        Its home is its temporary directory: the real one cannot be opened. Files in shared memory can be made, because
        locks between processes are such files; their size is not bounded by the temporary directory's.
        """
        writable = [path for path in (policy.workspace, *policy.writable, policy.temporary) if path is not None]
        rights = [*((path, _READ) for path in policy.readable), *((path, _WRITE) for path in writable)]
        rules = FileRules(
            common=_system_rules(),
            own=tuple((os.fsencode(path), right) for path, right in rights),
            # In a network of its own TCP may be used freely: there is nothing but the loopback.
            network=policy.network or self.has_loopback,
        )
        return Confined(
            argv=tuple(argv),
            env=_without_home(env, policy.temporary) if policy.home_hidden else dict(env),
            cwd=cwd,
            landlock=rules,
            seccomp=self._seccomp_shared if policy.network else self._seccomp,
            own_network=self.has_loopback and not policy.network,
            drop_privileges=True,  # Landlock binds root, too, but not all that root may do is a matter of files
        )


def _without_home(env: Mapping[str, str], temporary: Path) -> dict[str, str]:
    """The environment with an empty home."""
    home = env.get("HOME", "")
    if not home.startswith("/"):
        return dict(env)
    kept = {
        name: value
        for name, value in env.items()
        if name not in _HOME_DIRECTORIES or not Path(value).is_relative_to(home)
    }
    return {**kept, "HOME": str(temporary)}


@lru_cache(maxsize=1)
def _system_rules() -> Rules:
    """Rights at the system's directories, without what only some may read, and at devices and the kernel's files.

    Of `/etc` only what many programs need can be read, because each entry costs a rule at each start.
    """
    # As root a program could read what the system keeps from others; Landlock can take nothing out of a rule, so that
    # the rules are laid around these.
    private = frozenset(map(str, private_system_files()))
    holders = frozenset(str(parent) for path in map(Path, private) for parent in path.parents)
    # a rule holds for what a link leads to, which has one
    roots = [str(root) for root in system_roots() if not root.is_symlink()]
    rules = [(_SETTINGS, _READ_DIRECTORY)] if _SETTINGS in roots else []
    for root in roots:
        starts = [root]
        if root == _SETTINGS:
            starts = sorted(str(path) for path in Path(root).iterdir() if path.name.startswith(_NEEDED_SETTINGS))
        rules += [rule for start in starts for rule in _parts(start, private, holders)]
    rules += [(path, _READ) for path in _KERNEL_FILES]
    rules += [(path, _DEVICE) for path in _DEVICES]
    rules.append((_SHARED_MEMORY_PATH, _SHARED_MEMORY))
    return tuple((os.fsencode(path), rights) for path, rights in rules)


def _parts(path: str, private: frozenset[str], holders: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Rights at a path; where not all below may be read, rights at its parts too."""
    if path in private:
        return
    if path not in holders:
        yield path, _READ
        return
    yield path, _READ_DIRECTORY
    for entry in list(os.scandir(path)):
        if not entry.is_symlink():  # else a rule could reach out of the system's directories
            yield from _parts(entry.path, private, holders)
