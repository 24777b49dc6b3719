"""The line that is typed while a task works: it is drawn below the live view, and taken at Enter."""

import os
import select
import sys
import termios
import threading
import tty
from contextlib import suppress
from typing import Any

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.keys import Keys

from codur.cli.commit_words import commit_wish, without_condition
from codur.lazy import regex
from codur.questions import Guidance
from codur.session.stop import leaving

_MAX_CHARS = 2_000
_COMMAND = regex(r"!|/\w*(?:\s|$)")
_ESCAPE_S = 0.1
"""After this time an Esc is that key, and not the beginning of another."""
_ENTER = {Keys.ControlM, Keys.ControlJ}
_CLEARS = {Keys.Escape, Keys.ControlU}
_PASTES, _PASTES_NO_MORE = "\x1b[?2004h", "\x1b[?2004l"


class TypedLine:
    """What the user types while nobody asks anything."""

    def __init__(self) -> None:
        self.text = ""  # what is typed and not yet taken
        self.guidance = Guidance()  # gets each line
        # but those that begin with a mark, or wish for a commit: they are for the conversation, afterwards
        self.commands: list[str] = []
        self.tests_are_free = False  # the user said that no later task need ask whether a test may be changed
        self._input = Vt100Input(sys.stdin)
        self._before: list[Any] | None = None
        self._reader: threading.Thread | None = None
        self._end: tuple[int, int] = (-1, -1)

    def rows(self) -> list[str]:
        """What is shown of it: what waits for the next step, and what is being typed."""
        typed = [f"> {self.text}_"] if self.text else []
        waiting = (f"> {text} (for the next step)" for text in self.guidance.waiting)
        return [*waiting, *(f"> {text} (when this is done)" for text in self.commands), *typed]

    def start(self) -> None:
        """Read what is typed, from now on without its echo; Ctrl-C stays a signal."""
        if self._reader is not None:
            return
        self._before = termios.tcgetattr(self._input.fileno())
        leaving.append(self._give_back)
        tty.setcbreak(self._input.fileno(), termios.TCSANOW)  # what was typed before stays
        self._mark(_PASTES)
        self._end = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def stop(self) -> None:
        """Give the terminal back."""
        if self._reader is None:
            return
        os.write(self._end[1], b".")
        self._reader.join()
        self._reader = None
        for end in self._end:
            os.close(end)
        leaving.remove(self._give_back)
        self._give_back()

    def keeps(self, line: str) -> bool:
        """Keep a line that is for the conversation, and for no model; whether it is one."""
        plain = without_condition(line)
        command = _COMMAND.match(line) is not None
        if command or commit_wish(plain):
            self.commands.append(line if command else plain)
            return True
        return False

    def _give_back(self) -> None:
        if self._before is not None:
            self._mark(_PASTES_NO_MORE)
            with suppress(termios.error):  # a terminal that was closed
                termios.tcsetattr(self._input.fileno(), termios.TCSADRAIN, self._before)

    def _mark(self, code: str) -> None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), code.encode())

    def _read(self) -> None:
        wait: float | None = None
        while True:
            ready, _, _ = select.select([self._input.fileno(), self._end[0]], [], [], wait)
            if self._end[0] in ready or self._input.closed:
                return
            wait = _ESCAPE_S if ready else None
            for press in self._input.read_keys() if ready else self._input.flush_keys():
                self._take(press.key, press.data)

    def _take(self, key: Keys | str, data: str) -> None:
        if key in _ENTER:
            line, self.text = self.text.strip(), ""
            if not self.keeps(line) and line:
                self.guidance.say(line)
        elif key in _CLEARS:
            self.text = ""
        elif key == Keys.ControlH:
            self.text = self.text[:-1]
        elif key == Keys.ControlW:
            self.text = self.text.rstrip().rpartition(" ")[0]
        elif key == Keys.BracketedPaste or not isinstance(key, Keys):
            self.text = (self.text + " ".join(data.split("\n")))[:_MAX_CHARS]
