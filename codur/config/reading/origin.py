"""Where settings come from, and how an error says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from codur.errors import ConfigError

KeyPath = tuple[str | int, ...]
_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file (or variable) and a 1-based line in it; line 0 is unknown."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Settings as one place states them, not yet checked.

    Attributes:
        name: what `codur config` calls it: a file's path as shown, `environment`, `command line`.
        values: nested mappings of plain values.
        places: where each key or list item was given.
        default: the place of everything else.
    """

    name: str
    values: Mapping[str, Any]
    places: Mapping[KeyPath, Place] = field(default_factory=dict)
    default: Place = Place()

    def place(self, path: KeyPath) -> Place:
        """The place of `path`, of the nearest key above it that has one, or of the first below it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        below = (place for key, place in self.places.items() if key[: len(path)] == path)
        return next(below, self.default)

    def error(self, path: KeyPath, message: str, remedy: str) -> ConfigError:
        place = self.place(path)
        return ConfigError(message, file=place.file, line=place.line, key=dotted(path), remedy=remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """A value's place in a source, and whose field it is (`Class.field`)."""

    source: Source
    path: KeyPath = ()
    owner: str = ""

    def child(self, name: str | int, owner: str = "") -> At:
        return At(source=self.source, path=(*self.path, name), owner=owner)

    def error(self, message: str, remedy: str) -> ConfigError:
        return self.source.error(self.path, message, remedy)


def dotted(path: KeyPath) -> str:
    """A key as it is shown: `llm.fallback_profiles[0]`; names are bounded and without control characters."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{shown(part)}"
    return text.removeprefix(".")


def shown(text: str) -> str:
    """`text` fit for one line of a terminal: what cannot be printed is escaped, and what is long is cut."""
    if not text or not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def leaf_paths(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is not itself a mapping with entries, with its path."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaf_paths(value, (*path, name))
        else:
            yield (*path, name), value
