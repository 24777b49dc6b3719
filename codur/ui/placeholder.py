"""A line that a terminal shows until something is written: what has begun, before what shows a run is loaded."""

import contextlib
import os
from collections.abc import Mapping
from typing import TextIO

from codur.ui.sanitise import sanitise

_DIM, _PLAIN, _ERASE = "\x1b[2m", "\x1b[0m", "\r\x1b[2K"
_COLUMNS = 80  # of a terminal that does not tell
_shown: list[TextIO] = []
"""The stream whose terminal shows such a line."""


def is_simple(environ: Mapping[str, str]) -> bool:
    """Whether terminal codes are not wanted: `NO_COLOR` (https://no-color.org), `TERM=dumb` and `CI` say so."""
    dumb = environ.get("TERM", "").lower() in ("dumb", "unknown")
    in_ci = environ.get("CI", "").lower() not in ("", "0", "false")
    return bool(environ.get("NO_COLOR")) or dumb or in_ci


def show(text: str, terminal: TextIO) -> None:
    """Show a line, in the place of an earlier one; whatever is written next, to either stream, takes its place."""
    with contextlib.suppress(OSError):
        erase()
        columns = os.get_terminal_size(terminal.fileno()).columns or _COLUMNS
        # No wider than the terminal, whose last row alone is erased; other characters may take two columns.
        room = columns - 1 if text.isascii() else columns // 2
        shown = sanitise(text, keep_newlines=False).expandtabs(1)[: max(room, 0)]
        terminal.write(f"{_DIM}{shown}{_PLAIN}")
        terminal.flush()
        _shown.append(terminal)


def erase() -> None:
    """Take the line away, if one is there."""
    shown = _shown[:]
    _shown.clear()
    for terminal in shown:
        with contextlib.suppress(OSError):  # it has gone: who writes something that matters deals with that
            terminal.write(_ERASE)
            terminal.flush()
