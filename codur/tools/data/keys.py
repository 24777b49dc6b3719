"""Where a value is in a data file: `a.b[0].c`, `a["x.y"]`, or a JSON pointer such as `/a/b/0/c` (RFC 6901)."""

from __future__ import annotations

import re
from typing import Any

from codur.tools.tool import ToolError

Key = str | int
_PART = re.compile(
    r"""\.?(?:\[(?P<index>-?\d{1,9})\]|\["(?P<double>[^"]*)"\]|\['(?P<single>[^']*)'\]|(?P<name>[^.\[\]]+))"""
)


def parse_key(text: str) -> tuple[Key, ...]:
    """The parts of a key; none for the whole document.

    Raises:
        ToolError: `invalid`.
    """
    if text.startswith("/"):
        return tuple(part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/"))
    parts: list[Key] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or (at == 0 and text[0] == "."):
            raise ToolError("invalid", f'{text!r:.80} is no key; write it like a.b[0], a["x.y"] or /a/b/0')
        if found["index"] is not None:
            parts.append(int(found["index"]))
        else:
            parts.append(next(value for value in found.group("double", "single", "name") if value is not None))
        at = found.end()
    return tuple(parts)


def index_of(items: list[Any], part: Key) -> int | None:
    """The place in a list that a part names, counted from the end if it is negative; None if there is none."""
    if isinstance(part, str) and not re.fullmatch(r"-?\d{1,9}", part):
        return None
    number = int(part)
    number += len(items) if number < 0 else 0
    return number if 0 <= number < len(items) else None


def value_at(path: str, value: Any, key: str) -> Any:
    """The value that a key leads to.

    Raises:
        ToolError: `not_found` with the keys that there are.
    """
    for part in parse_key(key):
        if isinstance(value, list):
            place = index_of(value, part)
            if place is None:
                raise ToolError("not_found", f"{path} has no {key}: there is a list of {len(value)} at {part}")
            value = value[place]
        elif isinstance(value, dict) and str(part) in value:
            value = value[str(part)]
        else:
            there = ", ".join(list(value)[:12]) if isinstance(value, dict) else "no object"
            raise ToolError("not_found", f"{path} has no {key}; at {part} there is {there or 'nothing'}")
    return value


def with_value(path: str, document: Any, parts: tuple[Key, ...], value: Any) -> Any:
    """A copy of the document with another value at a key; objects on the way, and an item at a list's end, are made.

    Raises:
        ToolError: `not_found`: a part leads into something that is neither object nor list.
    """
    if not parts:
        return value
    part, rest = parts[0], parts[1:]
    if isinstance(document, list):
        place = index_of(document, part)
        if place is None and str(part) not in (str(len(document)), "-"):
            raise ToolError("not_found", f"{path} has a list of {len(document)} where {part} is asked for")
        place = len(document) if place is None else place
        inner = with_value(path, document[place] if place < len(document) else {}, rest, value)
        return [*document[:place], inner, *document[place + 1 :]]
    if not isinstance(document, dict):
        raise ToolError("not_found", f"{path} has no object where {part} is asked for")
    return {**document, str(part): with_value(path, document.get(str(part), {}), rest, value)}
