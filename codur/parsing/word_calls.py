"""Calls that a model wrote in plain words, such as `read app.py`: an answer of nothing but lines like these.

read FILE · write TEXT to FILE · append TEXT to FILE · replace TEXT with TEXT in FILE · move FILE to FILE ·
copy FILE to FILE · rename FILE to FILE · delete FILE
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from codur.parsing.call_forms import Call

_MOST_LINES = 8
_LONGEST_LINE = 2_000
_FILE = r"(?:the\s+)?(?:file\s+)?(?:@?[\w./+\-]*\w\.\w{1,8}|`[^`]+`|\"[^\"]+\"|'[^']+')"
_TEXT = r"(?:`[^`]*`|\"[^\"]*\"|'[^']*'|[^`\"'\s](?:[^`\"']*[^`\"'\s])?)"
_FORMS = tuple(
    (re.compile(form, re.IGNORECASE), tool)
    for form, tool in (
        (rf"(?:read|open|show)\s+(?P<path>{_FILE})", "read_file"),
        (rf"write\s+(?P<content>{_TEXT})\s+to\s+(?P<path>{_FILE})", "write_file"),
        (rf"append\s+(?P<content>{_TEXT})\s+to\s+(?P<path>{_FILE})", "append_file"),
        (rf"replace\s+(?P<old>{_TEXT})\s+with\s+(?P<new>{_TEXT})\s+in\s+(?P<path>{_FILE})", "replace_in_file"),
        (rf"(?:move|rename)\s+(?P<source>{_FILE})\s+to\s+(?P<target>{_FILE})", "move_file"),
        (rf"copy\s+(?P<source>{_FILE})\s+to\s+(?P<target>{_FILE})", "copy_file"),
        (rf"(?:delete|remove)\s+(?P<path>{_FILE})", "delete_file"),
    )
)
_LEADING = re.compile(r"^(?:the\s+)?(?:file\s+)?@?", re.IGNORECASE)
_PATHS = frozenset({"path", "source", "target"})


def word_calls(text: str, tools: Collection[str]) -> list[Call]:
    """The calls, if every line is one and `tools` has them all; else none.

    Words are a guess of what is meant: good enough to read by, not to change anything by.
    """
    lines = [line.strip().rstrip(".;") for line in text.split("\n") if line.strip()]
    if not lines or len(lines) > _MOST_LINES or any(len(line) > _LONGEST_LINE for line in lines):
        return []
    calls = [_call(line) for line in lines]
    known = [call for call in calls if call is not None and call[0] in tools]
    return known if len(known) == len(lines) else []


def _call(line: str) -> Call | None:
    for form, tool in _FORMS:
        match = form.fullmatch(line)
        if match is not None:
            values: dict[str, Any] = {key: _value(key, found) for key, found in match.groupdict().items()}
            return tool, values
    return None


def _value(key: str, written: str) -> str:
    text = _LEADING.sub("", written) if key in _PATHS else written
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "`\"'"
    return text[1:-1] if quoted else text
