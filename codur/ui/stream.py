"""Writing to standard output and standard error: how much, encodings that lack a character, readers that have gone."""

import contextlib
import errno
import io
import os
from collections.abc import Sequence
from typing import Protocol, TextIO

from codur.ui import placeholder
from codur.ui.guarded_streams import beneath
from codur.ui.sanitise import Shown

_READER_GONE = (errno.EPIPE, errno.EIO)
"""How writing fails on a pipe without a reader, and on a terminal that was closed."""

_ASCII = str.maketrans({"✔": "[ok]", "✘": "[x]", "→": "->", "▸": ">", "…": "..."}) | str.maketrans(
    "·–—‘’“”", "---''\"\""
)


def fit(text: str, encoding: str) -> str:
    """Give `text` in characters that `encoding` has: ASCII for our symbols, `\\uXXXX` for the rest."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text


class Typing(Protocol):
    """What is typed while the live line is there."""

    def rows(self) -> Sequence[str]: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class SafeStream:
    """A text stream that is always flushed, never fails on a character, and falls silent when its reader has gone.

    It has what rich needs of a file, so that both ways of writing share it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = beneath(stream)
        self._gone = False

    @property
    def encoding(self) -> str:
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def columns(self) -> int | None:
        """Width of the terminal; None if it is none, or does not tell."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or None
        except (OSError, io.UnsupportedOperation):
            return None

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write `text`; whoever calls this has sanitised it (see `put`)."""
        if not self._gone:
            try:
                placeholder.erase()
                self._stream.write(fit(text, self.encoding))
                self._stream.flush()
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Nothing to do: every write is flushed."""

    def put(self, text: Shown) -> None:
        """Write one line, or several, and end the line."""
        self.write(text + "\n")

    def show_placeholder(self, text: str) -> None:
        """Show a line on the terminal until something is written."""
        if self.isatty() and not self._gone:
            placeholder.show(text, self._stream)

    def write_exact(self, text: str) -> None:
        """Write `text` byte for byte (UTF-8); for pipes only, nothing is sanitised."""
        buffer = getattr(self._stream, "buffer", None)
        if buffer is None:
            self.write(text)
            return
        if self._gone:
            return
        try:
            buffer.write(_exact_bytes(text))
            buffer.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Drop everything from now on, also what is buffered: the interpreter flushes it when it ends.

        Raises:
            OSError: it was another error than that the reader has gone.
        """
        self._gone = True
        with contextlib.suppress(AttributeError, io.UnsupportedOperation):
            descriptor = self._stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
        if error.errno not in _READER_GONE:
            raise error


def _exact_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")
