"""A program at a pseudo-terminal, as a user has it: what is shown is read, what is typed is sent."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from tests.support import nursery

PATIENCE_S = 300.0
CTRL_C, CTRL_D = "\x03", "\x04"
_ROWS, _COLUMNS = 50, 140
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_AT_ITS_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Process(Protocol):
    """What runs at a terminal."""

    def poll(self) -> int | None:
        """Its exit code; None if it has not ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended."""

    def kill(self) -> None:
        """SIGKILL."""

    def send_signal(self, sig: int) -> None:
        """Send it a signal."""


class Forked:
    """A command line of Codur's that the nursery has forked."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """See `Process`."""
        if self._code is None:
            self._code = nursery.shared().asked({"wait": self._pid, "at_once": True}).get("code")
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """See `Process`."""
        if self._code is None:
            self._code = nursery.shared().asked({"wait": self._pid})["code"]
        return self._code

    def kill(self) -> None:
        """See `Process`."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, sig: int) -> None:
        """See `Process`."""
        os.kill(self._pid, sig)


class Terminal:
    """A program with a terminal of its own; use it as a context.

    Args:
        words: the program and its arguments; of Codur's, if `forked`, the arguments alone.
        stdout: where its standard output goes; None: to the terminal too.
        forked: it is forked from a process that has loaded Codur: see `nursery`.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        stdout: Path | None = None,
        columns: int = _COLUMNS,
        forked: bool = False,
    ) -> None:
        self._screen, slave = pty.openpty()
        self.resize(columns)
        out = os.open(stdout, os.O_WRONLY | os.O_CREAT) if stdout else os.dup(slave)
        variables = {"TERM": "xterm", **environ}
        self.process: Process
        if forked:
            streams = (slave, out, slave)
            self.process = Forked(nursery.shared().fork(words, streams, cwd=cwd, variables=variables, at_terminal=True))
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _AT_ITS_TERMINAL, *words],
                cwd=cwd,
                env=variables,
                stdin=slave,
                stdout=out,
                stderr=slave,
                start_new_session=True,
            )
        os.close(slave)
        os.close(out)
        self.bytes = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was shown, without colours and movements."""
        return _STYLE.sub("", self.bytes.decode("utf-8", "replace")).replace("\r\n", "\n")

    def until(self, words: str) -> str:
        """Wait until this is shown, after what was waited for before; gives what was shown since then."""
        deadline = time.monotonic() + PATIENCE_S
        while (place := self.text.find(words, self._seen)) < 0:
            assert time.monotonic() < deadline, f"{words!r} is not shown:\n{self.text}"
            assert self._more(), f"it ended before {words!r} was shown:\n{self.text}"
        since, self._seen = self.text[self._seen : place], place + len(words)
        return since

    def press(self, keys: str) -> None:
        """Type these keys; `\\n` is Enter."""
        os.write(self._screen, keys.encode())

    def resize(self, columns: int) -> None:
        """Make it so wide; the program gets SIGWINCH."""
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))

    def answer(self, question: str, keys: str) -> str:
        """Wait for a question and type a line; gives what was shown before the question."""
        shown = self.until(question)
        self.press(f"{keys}\n")
        return shown

    def ended(self) -> int:
        """Wait for its end; gives the exit code."""
        while self._more():
            pass
        return self.process.wait(PATIENCE_S)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], PATIENCE_S)
        assert ready, f"nothing more is shown:\n{self.text}"
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # Linux says so when the program's side was closed
            data = b""
        self.bytes += data
        return bool(data)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        os.close(self._screen)
