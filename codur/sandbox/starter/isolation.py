"""Namespaces of its own for a program, and a root of its own in them: what bubblewrap does, by the system calls.

Part of the process starter: it uses the standard library alone. Two processes stand between the supervisor and the
program: one outside of its process ids, which gives the program's exit status as its own, and the first one inside
them, with whose end the kernel kills all the others there. All of that, and what is the same for all programs, is made
before a program is asked for. The calls are those of unshare(2), mount(2), mount_setattr(2) and pivot_root(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct

from codur.sandbox.starter import confinement
from codur.sandbox.starter.confinement import check, libc, syscall
from codur.sandbox.starter.starter_protocol import TYPE_CHECKING, WRAPPER

if TYPE_CHECKING:
    from typing import NoReturn

    from codur.sandbox.starter.starter_protocol import Mounts, Template

_SPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000
"""Mounts, control groups, host name, System V IPC and message queues, process ids."""
_ROOT = "/proc"
"""Where the root is made, in the program's own namespace; nothing that a program sees is taken from there."""
_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS, _BIND, _RECURSIVE, _SLAVE = 2, 4, 8, 0x1000, 0x4000, 0x80000
_DETACH = 2
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SET_ID, _ATTRIBUTE_NO_DEVICES = 1, 2, 4
_HERE, _AND_BELOW = -100, 0x8000
_MOUNT_SETATTR, _OPENAT2 = 442, 437
_PATH_ONLY = os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_LINKS = 4
_PR_SET_NAME = 15
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
)
_MAY_WRITE = 0o222
_MAX_INODES = 65_536
"""Files in a directory in memory: each takes memory of the kernel, which its size does not count."""
_DESCRIPTORS = 65_536
_SHELL_BASE = 128


def prepare(template: Template, parent: int) -> int:
    """Become the program-to-be in new namespaces, with the common mounts; it ends with the process `parent`.

    Returns:
        As `confinement.prepare`.

    Raises:
        OSError: the kernel does not allow it.
    """
    own_network, mounts = template[-2:]
    spaces = _SPACES | (confinement.NEW_NETWORK if own_network else 0)
    try:
        confinement.leave_with_user(spaces)
    except OSError:
        check(libc.unshare(spaces))  # as root, where there are no user namespaces
    if own_network:
        confinement.raise_loopback()
    confinement.gain_nothing()
    name = ctypes.create_string_buffer(WRAPPER.encode())
    check(confinement.prctl(_PR_SET_NAME, ctypes.addressof(name), 0, 0, 0))
    lost, held = os.pipe()
    # A new namespace of process ids holds the children of who asked for it, not itself.
    if first := os.fork():
        _see_to_end(first, parent, held)
    os.close(held)
    confinement.end_with_parent()
    if select.select([lost], [], [], 0)[0]:  # the parent, whose number is not seen here, had ended before
        os._exit(1)
    # The first process of a namespace has no default actions of signals: a program that aborts would go on.
    if pid := os.fork():
        _see_to_end(pid)
    os.close(lost)
    os.setsid()
    # Slaves and not private: what the user mounts meanwhile still appears, and nothing goes back.
    _mount(None, "/", None, _RECURSIVE | _SLAVE)
    _mount("tmpfs", _ROOT, "tmpfs", _NO_SET_ID | _NO_DEVICES, "mode=0755")
    _make(mounts or ())
    return -1


def enter_root(mounts: Mounts) -> None:
    """Make this program's own mounts, and leave the machine's root for good. Raises OSError: that cannot be done."""
    _make(mounts)
    os.chdir(_ROOT)
    # Both in one place, as pivot_root(2) describes: the old root lies over the new one and is taken off, so that no
    # directory is needed for it.
    check(libc.pivot_root(b".", b"."))
    check(libc.umount2(b".", _DETACH))  # lazily, as this process still stands in it
    os.chdir("/")


def finish(template: Template) -> None:
    """Give up what making the root needed. Raises OSError: it could not be given up."""
    confinement.drop_capabilities()
    if template[1] is not None:
        confinement.filter_calls(template[1])


def _see_to_end(pid: int, parent: int = 0, held: int = 2) -> NoReturn:
    """Wait for a child and end as it ended, as a shell tells it; with the parent, if it is named."""
    # A program's pipes would stay open as long as this process holds them.
    os.closerange(3, held)
    os.closerange(held + 1, _DESCRIPTORS)
    confinement.drop_capabilities()
    if parent:
        confinement.end_with_parent()
        if os.getppid() != parent:
            os._exit(1)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SHELL_BASE - code)


