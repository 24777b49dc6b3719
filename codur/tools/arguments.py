"""A tool's arguments as JSON schema, and those that a model gives under the tool's own names and of its types."""

import types
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from codur.lazy import regex
from codur.tools.tool import Arguments, ToolError

SYNONYMS: Final[Mapping[str, str]] = dict(
    line.split(": ") for line in Path(__file__).with_name("synonyms.txt").read_text(encoding="ascii").splitlines()
)
"""By the argument, or by the tool and the argument where that of other tools has not the same ones."""
_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")


def meant(tool: str, members: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names.

    A synonym stands for an argument that is not given itself; what stands for none, or for one that is given with
    another value, is left as it is.

    Args:
        members: the tool's arguments.
    """
    table = synonyms_of(tool, tuple(members))
    bound: dict[str, Any] = {}
    for name, value in given.items():
        # `file_path` for `filePath` and `file-path`
        own = name if name in members else table.get(_CAPITAL.sub("_", str(name)).replace("-", "_").lower(), name)
        other = given.get(own, bound.get(own, value)) if own != name else value
        bound[own if other == value else name] = value
    return bound


@cache
def synonyms_of(tool: str, members: tuple[str, ...]) -> Mapping[str, str]:
    """The argument that each synonym stands for."""
    words = {own: f"{own} {SYNONYMS.get(own, '')} {SYNONYMS.get(f'{tool}.{own}', '')}".split() for own in members}
    return {word: own for own, listed in words.items() for word in listed}


_JSON_TYPES: dict[type, str] = {str: "string", int: "integer", bool: "boolean"}
_WHOLE_NUMBER = Annotated[int, Meta(gt=-(10**18), lt=10**18)]


def schema(declared: Arguments) -> dict[str, Any]:
    """The arguments as a JSON schema object."""
    return {
        "type": "object",
        "properties": {name: {**_json_type(item.type), "description": item.doc} for name, item in declared.items()},
        "required": [name for name, item in declared.items() if item.required],
        "additionalProperties": False,
    }


def build(tool_name: str, declared: Arguments, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are given, as values of the declared types.

    Synonyms of its arguments (`synonyms`), a null for an argument that has a default, a number or a switch written as
    text, a whole number with `.0`, an object written as JSON in a text, and one text where a list of texts is asked for
    are accepted, since models write them.

    Raises:
        ToolError: `invalid`: an argument is missing, unknown or of another type.
    """
    arguments = meant(tool_name, declared, arguments)
    _require_names(tool_name, declared, [name for name, item in declared.items() if item.required], arguments)
    return {
        name: _value(f"{tool_name}: {name}", arguments.get(name), item.type)
        for name, item in declared.items()
        if item.required or arguments.get(name) is not None
    }


def built_for(schema: Mapping[str, Any], tool_name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a foreign tool; what they must be beyond their names its server says.

    Raises:
        ToolError: `invalid`: an argument is missing or unknown.
    """
    known = {**schema["properties"], **arguments} if schema.get("additionalProperties") else schema["properties"]
    _require_names(tool_name, known, schema["required"], arguments)
    return arguments


def _require_names(
    tool_name: str, known: Mapping[str, Any], required: Sequence[str], arguments: Mapping[str, Any]
) -> None:
    takes = f"it takes {', '.join(known) or 'none'}"
    unknown = [name for name in arguments if name not in known]
    if unknown:
        raise ToolError("invalid", f"{tool_name} has no argument {unknown[0]:.80}; {takes}")
    missing = [name for name in required if name not in arguments]
    if missing:
        raise ToolError("invalid", f"{tool_name} needs the argument {missing[0]}; {takes}")


def _json_type(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _json_type(get_args(hint)[0])}
    inner = _without_none(hint)
    if get_origin(inner) is Mapping:
        return {"type": "object", "additionalProperties": {}}
    return {"type": _JSON_TYPES[inner] if inner is hint else [_JSON_TYPES[inner], "null"]}


def _without_none(hint: Any) -> Any:
    """`X` for `X | None`; anything else as it is."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(part for part in get_args(hint) if part is not types.NoneType)
    return hint


def _value(place: str, given: Any, hint: Any) -> Any:
    hint = _without_none(hint)
    kind = get_origin(hint)
    try:
        if kind is tuple and isinstance(given, str):
            given = [given]
        elif kind is Mapping and isinstance(given, str):
            given = msgspec.json.decode(given or "{}")
        value = msgspec.convert(given, _WHOLE_NUMBER if hint is int else hint, strict=False)
        msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        raise ToolError("invalid", f"{place} holds what is no character") from error
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ToolError("invalid", f"{place}: {error}") from error
    return value
