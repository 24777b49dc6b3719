"""What Codur and its process starter say to each other.

A program is asked for with one message on the starter's socket (`SOCK_SEQPACKET`) that carries descriptors only: the
program's control socket, its standard output, error and input, and what else it inherits. The request itself follows on
the control socket, as does everything about the program from then on. The end of the control socket means: kill it, and
all that it started.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict  # the starter is kept small: it is copied for each program

LENGTH = struct.Struct("=Q")
"""Precedes a request; the request is in the format of `marshal`, as both sides are the same Python."""
RECORD = struct.Struct("=BBi")
"""An answer: what it is about, a detail, a number."""

FAILED = 1
"""The program was not started; the detail is the stage, the number is the `errno`."""
ENDED = 2
"""The program has ended with the number as its exit status (-N: signal N); the detail is 1 if nothing of it is left."""
LIMIT = 3
"""The program is ended because of a limit; the detail says which."""

TERMINATE = b"T"
"""What Codur may write: ask the program to end."""

STAGE_DIRECTORY, STAGE_EXECUTE, STAGE_CONFINE = range(3)
LIMIT_MEMORY, LIMIT_PROCESSES = 1, 2

LandlockRules = tuple[tuple[bytes, int], ...]
"""Paths, and the rights (bits as in `linux/landlock.h`) at each and at all below it."""

Mounts = tuple[tuple[str, str, str, int, int], ...]
"""As `program_policy.Mount` has them."""

WRAPPER = "codur-init"
"""The name of the processes that keep a program's namespaces."""

Template = tuple[bool, bytes | None, LandlockRules | None, bool, bool, Mounts | None]
"""What is the same for all programs of a starter, and is its first message: whether to drop privileges, the filter of
system calls, the common Landlock rules (None: no Landlock), whether these leave TCP connections, whether each has a
network of its own, and the common mounts (None: no root of its own)."""

if TYPE_CHECKING:

    class Request(TypedDict):
        """How to start a program."""

        # argv, env, cwd: as `execve` takes them
        argv: list[bytes]
        env: dict[bytes, bytes]
        cwd: bytes
        candidates: list[bytes]  # paths of the program, tried in turn
        limits: list[tuple[int, int, int]]  # resource, soft and hard limit
        inherited: list[int]  # the numbers under which it gets the further descriptors
        has_input: bool  # a descriptor for its standard input is among those sent; otherwise it reads nothing
        # memory_bytes, processes: bounds of its whole tree; 0 means none
        memory_bytes: int
        processes: int
        wrapper: bytes  # the name of the processes of a program that only wraps it, which are not asked to end
        # landlock, mounts: of this program, beside the common ones
        landlock: LandlockRules
        mounts: Mounts
