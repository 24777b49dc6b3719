"""One source's values against a tree of structs: keys, and by `msgspec` types and ranges, with the place of an error.

Values are never repeated in messages, numbers apart: a file may hold a secret in the wrong place.
"""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Meta, Struct, ValidationError

from codur.config.reading import setting_types
from codur.config.reading.origin import At, Source, dotted, nearest, shown
from codur.structs import convert

_REMEDY = "Correct the value, or remove it to use the default."
_NAMES: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def check(source: Source, root: type[Struct], *, noun: str = "setting") -> dict[str, Any]:
    """The values of `source` in the types of the section `root`, lists as tuples and null sections empty.

    Sections stay mappings: what is given can be told from defaults, and laid over what other sources give.

    Args:
        noun: what errors call a key.

    Raises:
        ConfigError: the first key that is unknown or whose value does not fit, with its place.
    """
    return _section(source.values, root, At(source=source, root=root, noun=noun))


def _checked(value: Any, kind: Any, at: At) -> Any:
    if setting_types.is_section(kind):
        return _section(value, kind, at)
    entry, item = setting_types.entry_kind(kind), setting_types.item_kind(kind)
    if entry is not None:
        return {name: _checked(inner, entry, _named(name, at)) for name, inner in _mapping(value, at).items()}
    if item is None:
        if kind is Any:
            return value
        if value is False and "off" in setting_types.words_of(kind):  # YAML 1.1 reads a bare `off` as false
            return "off"
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise at.error("must be text that UTF-8 can hold", _REMEDY)  # from an escape, or from bytes of a variable
        (first, limits), *_ = setting_types.types_of(kind).items()
        exact = int(value) if first is int and isinstance(value, float) and value.is_integer() else value  # such as 1e6
        try:
            if exact in (math.inf, -math.inf):
                raise ValidationError
            return convert(exact, kind)
        except ValidationError as error:
            remedy = (limits.extra or {}).get("remedy", _REMEDY)
            raise at.error(f"must be {_expected(kind, value)}", remedy) from error
    if not isinstance(value, list | tuple):
        raise at.error(f"must be a list, not {_what(value)}", "Write it as [one, two].")
    return tuple(_checked(inner, item, at.child(index)) for index, inner in enumerate(value))


def _section(value: Any, section: type[Struct], at: At) -> dict[str, Any]:
    fields = setting_types.fields_of(section)
    checked = {}
    for name, inner in _mapping(value, at).items():
        if name not in fields:
            raise _unknown(name, tuple(fields), at)
        checked[name] = _checked(inner, fields[name], at.child(name))
    return checked


def _mapping(value: Any, at: At) -> Mapping[str, Any]:
    """A mapping; null is an empty one, because YAML reads a key whose lines are all commented out as null."""
    if value is not None and not isinstance(value, Mapping):
        raise at.error(f"must be a mapping of keys to values, not {_what(value)}", "Indent the keys below it.")
    for name in value or ():
        if not isinstance(name, str):
            raise at.error(f"a key must be text, not {_what(name)}", "Put the key in quotes.")
    return value or {}


def _named(name: str, at: At) -> At:
    if not name or not name.isprintable():
        raise at.child(name).error("a name must be printable text", "Give the entry another name.")
    return at.child(name)


def _expected(kind: Any, value: Any) -> str:
    """What a leaf must be rather than `value`, as the end of a sentence."""
    (first, limits), *others = setting_types.types_of(kind).items()
    words = setting_types.words_of(kind)
    if limits.description:
        return limits.description
    if first in (int, float):
        return "".join([_NAMES[first], _range(limits), *(f", or {word}" for word in words), f", not {_what(value)}"])
    if words:
        return f"one of {', '.join(words)}"
    return f"{_NAMES[first]}{' or null' if others else ''}, not {_what(value)}"


def _range(limits: Meta) -> str:
    if limits.gt is not None:
        return f" above {limits.gt:g}, {limits.le:g} at most"
    if limits.ge is None:
        return ""
    return f" from {limits.ge:g} to {limits.le:g}" if limits.le is not None else f", {limits.ge:g} or more"


def _what(value: Any) -> str:
    """What a value is, in words; numbers as they are, bounded."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return shown(f"{value}") if abs(value) < 1e300 or isinstance(value, float) else "a huge number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _unknown(name: str, siblings: tuple[str, ...], above: At) -> Exception:
    near = nearest(name, siblings)
    # What is known by that name elsewhere in the tree stands at the wrong level.
    elsewhere = (path for path in setting_types.leaves(above.root) if path[-1] == name)
    meant = dotted((*above.path, near) if near else next(elsewhere, ()))
    remedy = f"Did you mean {meant}?" if meant else f"Known here: {', '.join(siblings)}."
    return above.child(name).error(f"there is no such {above.noun}", remedy)
