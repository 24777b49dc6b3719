"""What a process gives up just before it executes a program: privileges, files, system calls, resources.

Part of the process starter: it uses the standard library alone. The calls are prctl(2), unshare(2), capset(2),
landlock(7) and seccomp(2); Python 3.11 has none of them.
"""

from __future__ import annotations

import ctypes
import os
import resource
import stat
import struct
import sys
from _socket import AF_INET, SOCK_DGRAM, socket  # `socket` is larger

from codur.sandbox.starter.starter_protocol import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.sandbox.starter.starter_protocol import LandlockRules, Template

_NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
_SET_INTERFACE_FLAGS = 0x8914
_INTERFACE_UP = struct.pack("=16sh14x", b"lo", 1)  # `struct ifreq` with IFF_UP
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_SIGKILL = 9
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_LANDLOCK_FILE_RIGHTS = ((1, 0x1FFF), (2, 0x2000), (3, 0x4000), (5, 0x8000))
_LANDLOCK_NETWORK_RIGHTS = ((4, 0x3),)
_LANDLOCK_SCOPES = ((6, 0x3),)
"""Bits by the version of the interface that brought them."""
_FILE_RIGHTS = 0b1100_0000_0000_0111
"""Those that a rule for a file may have: execute, write, read, truncate, ioctl on devices."""
_KEYCTL_JOIN_SESSION_KEYRING = 1
_KEYCTL = {"x86_64": 250, "aarch64": 219}  # its number differs; those of Landlock are the same everywhere

libc = ctypes.CDLL(None, use_errno=True)
syscall = libc.syscall
syscall.restype = ctypes.c_long
prctl = libc.prctl
# Without the types ctypes would pass 32 bits where the kernel reads 64, and the upper half may hold anything.
prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]


