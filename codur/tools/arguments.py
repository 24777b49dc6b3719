"""A tool's input class as JSON schema, and a model's arguments as an instance of it."""

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from codur.lazy import regex
from codur.structs import is_data
from codur.tools.flow.io_kinds import described
from codur.tools.synonyms import meant
from codur.tools.tool import ToolError

_JSON_TYPES: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WHOLE_NUMBER = regex(r"-?[0-9]{1,18}")
_MOST = 10**18
"""Whole numbers are smaller than this; Python refuses to write out those of more than 4,300 digits."""
_SURROGATE = regex(r"[\ud800-\udfff]")
_NAMES: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def schema(input_type: type) -> dict[str, Any]:
    """The JSON schema object of an input or output class."""
    members = _members(input_type)
    return {
        "type": "object",
        "properties": {
            name: {**_json_type(hint), "description": member.metadata["doc"]}
            for name, (member, hint) in members.items()
        },
        "required": [name for name, (member, _) in members.items() if member.default is MISSING],
        "additionalProperties": False,
    }


def own_names(tool_name: str, input_type: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the names that the tool has for them, as far as they can be meant."""
    return meant(tool_name, _members(input_type), arguments)


def build(tool_name: str, input_type: type, arguments: Mapping[str, Any]) -> Any:
    """An instance of the input class.

    Synonyms of its arguments (`synonyms`), a null for an argument that has a default, a whole number written as text or
    with `.0`, and one text where a list of texts is asked for are accepted, since models write them.

    Raises:
        ToolError: `invalid`: an argument is missing, unknown or of another type.
    """
    members = _members(input_type)
    arguments = own_names(tool_name, input_type, arguments)
    unknown = [name for name in arguments if name not in members]
    if unknown:
        raise ToolError("invalid", f"{tool_name} has no argument {unknown[0]:.80}; it takes {_listed(members)}")
    values: dict[str, Any] = {}
    for name, (member, hint) in members.items():
        given = arguments.get(name)
        if given is None and member.default is not MISSING:
            continue
        if name not in arguments:
            raise ToolError("invalid", f"{tool_name} needs the argument {name}; it takes {_listed(members)}")
        values[name] = _value(f"{tool_name}: {name}", given, hint)
    return input_type(**values)


def built_for(schema: Mapping[str, Any], tool_name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a foreign tool; what they must be beyond their names its server says.

    Raises:
        ToolError: `invalid`: an argument is missing or unknown.
    """
    known, needed = schema["properties"], schema["required"]
    unknown = [name for name in arguments if name not in known]
    if unknown and not schema.get("additionalProperties"):
        raise ToolError("invalid", f"{tool_name} has no argument {unknown[0]:.80}; it takes {_listed(known)}")
    missing = [name for name in needed if name not in arguments]
    if missing:
        raise ToolError("invalid", f"{tool_name} needs the argument {missing[0]}; it takes {_listed(known)}")
    return arguments


def _listed(members: Mapping[str, Any]) -> str:
    return ", ".join(members) or "none"


@cache
def _members(input_type: type) -> dict[str, tuple[Field[Any], Any]]:
    hints = get_type_hints(input_type)
    return {name: (member, hints[name]) for name, member in described(input_type).items()}


def _json_type(hint: Any) -> dict[str, Any]:
    if hint is Any:
        return {}
    if is_data(hint):
        return schema(hint)
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _json_type(get_args(hint)[0])}
    if get_origin(_without_none(hint)) is Mapping:
        return {"type": "object", "additionalProperties": _json_type(get_args(_without_none(hint))[1])}
    inner = _without_none(hint)
    if inner is not hint:
        return {"type": [_JSON_TYPES[inner], "null"]}
    return {"type": _JSON_TYPES[hint]}


def _without_none(hint: Any) -> Any:
    """`X` for `X | None`; anything else as it is."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(part for part in get_args(hint) if part is not types.NoneType)
    return hint


def _value(place: str, given: Any, hint: Any) -> Any:
    hint = _without_none(hint)
    if hint is Any:
        return given
    if get_origin(hint) is tuple:
        items = [given] if isinstance(given, str) else given
        if not isinstance(items, list | tuple):
            raise ToolError("invalid", f"{place} must be a list of texts, not {_shown(given)}")
        return tuple(_value(place, item, get_args(hint)[0]) for item in items)
    if get_origin(hint) is Mapping:
        return _object(place, given)
    value = _number(given, hint) if hint in (int, float) else given
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ToolError("invalid", f"{place} must be {_NAMES[hint]}, not {_shown(given)}")
    if isinstance(value, int) and abs(value) >= _MOST:
        raise ToolError("invalid", f"{place} must be {_NAMES[hint]}, not {_shown(value)}")
    odd = _SURROGATE.search(value) if isinstance(value, str) else None
    if odd:
        raise ToolError("invalid", f"{place} holds {odd[0]!r}, which is no character")
    return value


def _object(place: str, given: Any) -> Mapping[str, Any]:
    """An object; also one written as JSON in a text, as models do."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError) as error:
            raise ToolError("invalid", f"{place} must be an object, not text that is no JSON") from error
    if not isinstance(given, Mapping):
        raise ToolError("invalid", f"{place} must be an object, not {_shown(given)}")
    try:
        text = json.dumps(given, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("invalid", f"{place} must be an object of JSON") from error
    if _SURROGATE.search(text):
        raise ToolError("invalid", f"{place} holds what is no character")
    return given


def _number(given: Any, hint: type) -> Any:
    if isinstance(given, str) and _WHOLE_NUMBER.fullmatch(given.strip()):
        given = int(given)
    if isinstance(given, bool):
        return given
    if hint is float and isinstance(given, int) and abs(given) < _MOST:
        return float(given)
    return int(given) if hint is int and isinstance(given, float) and given.is_integer() else given


def _shown(given: Any) -> str:
    """A value for a message; what may be nested or long without end is told by its kind."""
    if isinstance(given, int) and abs(given) >= _MOST:
        return "a huge one"
    if isinstance(given, Mapping):
        return "an object"
    return "a list" if isinstance(given, list | tuple) else f"{given!r:.80}"
