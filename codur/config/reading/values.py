"""One source's values against the settings tree: unknown keys, types, ranges.

Values are never repeated in messages, numbers apart: a file may hold a secret in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from codur.config.reading import setting_types
from codur.config.reading.constraints import PATTERNS, bounds_of
from codur.config.reading.origin import At, Source, dotted, shown

_LARGEST = 1e300
_REMEDY = "Correct the value, or remove it to use the default."


def check(source: Source, root: Any) -> dict[str, Any]:
    """The values of `source` in the types of the section `root`, lists as tuples and null sections empty.

    Raises:
        ConfigError: the first key that is unknown or whose value does not fit, with its place.
    """
    checked: dict[str, Any] = _section(source.values, root, At(source=source))
    return checked


def _check(value: Any, kind: Any, at: At) -> Any:
    if kind is Any:
        return value
    if setting_types.is_section(kind):
        return _section(value, kind, at)
    if setting_types.entry_kind(kind) is not None:
        return _entries(value, setting_types.entry_kind(kind), at)
    if setting_types.item_kind(kind) is not None:
        return _items(value, setting_types.item_kind(kind), at)
    return _scalar(value, kind, at)


def _section(value: Any, section: Any, at: At) -> dict[str, Any]:
    fields = setting_types.fields_of(section)
    checked = {}
    for name, inner in _mapping(value, at).items():
        if name not in fields:
            raise _unknown(name, tuple(fields), at.child(name))
        checked[name] = _check(inner, fields[name], at.child(name, f"{section.__name__}.{name}"))
    return checked


def _entries(value: Any, kind: Any, at: At) -> dict[str, Any]:
    checked = {}
    for name, inner in _mapping(value, at).items():
        if not name or not name.isprintable():
            raise at.child(name).error("a name must be printable text", "Give the entry another name.")
        checked[name] = _check(inner, kind, at.child(name, at.owner))
    return checked


def _mapping(value: Any, at: At) -> Mapping[str, Any]:
    """A mapping; null is an empty one, because YAML reads a key whose lines are all commented out as null."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise at.error(f"must be a mapping of keys to values, not {_what(value)}", "Indent the keys below it.")
    for name in value:
        if not isinstance(name, str):
            raise at.error(f"a key must be text, not {_what(name)}", "Put the key in quotes.")
    return value


def _items(value: Any, kind: Any, at: At) -> tuple[Any, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise at.error(f"must be a list, not {_what(value)}", "Write it as [one, two].")
    return tuple(_check(item, kind, at.child(index, at.owner)) for index, item in enumerate(value))


def _scalar(value: Any, kind: Any, at: At) -> Any:
    plain, optional = setting_types.without_none(kind)
    if value is None and optional:
        return None
    if setting_types.choices(plain):
        return _choice(value, setting_types.choices(plain), at)
    if plain in (int, float):
        words = setting_types.words_beside(kind)
        return value if isinstance(value, str) and value in words else _number(value, plain, at, words)
    if type(value) is not plain:
        wanted = "true or false" if plain is bool else "text"
        raise at.error(f"must be {wanted}{' or null' if optional else ''}, not {_what(value)}", _REMEDY)
    if isinstance(value, str):
        _check_text(value, at)
    return value


def _check_text(text: str, at: At) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):  # from an escape, or from bytes of a variable
        raise at.error("must be text that UTF-8 can hold", _REMEDY)
    pattern = PATTERNS.get(at.owner)
    if pattern is not None and not re.fullmatch(pattern.regex, text):
        raise at.error(f"must be {pattern.meaning}", _REMEDY)


def _choice(value: Any, allowed: tuple[str, ...], at: At) -> str:
    if value is False and "off" in allowed:  # YAML 1.1 reads a bare `off` as false
        return "off"
    if value not in allowed:
        raise at.error(f"must be one of {', '.join(allowed)}", _REMEDY)
    return str(value)


def _number(value: Any, kind: Any, at: At, words: tuple[str, ...]) -> Any:
    bounds = bounds_of(at.owner)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    whole = kind is float or isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not fits or not whole or not bounds.hold(value) or (kind is float and abs(value) > _LARGEST):
        wanted = "a whole number" if kind is int else "a number"
        others = "".join(f", or {word}" for word in words)
        raise at.error(f"must be {wanted}{bounds}{others}, not {_what(value)}", _REMEDY)
    return kind(value)


def _what(value: Any) -> str:
    """What a value is, in words; numbers as they are, bounded."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return shown(f"{value}") if abs(value) < _LARGEST or isinstance(value, float) else "a huge number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _unknown(name: str, siblings: tuple[str, ...], at: At) -> Exception:
    near = _nearest(name, siblings, at)
    remedy = f"Did you mean {near}?" if near else f"Known here: {', '.join(siblings)}."
    return at.error("there is no such setting", remedy)


def _nearest(name: str, siblings: tuple[str, ...], at: At) -> str:
    """The known key that `name` looks like: first among its siblings, then, written exactly, in the whole tree."""
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only for a message

    from codur.config.settings import Settings  # noqa: PLC0415 - lazy: only for a message

    close = get_close_matches(name, siblings, n=1)
    if close:
        return dotted((*at.path[:-1], close[0]))
    return next((dotted(path) for path in setting_types.leaves(Settings) if path[-1] == name), "")