def _make(mounts: Mounts) -> None:
    mask = os.umask(0o022)
    for kind, place, source, permissions, size in mounts:
        at = _ROOT + place
        if kind in {"write", "read"}:
            _show(source, at, read_only=kind == "read")
        elif kind == "keep":
            _set(at, _ATTRIBUTE_READ_ONLY, 0)
        elif kind == "link":
            os.makedirs(os.path.dirname(at), exist_ok=True)
            os.symlink(source, at)
        elif kind == "processes":
            _show_processes(at)
        elif kind == "devices":
            _show_devices(at)
        else:
            _stand_in(at, directory=True)
            if kind == "directory":
                os.chmod(at, permissions)
            else:
                bound = f",size={size},nr_inodes={_MAX_INODES}" if size else ""
                _mount("tmpfs", at, "tmpfs", _NO_SET_ID | _NO_DEVICES, f"mode={permissions:04o}{bound}")
    os.umask(mask)


def _show(source: str, at: str, *, read_only: bool, devices: bool = False) -> None:
    """Show what is at a path of the machine, with all that is mounted there."""
    _stand_in(at, directory=os.path.isdir(source))
    _mount(source, at, None, _BIND | _RECURSIVE)
    denied = _ATTRIBUTE_NO_SET_ID | (0 if devices else _ATTRIBUTE_NO_DEVICES)
    _set(at, denied | (_ATTRIBUTE_READ_ONLY if read_only else 0), _AND_BELOW)


def _show_processes(at: str) -> None:
    """Those of the namespace; root owns what is beside them whatever its capabilities are, so it is read-only."""
    _stand_in(at, directory=True)
    _mount("proc", at, "proc", _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS)
    for entry in list(os.scandir(at)):
        if entry.name.isdigit() or entry.is_symlink():
            continue
        # As root the kernel's settings belong to the program's user, whatever capabilities it has lost.
        owned = entry.is_dir() or entry.stat().st_mode & _MAY_WRITE
        if entry.name == "sys" or (owned and os.geteuid() == 0):
            _mount(entry.path, entry.path, None, _BIND | _RECURSIVE)
            _set(entry.path, _ATTRIBUTE_READ_ONLY, _AND_BELOW)


def _show_devices(at: str) -> None:
    _stand_in(at, directory=True)
    _mount("tmpfs", at, "tmpfs", _NO_SET_ID, "mode=0755")
    for name in _DEVICES:
        _show(f"/dev/{name}", f"{at}/{name}", read_only=False, devices=True)
    for name, target in _DEVICE_LINKS:
        os.symlink(target, f"{at}/{name}")
    _stand_in(f"{at}/pts", directory=True)
    # An instance of its own: the terminals of the machine are not in it.
    _mount("devpts", f"{at}/pts", "devpts", _NO_SET_ID | _NO_PROGRAMS, "newinstance,ptmxmode=0666,mode=620")


def _stand_in(at: str, *, directory: bool) -> None:
    """Something that can be mounted over.

    Raises:
        OSError: the way there leads through a link, which could lead out of the new root.
    """
    # One call that follows no link in any part of the path; step by step another program could exchange a part
    # meanwhile.
    how = struct.pack("=QQQ", _PATH_ONLY, 0, _NO_LINKS)
    path = os.fsencode(at)
    found = syscall(ctypes.c_long(_OPENAT2), ctypes.c_int(_HERE), path, how, ctypes.c_size_t(len(how)))
    if found >= 0:
        os.close(found)
    elif (number := ctypes.get_errno()) != errno.ENOENT:
        raise OSError(number, os.strerror(number))
    elif directory:
        os.makedirs(at)
    else:
        os.makedirs(os.path.dirname(at), exist_ok=True)
        # A file is mounted over a file: the stand-in must be of the same kind.
        os.close(os.open(at, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))


def _mount(source: str | None, at: str, kind: str | None, flags: int, options: str = "") -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, at, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(options)))


def _set(at: str, attributes: int, flags: int) -> None:
    wanted = struct.pack("=QQQQ", attributes, 0, 0, 0)
    number = ctypes.c_long(_MOUNT_SETATTR)
    path = os.fsencode(at)
    check(syscall(number, ctypes.c_int(_HERE), path, ctypes.c_uint(flags), wanted, ctypes.c_size_t(len(wanted))))
