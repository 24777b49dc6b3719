"""Where settings come from, and how an error says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct, field, structs

from codur.errors import ConfigError

KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str, str]
"""A key, what is wrong with it, and what to do."""
_MAX_SHOWN = 80


class Place(Struct, frozen=True, kw_only=True):
    """A file (or variable) and a 1-based line in it; line 0 is unknown."""

    file: str = ""
    line: int = 0


class Source(Struct, frozen=True, kw_only=True):
    """Settings as one place states them, not yet checked."""

    name: str  # what `codur config` calls it: a file's path as shown, `environment`, `command line`
    values: Mapping[str, Any]  # nested mappings of plain values
    places: Mapping[KeyPath, Place] = field(default_factory=dict)  # where each key or list item was given
    default: Place = Place()  # the place of everything else

    def place(self, path: KeyPath) -> Place:
        """The place of `path`, of the nearest key above it that has one, or of the first below it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return next((place for key, place in self.places.items() if key[: len(path)] == path), self.default)

    def error(self, path: KeyPath, message: str, remedy: str) -> ConfigError:
        place = self.place(path)
        return ConfigError(message, file=place.file, line=place.line, key=dotted(path), remedy=remedy)


class At(Struct, frozen=True, kw_only=True):
    """A value's place in a source."""

    source: Source
    root: type[Struct]  # the section that the whole source is one of
    noun: str  # what errors call a key
    path: KeyPath = ()

    def child(self, name: str | int) -> At:
        return structs.replace(self, path=(*self.path, name))

    def error(self, message: str, remedy: str) -> ConfigError:
        return self.source.error(self.path, message, remedy)


def error_of(problem: Problem, origins: Mapping[tuple[str, ...], Source]) -> ConfigError:
    """The error, with the place of the key or of what is nearest to it.

    Args:
        origins: the source that each setting was last taken from; what is missing is a default.
    """
    path, message, remedy = problem
    names = tuple(part for part in path if isinstance(part, str))
    near = (
        source for end in range(len(names), 1, -1) for known, source in origins.items() if known[:end] == names[:end]
    )
    return next(near, Source(name="defaults", values={})).error(path, message, remedy)


def nearest(name: str, known: Collection[str], *, cutoff: float = 0.6) -> str:
    """The known name that `name` looks like; empty if there is none."""
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only for a message

    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), "")


def did_you_mean(name: str, known: Collection[str], otherwise: str, *, cutoff: float = 0.6) -> str:
    """A remedy for a name that is unknown: the nearest of the known ones, or `otherwise`."""
    near = nearest(name, known, cutoff=cutoff)
    return f"Did you mean {near}?" if near else otherwise


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
