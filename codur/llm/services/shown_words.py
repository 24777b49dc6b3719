"""The part of a streamed answer that may be shown while it comes: whole words of the text, without thoughts."""

import re

from codur.lazy import regex

LONGEST_WORD = 4096  # some languages put no blanks between words
"""What has no white space for so long is shown all the same."""

_THOUGHT = "<think>"
_THOUGHT_END = "</think>"
_WORDS = regex(r"^.*\s", re.DOTALL)
_DATA = ("{", "[", "```json", "<tool_call")
"""How an answer begins that is not for people."""


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
