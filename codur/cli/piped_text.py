"""What is piped into `codur TASK`: `pytest | codur "what is wrong"`."""

import os
import select
import stat
import sys

from codur.cli.printing import tell, warn
from codur.parsing.bounded_text import bounded

SILENT_S = 5.0
"""A pipe that says nothing for so long is one that the caller left open, and is not waited for."""
MAX_CHARS = 20_000
_MAX_BYTES = 4_000_000  # of what goes on without an end, as `yes` does


def piped_text() -> str:
    """The text that a pipe or a file gives on standard input, cut in its middle; empty where there is neither."""
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):  # it was closed before the start
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
        return ""
    if not select.select([descriptor], [], [], SILENT_S)[0]:
        warn("nothing came on standard input; `< /dev/null` says that there is none")
        return ""
    data = b""
    while len(data) < _MAX_BYTES and (more := os.read(descriptor, 1 << 16)):
        data += more
    text = data.decode("utf-8", "replace").strip()
    if text:
        tell(f"standard input is part of the task: {text.count(chr(10)) + 1} lines")
    return bounded(text, MAX_CHARS)
