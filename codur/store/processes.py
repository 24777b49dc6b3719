"""Whether a process that wrote a record is still there: by its id and by when it began, as ids are used again."""

from __future__ import annotations

import os
from pathlib import Path

_START_FIELD = 22
"""Field of `/proc/<pid>/stat` with the start, in clock ticks since boot (proc_pid_stat(5))."""


def mark_of(pid: int) -> str:
    """What tells a process from a later one with the same id; empty where the system does not say, or it has ended."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    after_name = stat.rpartition(")")[2].split()  # a name may hold blanks and brackets
    if after_name[:1] == ["Z"]:  # ended, and only not yet waited for
        return ""
    return f"{boot}:{after_name[_START_FIELD - 3]}"


def is_alive(pid: int, mark: str) -> bool:
    """Whether the process is there that had this id and this mark."""
    # Where processes have marks, one without is gone: its record was written in its last moment.
    if mark or Path("/proc/self/stat").exists():
        return bool(mark) and mark_of(pid) == mark
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
