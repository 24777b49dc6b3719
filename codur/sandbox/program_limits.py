"""From the settings of the sandbox to the bounds of a program, and to what the kernel enforces by itself."""

import os
import resource

from codur.config.settings import SandboxSettings
from codur.sandbox.program_policy import Limits

_MIB = 1_048_576
_CPU_SLACK_S = 5
_OPEN_FILES = 4096  # above what test suites open, and below what exhausts the machine
_STACK_BYTES = 8 * _MIB  # what glibc reserves for a thread


def limits_of(settings: SandboxSettings, timeout_s: float) -> Limits:
    """The bounds of a program that may take `timeout_s` seconds.

    Its processor time is that of all processors, so that it ends only what is no longer waited for.
    """
    return Limits(
        wall_s=timeout_s,
        cpu_s=(int(timeout_s) + _CPU_SLACK_S) * (os.cpu_count() or 1),
        memory_bytes=settings.memory_mb * _MIB,
        processes=settings.processes,
        file_bytes=settings.file_mb * _MIB,
        open_files=_OPEN_FILES,
    )


def resource_limits(limits: Limits) -> list[tuple[int, int, int]]:
    """What each process of a program is bound to by the kernel: resource, soft and hard limit.

    Data, not address space, is bounded: many runtimes reserve far more addresses than they use. Threads reserve a stack
    each, so the bound is by that much above the memory of the tree, which the starter watches. The number of processes
    is left to the starter too: the kernel counts all that the user runs, and does not bind root.
    """
    wanted = [(resource.RLIMIT_CORE, 0, 0)]  # a core dump would hold what the program read
    if limits.file_bytes:
        wanted.append((resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes))
    if limits.cpu_s:
        # the soft limit asks the program to end, the hard one ends it
        wanted.append((resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1))
    if limits.open_files:
        wanted.append((resource.RLIMIT_NOFILE, limits.open_files, limits.open_files))
    if limits.memory_bytes:
        data = limits.memory_bytes + limits.processes * _STACK_BYTES
        wanted.append((resource.RLIMIT_DATA, data, data))
    return wanted
