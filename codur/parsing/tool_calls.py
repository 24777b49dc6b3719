"""Tool calls that a model wrote as text.

Read are: `{"tool_calls": [...]}`, a list of calls, one call, several fenced calls, `<tool_call>…</tool_call>`,
`<function=NAME>{…}</function>`, and the raw text of models whose service could not read it (`NAME{…}</function>`,
`… to=functions.NAME …<|message|>{…}`). A call names its tool as `name`, `tool` or `function` and its arguments as
`arguments`, `args` or `parameters`. `{"code": …, "path": …}` asks to replace a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codur.parsing.fences import strip_thinking
from codur.parsing.json_text import find_json, load_strict
from codur.types import ToolCall

REPLACE_FILE = "replace_file_content"
_NAME_KEYS = ("name", "tool", "tool_name")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "input")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_TAGGED = re.compile(r"<tool_call>(?P<body>.*?)(?P<end></tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(
    r"(?:<function=)?(?P<name>[A-Za-z_][\w.-]*)\s*>?\s*(?P<body>\{.*?\})\s*(?P<end></function>)", re.DOTALL
)
_CHANNEL = re.compile(
    r"to=(?:functions\.)?(?P<name>[A-Za-z_][\w.-]*)[^{}]*?<\|message\|>\s*(?P<body>\{.*?)(?P<end><\|\w+\|>|\Z)",
    re.DOTALL,
)


class _CallsError(ValueError):
    """The text holds something that looks like a call and cannot be read as one."""


def tool_calls_from_text(text: str) -> tuple[ToolCall, ...]:
    """The tool calls written in `text`, in order, with ids `call_1`, `call_2` …

    All or nothing: if a part of the text was cut off, or the arguments of one call are not an object, there is no call
    at all, because the calls of one answer may depend on each other.
    """
    text = strip_thinking(text)
    try:
        calls = _marked_calls(text)
        if calls is None:
            calls = _json_calls(text)
    except _CallsError:
        return ()
    return tuple(
        ToolCall(id=f"call_{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(calls, start=1)
    )


_Call = tuple[str, dict[str, Any]]


def _marked_calls(text: str) -> list[_Call] | None:
    """The calls between marks that only calls have; None if there are no such marks."""
    tagged = list(_TAGGED.finditer(text))
    if tagged:
        return [call for match in tagged for call in _tagged_calls(match)]
    named = _named_matches(text)
    if named:
        return [(_clean_name(match["name"]), _object(match["body"])) for match in named]
    if "<function=" in text:
        raise _CallsError
    return None


def _named_matches(text: str) -> list[re.Match[str]]:
    if "</function>" in text:
        return list(_FUNCTION.finditer(text))
    return list(_CHANNEL.finditer(text)) if "<|message|>" in text else []


def _tagged_calls(match: re.Match[str]) -> list[_Call]:
    calls = _json_calls(match["body"])
    if not match["end"] or not calls:
        raise _CallsError
    return calls


def _json_calls(text: str) -> list[_Call]:
    found = find_json(text)
    if found.cut:
        raise _CallsError
    return [call for value in found.values for call in _calls_of(value)]


def _calls_of(value: Any) -> list[_Call]:
    if isinstance(value, list):
        return [call for item in value for call in _calls_of(item)]
    if not isinstance(value, Mapping):
        return []
    listed = value.get("tool_calls")
    if isinstance(listed, list):
        return [_call_of(item) for item in listed]
    if _name_of(value) is not None and any(key in value for key in _ARGUMENT_KEYS):
        return [_call_of(value)]
    if isinstance(value.get("function"), Mapping):
        return [_call_of(value)]
    return _file_of(value)


def _call_of(value: Any) -> _Call:
    """One entry of a list of calls.

    Raises:
        _CallsError: it has no name, or arguments that are not an object.
    """
    if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping):
        value = value["function"]
    name = _name_of(value) if isinstance(value, Mapping) else None
    if name is None:
        raise _CallsError
    arguments: Any = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    if isinstance(arguments, str):
        arguments = _object(arguments) if arguments.strip() else {}
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise _CallsError
    return name, dict(arguments)


def _name_of(value: Mapping[str, Any]) -> str | None:
    for key in (*_NAME_KEYS, "function"):
        name = value.get(key)
        if isinstance(name, str) and _NAME.fullmatch(_clean_name(name)):
            return _clean_name(name)
    return None


def _clean_name(name: str) -> str:
    """The name without the namespace and the control marks that some models leave on it."""
    return name.split("<|")[0].strip().removeprefix("functions.")


def _file_of(value: Mapping[str, Any]) -> list[_Call]:
    code, path = value.get("code"), value.get("path")
    if not isinstance(code, str) or not code.strip():
        return []
    return [(REPLACE_FILE, {"path": path, "content": code} if isinstance(path, str) and path else {"content": code})]


def _object(text: str) -> dict[str, Any]:
    """Arguments that stand as text; they must be JSON by the letter, or a single readable object.

    Raises:
        _CallsError: they are not.
    """
    try:
        value = load_strict(text)
    except ValueError:
        found = find_json(text)
        value = found.values[0] if len(found.values) == 1 and not found.cut else None
    if not isinstance(value, dict):
        raise _CallsError
    return value
