"""Streamed answers: bytes in, events out, and in the end a body as it would have come in one piece.

Events are those of the WHATWG's HTML standard, section 9.2.6. What is left of one when the stream ends is none.
`Speech` picks what may be shown while it comes: whole words of the text, without thoughts.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from codur.lazy import regex
from codur.llm.services.service_errors import error_of, status_of_error
from codur.parsing.json_values import read_json
from codur.structs import Struct


class StreamError(Exception):
    """An event says that the answer has failed: the decoded event, and the HTTP status that stands for it."""

    def __init__(self, body: Mapping[str, Any], status: int) -> None:
        super().__init__(status)
        self.body = body
        self.status = status


class UnreadableEventError(Exception):
    """An event is not what the protocol allows."""


class ServerEvent(Struct):
    """One event: its name (empty if it has none) and its data."""

    name: str
    data: str


class EventDecoder:
    """Puts events together from pieces of a stream that may be cut anywhere, within characters too."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._after_return = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that are complete with `piece`."""
        for line in self._lines(piece):
            name, _, value = line.partition(":")  # a comment is a field without a name
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._name = value
            elif not line and self._data:
                yield ServerEvent(name=self._name, data="\n".join(self._data))
                self._name, self._data = "", []
            elif not line:
                self._name = ""

    def _lines(self, piece: bytes) -> Iterator[str]:
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        if piece:
            self._after_return = piece.endswith(b"\r")
        *whole, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in whole:
            self._line += end
            yield self._line.decode("utf-8", "replace")
            self._line.clear()
        self._line += rest


class Collector(ABC):
    """Puts the events of one answer together."""

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether the stream has said that the answer is whole."""

    def add(self, event: ServerEvent) -> str:
        """Take an event; gives the text that it adds to the answer. StreamError if it tells an error."""
        value = read_json(event.data)
        if not isinstance(value, Mapping):
            raise UnreadableEventError
        if value.get("error"):
            raise StreamError(value, status_of_error(error_of(value)))
        return self._add(value)

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """What has come so far, as the service would have sent it in one piece; complete if `ended`."""

    @abstractmethod
    def _add(self, value: Mapping[str, Any]) -> str: ...


LONGEST_WORD = 4096  # some languages put no blanks between words
"""What has no white space for so long is shown all the same."""

_THOUGHT = "<think>"
_THOUGHT_END = "</think>"
_WORDS = regex(r"^.*\s", re.DOTALL)
_DATA = ("{", "[", "```json", "<tool_call")  # how an answer begins that is not for people


class Speech:
    """Turns the pieces of an answer's text into pieces that can be shown.

    A piece ends at white space, so that whoever looks for secrets in what is shown finds each one whole.
    """

    def __init__(self) -> None:
        self._held = ""
        self._begun = False
        self._mute = False

    def add(self, piece: str) -> str:
        """Take a piece; gives what can be shown now, which may be nothing."""
        if self._mute:
            return ""
        self._held += piece
        if not self._begun and not self._begin():
            return ""
        words = _WORDS.match(self._held)
        ready = words[0] if words else self._held if len(self._held) > LONGEST_WORD else ""
        self._held = self._held[len(ready) :]
        return ready

    def rest(self) -> str:
        """What is left at the end of the answer."""
        rest, self._held = self._held, ""
        return rest if self._begun and not self._mute else ""

    def _begin(self) -> bool:
        """Whether it is known that the text is for people; thoughts before it are left out."""
        text = self._held.lstrip()
        if text.startswith(_THOUGHT):
            _, end, text = text.partition(_THOUGHT_END)
            if not end:
                return False
            text = text.lstrip()
            self._held = text
        if any(mark.startswith(text) for mark in (_THOUGHT, *_DATA)):  # too short yet to tell
            return False
        self._mute = text.startswith(_DATA)
        self._begun = True
        self._held = "" if self._mute else text
        return not self._mute
