"""What the attacks share."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]
"""What an attacker knows: paths, ports, process ids and descriptors of the scene; never a secret itself."""
Program = Callable[[Facts], None]


def say(text: str) -> None:
    """Tell the suite something, at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def show(data: bytes | str) -> None:
    """Print what was stolen."""
    sys.stdout.write((data if isinstance(data, str) else data.decode("utf-8", "replace")).replace("\0", "\n") + "\n")


def library() -> ctypes.CDLL:
    """The C library, with `errno`."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a C function; -1 is an error.

    Raises:
        OSError: with the number in `errno`.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(what: str, x86_64: int, aarch64: int | None, *arguments: Any) -> int:
    """Make a system call by its number.

    Raises:
        OSError: it failed.
        RuntimeError: its number is not known on this machine.
    """
    number = {"x86_64": x86_64, "aarch64": aarch64}.get(platform.machine())
    if number is None:
        raise RuntimeError(f"{what} has no number here")
    words = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    function = library().syscall
    function.restype = ctypes.c_long
    return checked(function(ctypes.c_long(number), *words), what)


def first_success(attempts: list[Callable[[], object]]) -> None:
    """Try one way after the other.

    Raises:
        OSError: none works; the last error.
    """
    last: OSError | None = None
    for attempt in attempts:
        try:
            attempt()
        except OSError as error:
            last = error
        else:
            return
    if last is not None:
        raise last
