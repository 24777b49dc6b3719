"""The line that a terminal shows until something is written."""

from __future__ import annotations

import io
import os
import pty
import termios
from collections.abc import Iterator
from typing import TextIO

import pytest

from codur.events import CheckBegan
from codur.ui import placeholder
from codur.ui.guarded_streams import guarded
from codur.ui.output_formats import make_output
from codur.ui.sanitise import Shown
from codur.ui.stream import SafeStream

ERASED = "\r\x1b[2K"
END = "|"


class Screen:
    """A terminal: the stream that writes to it, and what came out."""

    def __init__(self, stream: TextIO, descriptor: int) -> None:
        self.stream = stream
        self._descriptor = descriptor

    def shown(self) -> str:
        self.stream.write(END)  # what a terminal was given is not there at once
        self.stream.flush()
        data = b""
        while not data.endswith(END.encode()):
            data += os.read(self._descriptor, 4096)
        return data.decode().removesuffix(END)


@pytest.fixture
def screen() -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield Screen(stream, ours)
        placeholder.erase()
    os.close(ours)


def columns(screen: Screen, number: int) -> None:
    termios.tcsetwinsize(screen.stream.fileno(), (24, number))


def test_whatever_is_written_to_either_stream_takes_its_place(screen: Screen) -> None:
    columns(screen, 80)
    for other in (SafeStream(screen.stream), guarded(screen.stream), guarded(io.StringIO())):
        placeholder.show("starting: fix\n\x1b main.py", screen.stream)
        assert screen.shown() == "\x1b[2mstarting: fix\\n\\x1b main.py\x1b[0m"
        other.write("")
        assert screen.shown() == ERASED
        other.write("")
        assert screen.shown() == ""


def test_it_takes_the_place_of_an_earlier_one_and_one_row_at_most(screen: Screen) -> None:
    columns(screen, 10)
    placeholder.show("a" * 30, screen.stream)
    placeholder.show("é" * 30, screen.stream)
    assert screen.shown() == f"\x1b[2m{'a' * 9}\x1b[0m{ERASED}\x1b[2m{'é' * 5}\x1b[0m"


def test_nothing_is_shown_where_there_is_no_terminal(screen: Screen) -> None:
    placeholder.show("words", io.StringIO())
    SafeStream(io.StringIO()).show_placeholder("words")
    others = guarded(screen.stream)
    others.write("x")
    others.flush()
    assert screen.shown() == "x"


def test_a_check_that_has_begun_is_named_until_something_is_told(screen: Screen) -> None:
    columns(screen, 80)
    output = make_output("rich", stdout=screen.stream, stderr=screen.stream)
    output.event(CheckBegan(check="python main.py"))
    assert screen.shown() == "\x1b[2mrunning `python main.py`\x1b[0m"
    SafeStream(screen.stream).put(Shown("told"))
    assert screen.shown() == f"{ERASED}told\r\n"
