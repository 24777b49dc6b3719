"""Kinds of values that tools give and take: what tells which tool can follow which, from declarations alone.

A field of an output class says what kind of value it gives, an argument of an input class which kinds it takes. A path
whose suffix fits is also a path of a narrower kind, so that only Python files are offered to tools for Python.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from codur.structs import Struct, StructType, is_data

Value = Literal[
    "path",
    "python_path",
    "data_path",
    "directory",
    "line",
    "symbol",
    "class_name",
    "text",
    "diff",
    "revision",
    "url",
    "server",
    "resource",
]

PATHS: Final[Mapping[Value, tuple[str, ...]]] = {
    "python_path": (".py", ".pyi", ".pyw"),
    "data_path": (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg"),
}
"""Narrower kinds of paths and the suffixes of their files."""


def member(doc: str, gives: Value | None = None, default: Any = dataclasses.MISSING) -> Any:
    """A field of an output class.

    Args:
        gives: the kind of its value, or of its elements, that other tools' arguments may take.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "gives": gives})


class _FieldsAside(StructType):
    """Takes what `member` says of fields out of the class, where a struct wants their defaults alone."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **options: Any) -> Any:
        said = {key: value for key, value in namespace.items() if isinstance(value, dataclasses.Field)}
        plain = {key: value.default if key in said else value for key, value in namespace.items()}
        kept = {key: value for key, value in plain.items() if value is not dataclasses.MISSING}
        return super().__new__(cls, name, bases, {**kept, "__said__": said}, **options)


class Described(Struct, metaclass=_FieldsAside):
    """An output class of a tool: its fields are made by `member`."""


def described(kind: type) -> Mapping[str, dataclasses.Field[Any]]:
    """What an input or output class says of its fields, by their names."""
    if dataclasses.is_dataclass(kind):
        return {item.name: item for item in dataclasses.fields(kind)}
    said: Mapping[str, dataclasses.Field[Any]] = getattr(kind, "__said__", {})
    return said


def can_feed(given: Value, taken: Value) -> bool:
    """Whether a value of the first kind can be one of the second, as far as the declarations tell."""
    return given == taken or (given == "path" and taken in PATHS) or (given in PATHS and taken == "path")


def fits(taken: Value, value: object) -> bool:
    """Whether one value that was given can be of this kind: the suffix for narrower paths, a number for lines."""
    if taken == "line":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) and value.endswith(PATHS.get(taken, ("",)))


@cache
def accepts(input_type: type) -> Mapping[str, tuple[Value, ...]]:
    """The kinds that each argument of an input class takes from outputs; arguments that take none are absent."""
    declared = {name: item.metadata.get("accepts", ()) for name, item in described(input_type).items()}
    return {name: kinds for name, kinds in declared.items() if kinds}


@cache
def gives(output_type: type) -> Mapping[str, Value]:
    """Where an output class holds which kind, by paths such as `path` and `matches[].path`."""
    return dict(_gives(output_type, ""))


def _gives(output_type: type, prefix: str) -> Iterator[tuple[str, Value]]:
    hints = get_type_hints(output_type)
    for name, item in described(output_type).items():
        hint, place = hints[name], f"{prefix}{name}"
        if get_origin(hint) is tuple:
            hint, place = get_args(hint)[0], f"{place}[]"
        if is_data(hint):
            yield from _gives(hint, f"{place}.")
        elif item.metadata.get("gives"):
            yield place, item.metadata["gives"]


def values_in(output_type: type, data: Any) -> Mapping[Value, tuple[Any, ...]]:
    """The values of each kind that one output (as plain JSON) holds, each once, in their order; nulls are left out."""
    found: dict[Value, dict[Any, None]] = {}
    for place, kind in gives(output_type).items():
        for value in _at(data, place.replace("[]", ".[]").split(".")):
            if value is not None:
                found.setdefault(kind, {})[value] = None
    return {kind: tuple(values) for kind, values in found.items()}


def _at(data: Any, parts: list[str]) -> Iterator[Any]:
    if not parts:
        yield data
    elif parts[0] == "[]":
        for item in data or ():
            yield from _at(item, parts[1:])
    elif isinstance(data, Mapping) and parts[0] in data:
        yield from _at(data[parts[0]], parts[1:])
