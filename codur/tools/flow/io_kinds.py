"""Kinds of values that tools give and take: what tells which tool can follow which, from declarations alone.

The type of an output's field says what kind of value it gives, an argument of a tool which kinds it takes. A path whose
suffix fits is also a path of a narrower kind, so that only Python files are offered to tools for Python.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

from codur.structs import is_data

Value = Literal[
    "path", "python_path", "data_path", "directory", "line", "symbol", "class_name", "text", "diff", "revision", "url"
]

PATHS: Final[Mapping[Value, tuple[str, ...]]] = {
    "python_path": (".py", ".pyi", ".pyw"),
    "data_path": (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg"),
}
"""Narrower kinds of paths and the suffixes of their files."""

FilePath = Annotated[str, "path"]
PythonPath = Annotated[str, "python_path"]
Directory = Annotated[str, "directory"]
Line = Annotated[int, "line"]
Symbol = Annotated[str, "symbol"]
SomeText = Annotated[str, "text"]
Revision = Annotated[str, "revision"]
Url = Annotated[str, "url"]


def can_feed(given: Value, taken: Value) -> bool:
    """Whether a value of the first kind can be one of the second, as far as the declarations tell."""
    return given == taken or (given == "path" and taken in PATHS) or (given in PATHS and taken == "path")


def fits(taken: Value, value: object) -> bool:
    """Whether one value that was given can be of this kind: the suffix for narrower paths, a number for lines."""
    if taken == "line":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) and value.endswith(PATHS.get(taken, ("",)))


@cache
def gives(output_type: type) -> Mapping[str, Value]:
    """Where an output class holds which kind, by paths such as `path` and `matches[].path`."""
    return dict(_gives(output_type, ""))


def _gives(output_type: type, prefix: str) -> Iterator[tuple[str, Value]]:
    for name, hint in get_type_hints(output_type, include_extras=True).items():
        place = f"{prefix}{name}"
        if get_origin(hint) is tuple:
            hint, place = get_args(hint)[0], f"{place}[]"
        if is_data(hint):
            yield from _gives(hint, f"{place}.")
        elif get_origin(hint) is Annotated:
            yield place, hint.__metadata__[0]


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
