"""Setting one value in JSON text without touching the characters of the others."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from codur.tools.data.keys import Key, index_of

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def splice(text: str, document: Any, parts: tuple[Key, ...], value: Any) -> str:
    """The text with another value.

    Args:
        text: valid JSON.
        document: what it says.
        parts: where; `keys.with_value` accepts them.
    """
    start = _skip(text, 0)
    for number, part in enumerate(parts):
        members = _members(text, start)
        name = index_of(document, part) if isinstance(document, list) else str(part)
        if name not in members:
            inner = value
            for later in reversed(parts[number + 1 :]):
                inner = {str(later): inner}
            return _added(text, start, members, None if isinstance(document, list) else str(part), inner)
        start, document = members[name][1], document[name]
    end = _DECODER.raw_decode(text, start)[1]
    return text[:start] + _written(value, text, start) + text[end:]


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _members(text: str, start: int) -> dict[Key | None, tuple[int, int, int]]:
    """Of an object or list: where each member, and its value, begins and where that ends; the last of equal names."""
    is_object = text[start] == "{"
    found: dict[Key | None, tuple[int, int, int]] = {}
    at = _skip(text, start + 1)
    number = 0
    while text[at] not in "}]":
        begin, name = at, number
        if is_object:
            name, at = scanstring(text, at + 1)
            at = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        found[name] = (begin, at, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        number += 1
    return found


def _added(text: str, start: int, members: dict[Key | None, tuple[int, int, int]], name: str | None, value: Any) -> str:
    """The text with one more member at the end of an object or list, on a line of its own if the others have one."""
    label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    if members:
        begin, _, end = list(members.values())[-1]
        own_line = "\n" in text[start:begin] and text[:begin].rstrip(" \t").endswith("\n")
        before = f",\n{_indent(text, begin)}" if own_line else ", "
        return text[:end] + before + label + _written(value, text, begin if own_line else start) + text[end:]
    end = _skip(text, start + 1)
    whole = {name: value} if name is not None else [value]
    return text[:start] + _written(whole, text, start) + text[end + 1 :]


def _indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found[0] if found else ""


def _written(value: Any, text: str, at: int) -> str:
    """The value as text for this place: over several lines if it holds something and the file has its members so."""
    if not isinstance(value, dict | list) or not value or "\n" not in text.strip():
        return json.dumps(value, ensure_ascii=False)
    step = re.match(r"\s*[\[{]\n([ \t]+)", text)
    written = json.dumps(value, indent=step[1] if step else 2, ensure_ascii=False)
    return written.replace("\n", f"\n{_indent(text, at)}")
