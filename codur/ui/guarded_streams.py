"""Standard output and standard error for what does not come from Codur's own writers.

Warnings, the loggers of libraries and the last words of threads are written to `sys.stderr` by others, with bytes of
the project in them. `SafeStream` reaches the stream beneath; everybody else is sanitised.
"""

from collections.abc import Iterable
from typing import Any, TextIO, cast

from codur.ui import placeholder
from codur.ui.sanitise import sanitise


class GuardedStream:
    """A text stream that sanitises what is written to it; all else is as in the stream beneath."""

    def __init__(self, stream: TextIO) -> None:
        self.beneath = stream  # that stream, for writers that sanitise themselves

    def write(self, text: str) -> int:
        """Write `text`, sanitised."""
        placeholder.erase()
        self.beneath.write(sanitise(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, sanitised."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


def guarded(stream: TextIO) -> TextIO:
    """`stream` for others to write to."""
    return cast(TextIO, GuardedStream(stream))


def beneath(stream: TextIO) -> TextIO:
    """The stream under a guarded one; any other stream itself."""
    return stream.beneath if isinstance(stream, GuardedStream) else stream
