"""Tool calls that a model wrote as text.

Read are: `{"tool_calls": [...]}`, a list of calls, one call, several fenced calls, `<tool_call>…</tool_call>`,
`<function=NAME>{…}</function>`, the forms of `call_forms`, and the raw text of models whose service could not read it
(`NAME{…}</function>`, `… to=functions.NAME …<|message|>{…}`). A call names its tool as `name`, `tool` or `function` and
its arguments as `arguments`, `args` or `parameters`. `{"code": …, "path": …}`, with no more than words about it, asks
to replace a file; code of one line counts as mended unless the object is the whole answer. An answer of nothing but
lines such as `read app.py` counts as mended calls; so do calls in Python's form among other words.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from codur.lazy import regex
from codur.parsing.call_forms import (
    Call,
    CallsError,
    invoked_calls,
    line_calls,
    line_comes_first,
    lines_are_meant,
    named_starts,
    without_code,
)
from codur.parsing.code import FILE_KEYS
from codur.parsing.fences import fenced_blocks, strip_thinking
from codur.parsing.json_text import bracket_end, find_json, load_strict
from codur.types import ToolCall

REPLACE_FILE = "replace_file_content"
_NAME_KEYS = ("name", "tool", "tool_name")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "input")
_NAME = regex(r"[A-Za-z_][\w.-]*")
_TAGGED = regex(r"<tool_call>(?P<body>.*?)(?P<end></tool_call>|\Z)", re.DOTALL)
_FUNCTION = regex(
    r"(?:<function=)?(?P<name>[A-Za-z_][\w.-]*)\s*>?\s*(?P<body>\{.*?\})\s*(?P<end></function>)", re.DOTALL
)
_BEGIN = regex(r"[{\[<]|```|(?:\w+\s+)?to=|[A-Za-z_][\w.-]*\s*[({]")
_END = regex(r"[}\])>`]\Z")
_CHANNEL = regex(
    r"to=(?:functions\.)?(?P<name>[A-Za-z_][\w.-]*)[^{}]*?<\|message\|>\s*(?P<body>\{.*?)(?P<end><\|\w+\|>|\Z)",
    re.DOTALL,
)


def tool_calls_from_text(text: str, tools: Collection[str] = ()) -> tuple[ToolCall, ...]:
    """The tool calls written in `text`, in order, with ids `call_1`, `call_2` …

    All or nothing: if a part of the text was cut off, or the arguments of one call are not an object, there is no call
    at all, because the calls of one answer may depend on each other. In the same way all are marked as repaired if one
    was not written by the letter.

    Args:
        tools: names of the tools that there are; only they are read in the form of a call in Python, or in words.
    """
    said = strip_thinking(text)
    try:
        calls, repaired = _found(said, tools)
    except CallsError:
        return ()
    if not calls:
        calls, repaired = word_calls(said, tools), True
    return tuple(
        ToolCall(id=f"call_{number}", name=name, arguments=arguments, repaired=repaired)
        for number, (name, arguments) in enumerate(calls, start=1)
    )


def is_call_alone(text: str, tools: Collection[str] = ()) -> bool:
    """Whether an answer is nothing but calls, as far as its first and last characters tell."""
    said = strip_thinking(text).strip()
    return bool(_BEGIN.match(said) and _END.search(said)) or bool(word_calls(said, tools))


_Found = tuple[list[Call], bool]  # calls, and whether they had to be mended


def _found(said: str, tools: Collection[str]) -> _Found:
    text = without_code(said)
    marked = _marked_calls(text)
    if marked is not None:
        return marked
    called = line_calls(text, tools) if line_comes_first(text, tools) else []
    if not called:
        calls, repaired = _json_calls(text)
        if calls:
            return calls, repaired
        called = line_calls(text, tools)
    return called, not lines_are_meant(said, tools)


def _marked_calls(text: str) -> _Found | None:
    """The calls between marks that only calls have; None if there are no such marks."""
    invoked = invoked_calls(text)
    if invoked is not None:
        return invoked, False
    tagged = list(_TAGGED.finditer(text))
    if tagged:
        return _joined([_tagged_calls(match) for match in tagged])
    named = [(_clean_name(match["name"]), match["body"]) for match in _named_matches(text)] or named_starts(text)
    if named:
        read = [(name, *_object(body)) for name, body in named]
        return [(name, arguments) for name, arguments, _ in read], any(repaired for _, _, repaired in read)
    if "<function=" in text:
        raise CallsError
    return None


def _joined(parts: list[_Found]) -> _Found:
    return [call for calls, _ in parts for call in calls], any(repaired for _, repaired in parts)


def _named_matches(text: str) -> list[re.Match[str]]:
    if "</function>" in text:
        return list(_FUNCTION.finditer(text))
    return list(_CHANNEL.finditer(text)) if "<|message|>" in text else []


def _tagged_calls(match: re.Match[str]) -> _Found:
    calls, repaired = _json_calls(match["body"])
    if not match["end"] or not calls:
        raise CallsError
    return calls, repaired


def _json_calls(text: str) -> _Found:
    found = find_json(text)
    if found.cut:
        raise CallsError
    alone = _is_alone(text)
    calls, repaired = _joined([_calls_of(value, alone=alone) for value in found.values])
    return calls, repaired or found.repaired


def _is_alone(text: str) -> bool:
    """Whether `text` is one object and nothing else, in a fence or not."""
    text = text.strip()
    blocks = fenced_blocks(text)
    if len(blocks) == 1 and blocks[0].closed and (blocks[0].start, blocks[0].end) == (0, len(text)):
        text = blocks[0].text.strip()
    return text.startswith("{") and bracket_end(text, 0) == len(text)


def _calls_of(value: Any, *, alone: bool = False) -> _Found:
    if isinstance(value, list):
        return _joined([_calls_of(item) for item in value])
    if not isinstance(value, Mapping):
        return [], False
    listed = value.get("tool_calls")
    if isinstance(listed, list):
        return _joined([_call_of(item) for item in listed])
    if _name_of(value) is not None and any(key in value for key in _ARGUMENT_KEYS):
        return _call_of(value)
    if isinstance(value.get("function"), Mapping):
        return _call_of(value)
    return _file_of(value, alone=alone)


def _call_of(value: Any) -> _Found:
    """One entry of a list of calls. Raises CallsError: it has no name, or arguments that are not an object."""
    if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping):
        value = value["function"]
    name = _name_of(value) if isinstance(value, Mapping) else None
    if name is None:
        raise CallsError
    arguments: Any = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    repaired = False
    if isinstance(arguments, str):
        arguments, repaired = _object(arguments) if arguments.strip() else ({}, False)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise CallsError
    return [(name, dict(arguments))], repaired


def _name_of(value: Mapping[str, Any]) -> str | None:
    for key in (*_NAME_KEYS, "function"):
        name = value.get(key)
        if isinstance(name, str) and _NAME.fullmatch(_clean_name(name)):
            return _clean_name(name)
    return None


def _clean_name(name: str) -> str:
    """The name without the namespace and the control marks that some models leave on it."""
    return name.split("<|")[0].strip().removeprefix("functions.")


def _file_of(value: Mapping[str, Any], *, alone: bool) -> _Found:
    code, path = value.get("code"), value.get("path")
    if not isinstance(code, str) or not code.strip() or not value.keys() <= FILE_KEYS:
        return [], False
    given = {"path": path, "new_code": code} if isinstance(path, str) and path else {"new_code": code}
    return [(REPLACE_FILE, given)], not alone and "\n" not in code


def _object(text: str) -> tuple[dict[str, Any], bool]:
    """Arguments that stand as text, and whether they were mended; they must be JSON, or hold a single readable object.

    Raises:
        CallsError: they are not.
    """
    try:
        value, repaired = load_strict(text), False
    except ValueError:
        found = find_json(text)
        value = found.values[0] if len(found.values) == 1 and not found.cut else None
        repaired = found.repaired or not _is_alone(text)  # line ends in strings need no mending
    if not isinstance(value, dict):
        raise CallsError
    return value, repaired


_MOST_LINES = 8
_LONGEST_LINE = 2_000
_FILE = r"(?:the\s+)?(?:file\s+)?(?:@?[\w./+\-]*\w\.\w{1,8}|`[^`]+`|\"[^\"]+\"|'[^']+')"
_TEXT = r"(?:`[^`]*`|\"[^\"]*\"|'[^']*'|[^`\"'\s](?:[^`\"']*[^`\"'\s])?)"
_FORMS = tuple(
    (regex(form, re.IGNORECASE), tool)
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
_LEADING = regex(r"^(?:the\s+)?(?:file\s+)?@?", re.IGNORECASE)
_PATHS = frozenset({"path", "source", "target"})


def word_calls(text: str, tools: Collection[str]) -> list[Call]:
    """The calls, if every line is one and `tools` has them all; else none.

    Words are a guess of what is meant: good enough to read by, not to change anything by.
    """
    lines = [line.strip().rstrip(".;") for line in text.split("\n") if line.strip()]
    if not lines or len(lines) > _MOST_LINES or any(len(line) > _LONGEST_LINE for line in lines):
        return []
    known = [call for call in [_call(line) for line in lines] if call is not None and call[0] in tools]
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
