"""The filter of system calls that a contained program gets, as the bytes of a classic BPF program.

It is put together here, without a package: `pyseccomp` needs the library libseccomp, which is not on every system.
Which calls it knows, and their numbers, is in `system_calls.txt`; the layout of what the filter sees is
`struct seccomp_data` in `linux/seccomp.h`.
"""

import errno
import platform
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_ANY_BIT = 0x45
_AND = 0x54
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16

_X32_BIT = 0x40000000
_NEW_NAMESPACE = 0x7E020000
_NEW_TIME_NAMESPACE = 0x80
"""Has this meaning for `unshare` only; for `clone` these bits are the signal at the child's end."""
_SET_ID_BITS = 0o6000
_CREATES = 0o100 | 0o20000000
"""`O_CREAT` and `__O_TMPFILE`: only then has `open` a mode."""
# Linux, Linux on 32 bits, the same with UNAME26, and the question which it is
_HARMLESS_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
_PUSH_INTO_TERMINAL = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`: a program could type into the terminal that Codur runs in."""
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_AF_NETLINK, _NETLINK_ROUTE = 16, 0
_STREAM, _SEQUENCED = 1, 5
_SOCKET_TYPE = 0xF
_SEGMENT_BYTES = 65_536
"""Of a System V segment; there are 4,096 at most, and no process is seen to use those that none has attached."""

NO_FILTER = f"there is no filter of system calls for {platform.machine()}"

_Instruction = tuple[int, int, int, int]
_Rule = list[_Instruction]

_MACHINES: Mapping[str, tuple[int, int]] = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column in the tables, and the audit architecture."""


@cache
def _calls() -> Mapping[str, Mapping[str, tuple[int | None, ...]]]:
    """By section of `system_calls.txt`: the numbers of each call, by its name."""
    sections: dict[str, dict[str, tuple[int | None, ...]]] = {}
    for line in Path(__file__).with_name("system_calls.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("== "):
            section = sections[line[3:]] = {}
        elif line and not line.startswith("#"):
            name, *numbers = line.split()
            section[name] = tuple(None if number == "-" else int(number) for number in numbers)
    return sections


def filter_program(
    *, network: bool, shared: bool = False, alone: bool = True, machine: str | None = None
) -> bytes | None:
    """The filter as an array of `struct sock_filter`.

    Args:
        network: the program has a network of its own: it may have sockets of the Internet and Unix families. Otherwise
            it may have pairs of connected sockets only.
        shared: it has the machine's network: sockets of the Internet families, and no Unix ones but connected pairs.
        alone: it has process ids, IPC and a root of its own.
        machine: as `uname -m` names it; this one's if None.

    Returns:
        None for a machine whose numbers of system calls are not known here.
    """
    found = _MACHINES.get(platform.machine() if machine is None else machine)
    if found is None:
        return None
    column, architecture = found
    program: list[_Instruction] = [
        # First the architecture: a 32-bit call has other numbers, and would be taken for another call.
        _load(_ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture),
        _refuse(errno.EPERM),
        _load(_NUMBER_AT),
        # The x32 calls share the architecture and have this bit in their number.
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        _refuse(errno.EPERM),
    ]
    calls = _calls()
    unknown = calls["unknown"] if alone else {**calls["unknown"], **calls["beside others"]}
    for table, error in ((calls["denied"], errno.EPERM), (unknown, errno.ENOSYS)):
        for numbers in table.values():
            program += _when_called(numbers[column], [_refuse(error)])
    for name, numbers in ({} if alone else calls["of processes"]).items():
        program += _when_called(numbers[column], _own_process(name))
    for name, rule in _rules(network=network, shared=shared).items():
        program += _when_called(calls["by argument"][name][column], rule)
    program.append(_allow())
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _rules(*, network: bool, shared: bool) -> dict[str, _Rule]:
    """What decides on a call that was recognised; each ends in a return."""
    return {
        # In a new user namespace a program has every capability, and far more of the kernel to attack.
        "clone": _deny_bits(0, _NEW_NAMESPACE),
        "unshare": _deny_bits(0, _NEW_NAMESPACE | _NEW_TIME_NAMESPACE),
        "ioctl": _deny_values(1, _PUSH_INTO_TERMINAL),
        # Others switch off the randomisation of addresses, or make all that is readable executable.
        "personality": _allow_values(0, _HARMLESS_PERSONALITIES),
        "prlimit64": _own_limits(),
        "shmget": _small_segment(),
        "socket": _sockets(network=network, shared=shared),
        # Without a network of its own a pair is all the sockets there are.
        "socketpair": _allow_values(0, (_AF_UNIX,)) if network else _connected_pair(),
        "chmod": _deny_bits(1, _SET_ID_BITS),
        "fchmod": _deny_bits(1, _SET_ID_BITS),
        "fchmodat": _deny_bits(2, _SET_ID_BITS),
        "fchmodat2": _deny_bits(2, _SET_ID_BITS),
        "open": _plain_creation(1, 2),
        "openat": _plain_creation(2, 3),
        "creat": _deny_bits(1, _SET_ID_BITS),
        "mknod": _deny_bits(1, _SET_ID_BITS),
        "mknodat": _deny_bits(2, _SET_ID_BITS),
    }


def _sockets(*, network: bool, shared: bool) -> _Rule:
    if shared:
        return _allow_values(0, (_AF_INET, _AF_INET6))
    if not network:
        return [_refuse(errno.EPERM)]
    # What lists network interfaces (ZeroMQ and so Jupyter, Node, Java) asks the kernel by this protocol, and no other.
    route = [_load_argument(2), (_JUMP_EQUAL, 0, 1, _NETLINK_ROUTE), _allow(), _refuse(errno.EPERM)]
    others = _allow_values(0, (_AF_UNIX, _AF_INET, _AF_INET6))
    return [_load_argument(0), (_JUMP_EQUAL, 0, len(route), _AF_NETLINK), *route, *others]


def _when_called(number: int | None, rule: _Rule) -> list[_Instruction]:
    # Jumps have eight bits: a rule may have 255 instructions.
    return [] if number is None else [(_JUMP_EQUAL, 0, len(rule), number), *rule]


def _deny_bits(argument: int, bits: int) -> _Rule:
    return [_load_argument(argument), (_JUMP_ANY_BIT, 0, 1, bits), _refuse(errno.EPERM), _allow()]


def _deny_values(argument: int, values: Iterable[int]) -> _Rule:
    tests = [step for value in values for step in ((_JUMP_EQUAL, 0, 1, value), _refuse(errno.EPERM))]
    return [_load_argument(argument), *tests, _allow()]


def _allow_values(argument: int, values: Iterable[int]) -> _Rule:
    tests = [step for value in values for step in ((_JUMP_EQUAL, 0, 1, value), _allow())]
    return [_load_argument(argument), *tests, _refuse(errno.EPERM)]


def _plain_creation(flags: int, mode: int) -> _Rule:
    """A new file must not be born with a set-user-ID or set-group-ID bit."""
    return [_load_argument(flags), (_JUMP_ANY_BIT, 1, 0, _CREATES), _allow(), *_deny_bits(mode, _SET_ID_BITS)]


def _own_limits() -> _Rule:
    """Limits of the calling process may be set, those of others only read."""
    return [
        _load_argument(0),
        (_JUMP_EQUAL, 0, 1, 0),
        _allow(),
        _load_argument(2),
        (_JUMP_EQUAL, 0, 3, 0),
        _load_argument(2, high=True),
        (_JUMP_EQUAL, 0, 1, 0),
        _allow(),
        _refuse(errno.EPERM),
    ]


def _small_segment() -> _Rule:
    """Memory of a size as databases ask for beside what they map."""
    return [
        _load_argument(1, high=True),
        (_JUMP_EQUAL, 0, 2, 0),
        _load_argument(1),
        (_JUMP_AT_LEAST, 0, 1, _SEGMENT_BYTES + 1),
        _refuse(errno.EINVAL),  # as the kernel says that one is too large
        _allow(),
    ]


def _own_process(name: str) -> _Rule:
    """The number 0 is oneself; where a kind comes before it, those of processes and groups (of users, it is all)."""
    if name == "setpriority":
        return [_load_argument(0), (_JUMP_AT_LEAST, 0, 1, 2), _refuse(errno.EPERM), *_allow_values(1, (0,))]
    if name == "ioprio_set":
        return [_load_argument(0), (_JUMP_AT_LEAST, 0, 1, 3), _refuse(errno.EPERM), *_allow_values(1, (0,))]
    return _allow_values(0, (0,))


def _connected_pair() -> _Rule:
    """Unix pairs that stay connected to each other: one for datagrams could send to any socket in the file system."""
    return [
        _load_argument(0),
        (_JUMP_EQUAL, 1, 0, _AF_UNIX),
        _refuse(errno.EPERM),
        _load_argument(1),
        (_AND, 0, 0, _SOCKET_TYPE),
        (_JUMP_EQUAL, 1, 0, _STREAM),
        (_JUMP_EQUAL, 0, 1, _SEQUENCED),
        _allow(),
        _refuse(errno.EPERM),
    ]


def _load(offset: int) -> _Instruction:
    return (_LOAD_WORD, 0, 0, offset)


def _load_argument(index: int, *, high: bool = False) -> _Instruction:
    """Half of an argument; both machines are little-endian. The kernel, too, sees flags and modes as 32 bits."""
    return _load(_ARGUMENTS_AT + 8 * index + (4 if high else 0))


def _refuse(error: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | error)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)
