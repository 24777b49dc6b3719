"""Greetings, thanks and other courtesies around a request, in the languages that prompts are often written in."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, get_args

from codur.planning.patterns.phrases import courtesies, words
from codur.planning.patterns.prompt_tokens import Token, keys

_LONGEST = 7  # words of the longest courtesy
_MARKS = frozenset(".,;:!?…()-–—¡¿\n")

Courtesy = Literal["hello", "thanks", "bye", "help"]


def greeting_in(tokens: Iterable[Token]) -> Courtesy | None:
    """Which courtesy the tokens are, if they are nothing else; None if anything more is said."""
    said = [key for token in tokens if (key := _spoken(token)) not in _MARKS]
    if {tuple(said), tuple(_bare(said))} & courtesies("help"):
        return "help"
    if len(said) > 1 and said[0] in words("before thanks"):
        said = said[1:]
    found: Courtesy | None = None
    while said:
        kinds = {kind: _longest(said, courtesies(kind)) for kind in get_args(Courtesy)[:3]}
        kind = max(kinds, key=lambda kind: kinds[kind])
        length = max(kinds[kind], _longest(said, courtesies("names")) if found else 0)
        if not length:
            return None
        found = found or kind
        said = said[length:]
    return found


def _spoken(token: Token) -> str:
    """The token's key; an emoji counts as a mark, other symbols and quoted texts as something unknown."""
    if token.kind in {"word", "mark"}:
        text = token.key.strip("-–—¡¿*")
        symbols = all(ord(char) >= 0x2600 and not char.isalnum() for char in text)
        return "." if symbols else text
    return "\0"


def _bare(said: list[str]) -> list[str]:
    """Without a greeting word in front and `please` at the end."""
    while said and (length := _longest(said, courtesies("openers"))) and len(said) > length:
        said = said[length:]
    return said[:-1] if said and said[-1] == "please" else said


def _longest(said: Sequence[str], known: Collection[tuple[str, ...]]) -> int:
    """Length of the longest known courtesy that `said` begins with, or 0."""
    return next((size for size in range(min(_LONGEST, len(said)), 0, -1) if tuple(said[:size]) in known), 0)


def without_courtesy(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The request itself: without greetings and polite words in front, thanks at the end, and outer punctuation."""
    said = keys(tokens)
    start, end = 0, len(tokens)
    while start < end and (
        step := _longest(said[start : min(end, start + _LONGEST)], courtesies("openers")) or said[start] in _MARKS
    ):
        start += step
    while start < end and (step := _closing_length(said[start:end])):
        end -= step
    tokens = tokens[start:end]
    # polite words right after `show me` and its like
    while len(tokens) > 2 and tokens[1].key in words("pronouns") and tokens[2].key in words("amid"):
        tokens = (*tokens[:2], *tokens[3:])
    return tokens


def _closing_length(said: tuple[str, ...]) -> int:
    if said[-1] in _MARKS:
        return 1
    return next((size for size in range(min(5, len(said) - 1), 0, -1) if said[-size:] in courtesies("closers")), 0)