class _Filter(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def hide_self() -> None:
    """Let no other process of the user look into this one."""
    # What is not dumpable cannot be traced, and its `/proc` entries belong to root.
    check(prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def leave_keyring() -> None:
    """Take an empty session keyring in place of the user's, where the system has keyrings."""
    number = _KEYCTL.get(os.uname().machine)
    if number is not None:
        syscall(ctypes.c_long(number), ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING), None)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose parent ends."""
    check(prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def prepare(template: Template, parent: int) -> int:
    """Give up what all programs of a starter give up, and end with the process `parent`.

    Returns:
        The descriptor of a Landlock ruleset for `finish`, -1 if there is none.

    Raises:
        OSError: something could not be given up.
    """
    # The order matters: a network needs privileges, changed privileges clear the death signal, and the filter, last,
    # may refuse what was needed before.
    drop_privileges, seccomp, rules, network, own_network, _ = template
    if own_network:
        _leave_network()
    if drop_privileges:
        drop_capabilities()
    end_with_parent()
    if os.getppid() != parent:  # the parent ended before the signal was asked for, and none will come
        os._exit(_SIGKILL)
    if drop_privileges or seccomp is not None or rules is not None:
        # Without privileges the kernel takes filters and rulesets only from who can gain none.
        gain_nothing()
    ruleset = -1 if rules is None else _ruleset(rules, network=network)
    if seccomp is not None:
        filter_calls(seccomp)
    return ruleset


def end_with_parent() -> None:
    """Be killed when the parent ends; changed privileges make the kernel forget it."""
    check(prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0))


def gain_nothing() -> None:
    """Let no program that is executed have more privileges."""
    check(prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def finish(limits: list[tuple[int, int, int]], ruleset: int, rules: LandlockRules) -> None:
    """Give up what this program gives up: add its rules to the ruleset, and keep to that.

    Raises:
        OSError: something could not be given up.
    """
    # Late: a small limit on memory or processes would stop the steps before.
    _limit(limits)
    if ruleset >= 0:
        _add_rules(ruleset, rules)
        check(syscall(_number(_LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint(0)))
        os.close(ruleset)


def landlock_abi() -> int:
    """The version of Landlock's interface here; 0 if the kernel has none or it is switched off."""
    if sys.platform != "linux":
        return 0
    version = syscall(ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return max(0, int(version))


def _limit(limits: list[tuple[int, int, int]]) -> None:
    for which, soft, hard in limits:
        _, highest = resource.getrlimit(which)
        # A hard limit cannot be raised, and asking for more than it is an error.
        bounds = [bound for bound in (hard, highest) if bound != resource.RLIM_INFINITY]
        allowed = min(bounds, default=resource.RLIM_INFINITY)
        resource.setrlimit(which, (soft if allowed == resource.RLIM_INFINITY else min(soft, allowed), allowed))


def _leave_network() -> None:
    """Move to a new network of which only the loopback is there.

    Who is not allowed that does it in a user namespace.
    """
    # Root needs no user namespace for it, and containers that forbid those may allow this.
    if libc.unshare(NEW_NETWORK) < 0:
        leave_with_user(NEW_NETWORK)
    raise_loopback()


def leave_with_user(spaces: int) -> None:
    """Move to new namespaces, and to one of users, in which one stays the same user; others are nobody there.

    Raises:
        OSError: that is not allowed; then nothing has changed.
    """
    user, group = os.geteuid(), os.getegid()
    check(libc.unshare(_NEW_USER | spaces))
    check(prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0))  # the files belong to root otherwise
    # before the groups are mapped: user_namespaces(7) wants it from who is not root
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    hide_self()  # it had to be dumpable for the lines above alone


def raise_loopback() -> None:
    """Let a new network's loopback be used."""
    end = socket(AF_INET, SOCK_DGRAM)
    check(libc.ioctl(end.fileno(), _SET_INTERFACE_FLAGS, _INTERFACE_UP))
    end.close()


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def drop_capabilities() -> None:
    """Give up all privileges, also those that could come back when a program is executed."""
    for capability in range(_CAPABILITIES):
        if prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:  # past the last one that this kernel knows
            break
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    check(libc.capset(header, bytes(24)))


def _ruleset(rules: LandlockRules, *, network: bool) -> int:
    """A ruleset that handles all that this kernel's Landlock knows, with some rules."""
    version = landlock_abi()
    files, connections, scopes = (
        _known(version, rights) for rights in (_LANDLOCK_FILE_RIGHTS, _LANDLOCK_NETWORK_RIGHTS, _LANDLOCK_SCOPES)
    )
    attributes = struct.pack("=QQQ", files, 0 if network else connections, scopes)
    # The size that this version of the interface has: of a larger one the rest must be zero.
    size = 24 if scopes else 16 if connections else 8
    ruleset = check(syscall(_number(_LANDLOCK_CREATE_RULESET), attributes, ctypes.c_size_t(size), ctypes.c_uint(0)))
    _add_rules(ruleset, rules)
    return ruleset


def _add_rules(ruleset: int, rules: LandlockRules) -> None:
    known = _known(landlock_abi(), _LANDLOCK_FILE_RIGHTS)
    for path, rights in rules:
        _allow_below(ruleset, path, rights & known)


def _known(version: int, rights: tuple[tuple[int, int], ...]) -> int:
    return sum(bits for since, bits in rights if version >= since)


def _allow_below(ruleset: int, path: bytes, rights: int) -> None:
    try:
        # O_PATH needs no right to read, and opens neither pipes nor devices.
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no right
    try:
        # The kernel refuses a rule for a file that has rights which only directories know.
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, descriptor)
        number = _number(_LANDLOCK_ADD_RULE)
        kind = ctypes.c_int(_LANDLOCK_RULE_PATH_BENEATH)
        check(syscall(number, ctypes.c_int(ruleset), kind, rule, ctypes.c_uint(0)))
    finally:
        os.close(descriptor)


def filter_calls(program: bytes) -> None:
    """Refuse system calls from now on, for good."""
    instructions = ctypes.create_string_buffer(program, len(program))
    loaded = _Filter(len(program) // 8, ctypes.addressof(instructions))
    check(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(loaded), 0, 0))


def _number(call: int) -> ctypes.c_long:
    return ctypes.c_long(call)


def check(result: int) -> int:
    """What a call gave. Raises OSError: it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
