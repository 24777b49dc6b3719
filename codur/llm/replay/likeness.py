"""Requests by what they ask, whatever differs between two runs of the same task: places, times, ids."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from codur.structs import Struct

if TYPE_CHECKING:
    from codur.llm.model import ChatRequest

_VARYING = (
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "0x…"),
    (re.compile(r"\b\d{8}-\d{4}-[a-z2-7]{3,}\b"), "<run>"),
    (re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s\"':,)\]]*/"), "<temporary>/"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds?|min)\b"), "<seconds>"),
)


class Likeness(Struct, kw_only=False):
    """A request in the form in which it is compared: lines of text."""

    lines: tuple[str, ...]

    def difference(self, other: Likeness) -> tuple[int, str, str] | None:
        """The first line that differs: its number from 1, here and there; None if there is none."""
        pairs = zip_longest(self.lines, other.lines, fillvalue="(nothing more)")
        return next(((number, mine, its) for number, (mine, its) in enumerate(pairs, 1) if mine != its), None)


def likeness_of(request: ChatRequest, places: Sequence[str]) -> Likeness:
    """The form of a request; limits of the answer's length are no part of it, for they depend on the service's state.

    Args:
        places: directories whose names do not count: the workspace.
    """
    parts = [f"purpose: {request.purpose}", f"form: {request.tool_choice} {request.json_object} {request.schema_name}"]
    parts += [f"tool: {tool.name}" for tool in request.tools]
    names: dict[str, str] = {}
    for message in request.messages:
        parts.append(f"{message.role} {names.get(message.tool_call_id, '')}".rstrip())
        parts.append(message.content)
        for call in message.tool_calls:
            names[call.id] = f"call {len(names) + 1}"
            parts.append(f"{names[call.id]}: {call.name} {_plain(call.arguments)}")
    return Likeness(tuple(_without("\n".join(parts), places).split("\n")))


def _without(text: str, places: Sequence[str]) -> str:
    # The longest first: a directory's name begins with that of the one above it.
    for place in sorted((item for item in places if len(item) > 1), key=len, reverse=True):
        text = text.replace(place, "<workspace>")
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
