"""Lines of styled parts: the same content for the plain and the rich output, sanitised where it is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from codur.structs import Struct
from codur.ui.sanitise import Shown, sanitise

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
