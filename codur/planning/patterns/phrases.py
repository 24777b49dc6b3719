"""Phrases with holes, and whether a whole request is one.

A phrase is a line such as `(show|print) [me] [the] file FILE`. Small words stand for themselves, `(a b|c)` is a
choice, `[a|b]` an optional one, `<name>` a part that phrases share, a word in capitals a hole that takes one token
(`FILE`), and `ARGS` takes all the rest. A request is settled only if a phrase matches it to its last word, so nothing
that was also asked for can be overlooked. Matching walks the phrase with backtracking over a request of at most
`MAX_WORDS` tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from codur.planning.patterns.prompt_tokens import Token
from codur.structs import Struct


def phrases(name: str) -> Sequence[str]:
    """The lines of a section, such as the phrases of a rule."""
    return _sections()[name]


@cache
def words(name: str) -> frozenset[str]:
    """The words of a section."""
    return frozenset(" ".join(phrases(name)).split())


@cache
def courtesies(name: str) -> frozenset[tuple[str, ...]]:
    """The phrases of a section that are divided by bars."""
    return frozenset(tuple(phrase.split()) for phrase in "|".join(phrases(name)).split("|"))


@cache
def parts() -> Mapping[str, str]:
    """What phrases share, by its name."""
    return {name: part for name, _, part in (line.partition(" = ") for line in phrases("parts"))}


@cache
def _sections() -> Mapping[str, Sequence[str]]:
    text = Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8").replace("\n  ", " ")
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("== "):
            section = sections[line[3:]] = []
        elif line and not line.startswith("#"):
            section.append(line)
    return sections


MAX_WORDS = 40
_SYMBOL = r"[()\[\]|]|[^()\[\]|\s]+"
_CLOSING = {"(": ")", "[": "]"}
_REST = "ARGS"

Captures: TypeAlias = Mapping[str, Any]
ReadHole: TypeAlias = Callable[[str, Token], Any]
"""(name of the hole, token) → what the token stands for there, or None if it does not fit."""


class _Choice(Struct, kw_only=False):
    options: tuple[_Sequence, ...]
    optional: bool


_Sequence: TypeAlias = tuple["str | _Choice", ...]


@cache
def parse(phrase: str) -> _Sequence:
    """The phrase as nested choices; ValueError if a bracket is not closed or not opened."""
    symbols = [*re.findall(_SYMBOL, phrase), ""]
    options, end = _options(symbols, 0)
    if end != len(symbols) - 1 or len(options) != 1:
        raise ValueError(f"the phrase {phrase!r} has a bracket or bar too many")
    return options[0]


def _options(symbols: Sequence[str], at: int) -> tuple[tuple[_Sequence, ...], int]:
    """The alternatives from a place on, and the place of the bracket or the end that closes them."""
    options: list[list[str | _Choice]] = [[]]
    while (symbol := symbols[at]) not in {")", "]", ""}:
        if symbol == "|":
            options.append([])
        elif symbol in _CLOSING:
            inner, at = _options(symbols, at + 1)
            if symbols[at] != _CLOSING[symbol]:
                raise ValueError("brackets of a phrase do not pair")
            options[-1].append(_Choice(inner, symbol == "["))
        elif symbol.startswith("<"):
            options[-1] += parse(parts()[symbol[1:-1]])
        else:
            options[-1].append(symbol)
        at += 1
    return tuple(map(tuple, options)), at


def match(phrase: str, tokens: Sequence[Token], read_hole: ReadHole) -> Captures | None:
    """What the phrase's holes take if it is the whole of `tokens`; None if it is not.

    A hole that occurs twice is captured as `FILE`, `FILE2`.
    """
    if not tokens or len(tokens) > MAX_WORDS:
        return None
    for end, captures in _walk(parse(phrase), tokens, 0, {}, read_hole):
        if end == len(tokens):
            return captures
    return None


def _walk(
    sequence: _Sequence, tokens: Sequence[Token], at: int, captures: Captures, read_hole: ReadHole
) -> Iterator[tuple[int, Captures]]:
    if not sequence:
        yield at, captures
        return
    head, rest = sequence[0], sequence[1:]
    for end, taken in _take(head, tokens, at, captures, read_hole):
        yield from _walk(rest, tokens, end, taken, read_hole)


def _take(
    item: str | _Choice, tokens: Sequence[Token], at: int, captures: Captures, read_hole: ReadHole
) -> Iterator[tuple[int, Captures]]:
    """Every way in which one item can take tokens from `at` on."""
    if isinstance(item, _Choice):
        for option in item.options:
            yield from _walk(option, tokens, at, captures, read_hole)
        if item.optional:
            yield at, captures
    elif item == _REST:
        if at < len(tokens):
            yield len(tokens), {**captures, _REST: tuple(tokens[at:])}
    elif at < len(tokens) and item.isupper():
        value = read_hole(item, tokens[at])
        if value is not None:
            yield at + 1, {**captures, f"{item}2" if item in captures else item: value}
    elif at < len(tokens) and tokens[at].key == item:
        yield at + 1, captures
