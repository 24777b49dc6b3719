"""Texts compared: lines, spellings, and what a prompt tells a program to print."""

import re
from difflib import SequenceMatcher

from codur.lazy import regex

SIMILAR = 0.6
MAX_COMPARED_CHARS = 500  # `SequenceMatcher` takes the square of the length

FIGURES = regex(r"\d+")
WORD = regex(r"\w+")
_FENCE = regex(r"(?P<lead>[^\n]*\n?)[ \t]*```.*?(?:```|\Z)", re.DOTALL)
_TELLS_TEXT = regex(r"\b(print|exactly|verbatim|text|following|banner|message)", re.IGNORECASE)
_TELLS_RESULT = regex(r"\b(expected|output)\b", re.IGNORECASE)
_EXPECTATION = regex(r"\b(?:expected|desired|output)\b[^:\n]{0,40}:.*?(?=\n[ \t]*\n|\Z)", re.IGNORECASE | re.DOTALL)


def lines_of(text: str) -> list[str]:
    """The lines that are not empty, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def short(text: str) -> str:
    line = next(iter(lines_of(text)), text)
    return line if len(line) <= 40 else f"{line[:39]}…"


def is_number(value: str) -> bool:
    return re.fullmatch(r"-?\d[\d.]*", value) is not None


def is_similar(one: str, other: str) -> bool:
    """Could one be a repaired spelling of the other?"""
    matcher = SequenceMatcher(None, one[:MAX_COMPARED_CHARS].casefold(), other[:MAX_COMPARED_CHARS].casefold())
    # The two quick ones are upper bounds, and spare the slow one for nearly all pairs.
    return matcher.real_quick_ratio() >= SIMILAR <= matcher.quick_ratio() and matcher.ratio() >= SIMILAR


def told_to_print(prompt: str, expected: str) -> str:
    """The prompt in lower case without the expected output that it states: that is a result, not a text to copy."""
    lines = lines_of(expected)
    if len(lines) == 1 and not FIGURES.search(lines[0]):  # "print hello": the expected output is what it is told
        return prompt.casefold()
    return _EXPECTATION.sub(" ", _FENCE.sub(_text_in_fence, prompt)).casefold()


def _text_in_fence(match: re.Match[str]) -> str:
    lead = match["lead"]
    return match[0] if _TELLS_TEXT.search(lead) and not _TELLS_RESULT.search(lead) else lead
