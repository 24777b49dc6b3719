"""openat2(2), Linux 5.6 and later: open what is beneath a directory in one call, without following any link."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_SYSCALL = 437
"""The same on all architectures that Python runs on (asm-generic/unistd.h)."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_TRIES = 8

Openat2 = Callable[[int, bytes, int], int]


def open_beneath(directory: int, relative: str, flags: int) -> int | None:
    """Open a path below an open directory; None where the kernel cannot do it.

    Args:
        relative: links in it are refused, also the last part and those that stay inside; so is `..` that leads out.
        flags: as for `os.open`, without `O_CREAT`.

    Raises:
        OSError: as `os.open`; ELOOP for a link.
    """
    call = _openat2()
    if call is None:
        return None
    for _ in range(_TRIES):
        try:
            return call(directory, os.fsencode(relative), flags)
        except BlockingIOError:  # something was renamed meanwhile
            continue
    return None


@cache
def _openat2() -> Openat2 | None:
    """The call; None if the kernel does not know it, or a filter forbids it."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - lazy: 2 ms, and a workspace without subdirectories needs none of it

    libc = ctypes.CDLL(None, use_errno=True)
    resolve = _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS

    def call(directory: int, path: bytes, flags: int) -> int:
        how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
        number, size = ctypes.c_long(_SYSCALL), ctypes.c_size_t(ctypes.sizeof(how))
        found: int = libc.syscall(number, ctypes.c_long(directory), ctypes.c_char_p(path), how, size)
        if found < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), os.fsdecode(path))
        return found

    return call if _works(call) else None


def _works(call: Openat2) -> bool:
    here = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(call(here, b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EACCES):
            return False
        raise
    finally:
        os.close(here)
    return True
