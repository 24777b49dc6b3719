"""Generated inputs: small, deterministic changes of recorded arguments and of the text on standard input."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

MOST = 40  # at a tenth of a second each these are the four seconds that a probe may take
_TOKEN = re.compile(r"[^\s]+")
_PER_VALUE = 6


def changed_arguments(calls: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Argument lists as literals: the recorded ones, then each with one argument changed."""
    found = dict.fromkeys(repr(list(call)) for call in calls)
    for which in range(_PER_VALUE):  # one change of each argument before the second of any: the list is cut at its end
        for call in calls:
            for index, value in enumerate(call):
                others = list(_changed(value))
                if which < len(others):
                    found[repr([*call[:index], others[which], *call[index + 1 :]])] = None
    return tuple(found)[:MOST]


def _changed(value: Any) -> Iterator[Any]:
    """Values near a value, of its type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value * 2, value + 7, type(value)(0), -value)
    elif isinstance(value, str):
        yield from (value[1:], value + value, value[::-1], value.swapcase(), value[:-1], "")
    elif isinstance(value, list | tuple):
        yield from (value[1:], value[::-1], type(value)([*value, *value]), value[:-1], type(value)(()))
        if value and isinstance(value[0], int | float | str):
            for other in list(_changed(value[0]))[:2]:
                yield type(value)([other, *value[1:]])
    elif isinstance(value, dict) and value:
        yield dict(list(value.items())[1:])
        yield dict(reversed(list(value.items())))


def changed_text(text: str) -> tuple[str, ...]:
    """The text, then with one number or word changed, or two neighbours swapped; the layout stays."""
    tokens = list(_TOKEN.finditer(text))
    found = {text: None}
    step = max(1, len(tokens) * 4 // MOST)  # over the whole text and not its beginning alone
    for which in range(4):
        for index in range(0, len(tokens), step):
            token = tokens[index]
            new = _token(token[0], which) if which < 3 else ""
            if which == 3 and index + 1 < len(tokens):
                other = tokens[index + 1]
                between = text[token.end() : other.start()]
                found[text[: token.start()] + other[0] + between + token[0] + text[other.end() :]] = None
            elif new and new != token[0]:
                found[text[: token.start()] + new + text[token.end() :]] = None
    return tuple(found)[:MOST]


def _token(token: str, which: int) -> str:
    """A number one up, one down or doubled; a word with two letters swapped, its first one doubled or dropped."""
    if re.fullmatch(r"-?\d{1,18}", token):
        return str((int(token) + 1, int(token) - 1, int(token) * 2)[which])
    if which == 0 and len(token) > 1:
        return token[1:] + token[0]
    if which == 1 and len(token) > 1:
        return token[::-1]
    return token[0] + token[1:-1] + token[0] if which == 2 and len(token) > 1 else ""
