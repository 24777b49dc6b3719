"""Lines of styled parts: the same content for the plain and the rich output, sanitised where it is made."""

import unicodedata
from collections.abc import Iterable
from typing import Literal

from codur.lazy import regex
from codur.structs import Struct
from codur.ui.sanitise import Shown, sanitise

_WORD = regex(r"\S+")
_BEFORE = regex(r"[ │]*(?:> )?\| |[ │]*")
"""What stands before a line's words: a bar behind which foreign text is kept, or space."""
LEAST_OF_SENTENCES = 14
"""Columns of the terminal that a table's column of sentences takes at least."""
_MOST_BEFORE = 3
"""What stands before the words of a folded line takes at most one part in so many of its width."""

Style = Literal["plain", "good", "bad", "warn", "dim", "strong", "added", "removed", "hunk"]


class Span(Struct, kw_only=False):
    """A part of a line in one style."""

    text: Shown
    style: Style


class Line(Struct, kw_only=False):
    """One line of output, without its line end. Made by `line` and `block` only."""

    spans: tuple[Span, ...]

    @property
    def text(self) -> Shown:
        return Shown("".join(span.text for span in self.spans))


def line(*parts: str | tuple[str, Style]) -> Line:
    """Make one line of parts; a plain string is in the plain style. Line feeds inside are made visible."""
    pairs: Iterable[tuple[str, Style]] = ((part, "plain") if isinstance(part, str) else part for part in parts)
    return Line(tuple(Span(sanitise(text, keep_newlines=False), style) for text, style in pairs))


def block(text: str, *, style: Style = "plain", prefix: str = "") -> list[Line]:
    """Make one line for each line of `text`; a final line feed does not count."""
    if not text:
        return []
    return [line((prefix + row, style)) for row in text.removesuffix("\n").split("\n")]


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def fold(item: Line, width: int | None) -> list[Line]:
    """Give `item` as lines of at most `width` columns, broken between words only: a longer word is left whole.

    What follows the first stands below its beginning, behind the same bar if there is one. None: it is not folded.
    """
    text = item.text
    if width is None or cells(text) <= width:
        return [item]
    found = _BEFORE.match(text)
    before = found.group().replace(">", " ") if found else ""
    before = before if len(before) * _MOST_BEFORE <= width else ""
    lines: list[Line] = []
    start, end, room = 0, 0, width
    for word in _WORD.finditer(text, found.end() if found else 0):
        if end and cells(text[start : word.end()]) > room:
            lines.append(_part(item, start, end, before if lines else ""))
            start, room = word.start(), width - len(before)
        end = word.end()
    return [*lines, _part(item, start, len(text), before if lines else "")]


def folds(column: Iterable[Line]) -> bool:
    """Whether a table's column holds sentences, which may be folded; ids and names stay whole."""
    return any(" " in cell.text and cells(cell.text) > LEAST_OF_SENTENCES for cell in column)


def folded(lines: Iterable[Line], width: int | None) -> list[Line]:
    """Give all lines folded."""
    return [part for item in lines for part in fold(item, width)]


def _part(item: Line, start: int, end: int, before: str) -> Line:
    """The characters of a line from `start` to `end`, behind a text."""
    spans = [Span(Shown(before), "dim")] if before else []
    place = 0
    for span in item.spans:
        text = span.text[max(start - place, 0) : max(end - place, 0)]
        place += len(span.text)
        spans += [Span(Shown(text), span.style)] if text else []
    return Line(tuple(spans))


def clip(text: str, *, width: int = 120) -> str:
    """Give `text` cut to `width` characters, for values quoted within a line."""
    return text if len(text) <= width else text[: width - 1] + "…"


def count(number: int, noun: str) -> str:
    """Give a number with its noun: `1 line`, `1,200 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """Give a share from 0 to 1 in whole percent, rounded down: only all of it is 100 %."""
    return f"{int(share * 100)} %"


def joined(lines: Iterable[Line]) -> Shown:
    """Give the lines as plain text."""
    return Shown("\n".join(item.text for item in lines))
