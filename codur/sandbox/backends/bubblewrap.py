"""Containment by bubblewrap: a view of the machine that holds only what the program may see, and no network
unless the policy grants it.

The program runs in namespaces of its own (users, processes, network, mounts, IPC, host name, control groups), without
capabilities and under a filter of system calls. See bwrap(1) for the options and `view` for what it sees.
"""

import fcntl
import os
import stat
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from codur.sandbox.backend import Confined
from codur.sandbox.backends.namespaces import NamespacesBackend
from codur.sandbox.backends.system_paths import link_chain
from codur.sandbox.backends.view import own_mounts, system_mounts
from codur.sandbox.program_policy import Mount, Policy

# not the `PATH`, which may name a directory of the project
_TRUSTED_PLACES = ("/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin", "/run/current-system/sw/bin")
# `try`: a kernel without control groups has nothing to part; without a session of its own a program could type into the
# terminal (TIOCSTI).
_ISOLATION = tuple(
    "--die-with-parent --unshare-user --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --new-session"
    " --cap-drop ALL".split()
)
_NO_NETWORK = "--unshare-net"
_PROCESS_LIMITER = "/usr/bin/prlimit"
_FIRST_FREE_DESCRIPTOR = 64  # above those that the starter uses itself


def find_bubblewrap() -> Path | None:
    """The system's `bwrap`, if it is where only the system's administrator can have put it."""
    for place in _TRUSTED_PLACES:
        candidate = Path(place) / "bwrap"
        if os.access(candidate, os.X_OK) and all(_is_administrators(path) for path in link_chain(candidate)):
            return candidate
    return None


def _is_administrators(path: Path) -> bool:
    """Whether root owns a program and its directory, and nobody else may write them."""
    for each in (path, path.parent):
        status = each.lstat()
        writable = not stat.S_ISLNK(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != 0 or writable:
            return False
    return True


class BubblewrapBackend(NamespacesBackend):
    """Contains programs with bubblewrap, which makes the namespaces.

    Args:
        path: the `bwrap` program.
    """

    name = "bubblewrap"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Confined:
        """How to start a program so that it sees and writes only what the policy says.

        Raises:
            CodurError: the workspace is the whole file system.
            OSError: there is no such program or directory, or no descriptor is left.
        """
        own = own_mounts(policy, argv[0], env, cwd)
        options = [str(self._path), *_ISOLATION, *(() if policy.network else (_NO_NETWORK,)), *_system_options()]
        options += [word for mount in own for word in _words(mount)]
        # On the machine's network named Unix sockets are refused: those of other programs would be reached.
        seccomp = self._seccomp_shared if policy.network else self._seccomp
        descriptors: tuple[int, ...] = ()
        if seccomp is not None:
            descriptors = (_memory_file(seccomp),)
            options += ["--seccomp", str(descriptors[0])]
        options += ["--chdir", str(cwd), "--", *_process_limit(policy.processes)]
        return Confined(
            argv=(*options, *argv),
            env=dict(env),
            # The starter's own directory: `bwrap` goes to the program's after it has made the root.
            cwd=Path("/"),
            fds=descriptors,
            wrapper=self._path.name,
        )


@lru_cache(maxsize=1)
def _system_options() -> tuple[str, ...]:
    return tuple(word for mount in system_mounts() for word in _words(mount))


def _words(mount: Mount) -> tuple[str, ...]:
    kind, place, source, permissions, size = mount
    match kind:
        case "write":
            return ("--bind", source, place)
        case "read":
            return ("--ro-bind", source, place)
        case "link":
            return ("--symlink", source, place)
        case "keep":
            return ("--remount-ro", place)
        case "processes":  # root owns those of /proc/sys whatever its capabilities are
            return ("--proc", place, "--ro-bind", f"{place}/sys", f"{place}/sys")
        case "devices":
            return ("--dev", place)
        case "directory":
            return ("--perms", f"{permissions:04o}", "--dir", place)
    return ("--perms", f"{permissions:04o}", *(("--size", str(size)) if size else ()), "--tmpfs", place)


def _process_limit(processes: int) -> tuple[str, ...]:
    """What bounds the processes of the sandbox alone; they are counted by user namespace (Linux 5.14 and later).

    It does not bind root. A limit set from outside would count all that the user runs.
    """
    if os.geteuid() == 0 or processes <= 0 or not os.access(_PROCESS_LIMITER, os.X_OK):
        return ()
    return (_PROCESS_LIMITER, f"--nproc={processes}", "--")


def _memory_file(content: bytes) -> int:
    """An open file in memory, at its start, under a number that a starter does not use."""
    made = os.memfd_create("codur-seccomp", os.MFD_CLOEXEC)
    try:
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)  # `bwrap` reads it from where it stands
        return fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR)
    finally:
        os.close(made)
