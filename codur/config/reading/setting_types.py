"""The shapes that a setting's type can have, read from the annotations of `settings`.

A kind is an annotation as `typing.get_type_hints` gives it: a dataclass (a section), `Mapping[str, X]` (entries by
name), `tuple[X, ...]`, a `Literal`, `X | None`, `int | Literal`, a plain type, or `Any`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

NAMED = "NAME"
"""Stands for the name of an entry in a path of the tree."""


@cache
def fields_of(section: Any) -> Mapping[str, Any]:
    """The kinds of a section's keys, in the order of their declaration."""
    return get_type_hints(section)


def is_section(kind: Any) -> bool:
    return is_dataclass(kind)


def entry_kind(kind: Any) -> Any | None:
    """The kind of the entries of `Mapping[str, X]`; None for every other kind."""
    return get_args(kind)[1] if get_origin(kind) is Mapping else None


def item_kind(kind: Any) -> Any | None:
    """The kind of the items of `tuple[X, ...]`; None for every other kind."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a `Literal`; nothing for every other kind."""
    return get_args(kind) if get_origin(kind) is Literal else ()


def without_none(kind: Any) -> tuple[Any, bool]:
    """The kind without `None` and without `words_beside`, and whether `None` was part of it."""
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    parts = [part for part in get_args(kind) if part is not NoneType]
    return next((part for part in parts if part is int), parts[0]), NoneType in get_args(kind)


def words_beside(kind: Any) -> tuple[str, ...]:
    """The words that may stand for a number: those of the `Literal` in `int | Literal`; nothing for any other kind."""
    return tuple(word for part in get_args(kind) for word in choices(part)) if int in get_args(kind) else ()


def kind_at(root: Any, path: tuple[str, ...]) -> Any | None:
    """The kind of the setting at `path` below the section `root`; None if there is none."""
    kind = root
    for name in path:
        entry = entry_kind(kind)
        if entry is not None:
            kind = entry
        elif is_section(kind) and name in fields_of(kind):
            kind = fields_of(kind)[name]
        elif kind is not Any:
            return None
    return kind


def leaves(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of all settings below `kind`; `NAME` stands for the name of an entry."""
    if is_section(kind):
        for name, inner in fields_of(kind).items():
            yield from leaves(inner, (*path, name))
    elif entry_kind(kind) is not None:
        yield from leaves(entry_kind(kind), (*path, NAMED))
    else:
        yield path
