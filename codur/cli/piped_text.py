"""What is piped into `codur TASK`: `pytest | codur "what is wrong"`."""

import os
import select
import stat
import sys

from codur.cli.printing import tell, warn
from codur.ui.styled_lines import count

FIRST_S, NEXT_S = 3.0, 60.0
"""A pipe that says nothing for so long, at its beginning or later, is one that was left open: it is not waited for."""
MAX_CHARS = 20_000
_MAX_BYTES = 4_000_000  # of what goes on without an end, as `yes` does


def piped_text() -> str:
    """The text that a pipe gives on standard input; empty if there is none.

    A file there is left alone: it may be what a loop reads (`while read line; do codur …; done < list`).
    """
    data = b""
    try:
        descriptor = sys.stdin.fileno()
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return ""
        while len(data) < _MAX_BYTES:
            if not select.select([descriptor], [], [], NEXT_S if data else FIRST_S)[0]:
                warn("standard input stays open and says nothing more; `< /dev/null` says that there is none")
                break
            if not (more := os.read(descriptor, 1 << 16)):
                break
            data += more
    except (AttributeError, OSError, ValueError):  # it was closed before the start, or cannot be read
        return ""
    text = data.decode("utf-8", "replace").strip()
    if text:
        tell(f"standard input is part of the task: {count(text.count(chr(10)) + 1, 'line')}")
    return text
