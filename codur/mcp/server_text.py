"""Servers' words made fit to pass on: bounded, and without what a terminal acts on or a reader does not see."""

import unicodedata

from codur.lazy import regex

_ESCAPES = regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_LINE_ENDS = {"\u2028": "\n", "\u2029": "\n", "\r": "\n"}


def clean(text: str, limit: int) -> str:
    """`text` without escape sequences, control and format characters, cut at `limit` characters.

    Line feeds and tabs stay.
    """
    text = _ESCAPES.sub("", text[: 4 * limit].replace("\r\n", "\n"))
    table = {ord(char): _shown(char) for char in set(text)}
    text = text.translate(table)
    return text if len(text) <= limit else f"{text[:limit]}… [cut]"


def one_line(text: str, limit: int) -> str:
    """`clean`, on one line."""
    return clean(" ".join(clean(text, 4 * limit).split()), limit)


def _shown(char: str) -> str | None:
    if char in "\n\t":
        return char
    if char in _LINE_ENDS:
        return _LINE_ENDS[char]
    return None if unicodedata.category(char) in _UNSEEN else char
