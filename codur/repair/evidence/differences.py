"""What the difference between what came out and what was expected says of the kind of mistake."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from codur.lazy import regex
from codur.types import Verdict

_COMPARED = (
    regex(r"^(?:E\s+)?(?:AssertionError: )?assert (.+) == (.+)$"),
    regex(r"^(?:E\s+)?AssertionError: (?:\w+ differ: )?(.+?) != (.+?)(?: : .*)?$"),
)
"""How pytest and unittest say what two values were; which of them was expected does not matter."""
_NUMBER = regex(r"(?<![\w.])-?\d+(?:\.\d+)?")
_ENOUGH = 0.5  # chosen: several tests fail in several ways, and some by the way
"""The share of all differences that a kind must explain."""


def shown_kinds(verdict: Verdict) -> tuple[str, ...]:
    """The kinds of mistakes (names in `hints.toml`) that explain how a failed check's values differ."""
    pairs = list(dict.fromkeys(_pairs(verdict)))
    found = Counter(kind for pair in pairs for kind in set(_kinds(*pair)))
    return tuple(kind for kind, times in found.items() if times >= _ENOUGH * len(pairs))


def _pairs(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Texts of values that should be equal: lines of an output, or what tests say of an assertion."""
    ours, theirs = verdict.actual.splitlines(), verdict.expected.splitlines()
    if len(ours) == len(theirs):
        yield from (pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1])
    for line in verdict.error.splitlines():
        for match in filter(None, (pattern.match(line) for pattern in _COMPARED)):
            yield match[1], match[2]


def _kinds(one: str, other: str) -> Iterator[str]:
    numbers = _NUMBER.findall(one), _NUMBER.findall(other)
    if len(numbers[0]) == len(numbers[1]) and _NUMBER.sub("", one) == _NUMBER.sub("", other):
        differing = [(float(a), float(b)) for a, b in zip(*numbers, strict=True) if a != b]
        if differing and all(abs(a - b) == 1 for a, b in differing):
            yield "off by one"
        if differing and all(a == -b for a, b in differing):
            yield "arithmetic"
    first, second = _value(one), _value(other)
    if isinstance(first, str | list | tuple) and type(first) is type(second):
        yield from _of_sequences(first, second)


def _of_sequences(one: Sequence[Any], other: Sequence[Any]) -> Iterator[str]:
    short, long = sorted((one, other), key=len)
    if len(short) == len(long) > 1 and sorted(map(repr, short)) == sorted(map(repr, long)):
        yield from ("sorting", "order of things")
    elif short and len(long) == len(short) + 1 and short in (long[1:], long[:-1]):
        yield "off by one"


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
