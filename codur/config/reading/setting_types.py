"""The shapes that a setting's type can have, read from the annotations of `settings`.

A kind is an annotation as `msgspec.structs.fields` gives it: a struct (a section), `Mapping[str, X]` (entries by name),
`tuple[X, ...]`, or a leaf: what `msgspec.convert` takes as a whole.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Meta, Struct, structs

NAMED = "NAME"
"""Stands for the name of an entry in a path of the tree."""


@cache
def fields_of(section: type[Struct]) -> Mapping[str, Any]:
    """The kinds of a section's keys, in the order of their declaration."""
    return {item.name: item.type for item in structs.fields(section)}


def is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def entry_kind(kind: Any) -> Any | None:
    """The kind of the entries of `Mapping[str, X]`; None for every other kind."""
    return get_args(kind)[1] if get_origin(kind) is Mapping else None


def item_kind(kind: Any) -> Any | None:
    """The kind of the items of `tuple[X, ...]`; None for every other kind."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def types_of(kind: Any) -> Mapping[Any, Meta]:
    """The types that a leaf may have, with what limits each."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return dict(get_args(part) if get_origin(part) is Annotated else (part, Meta()) for part in parts)


def words_of(kind: Any) -> tuple[str, ...]:
    """The words of the `Literal` that is a leaf's type, or one of its types."""
    return tuple(word for part in types_of(kind) if get_origin(part) is Literal for word in get_args(part))


def kind_at(root: Any, path: tuple[str | int, ...]) -> Any | None:
    """The kind of the setting at `path` below the section `root`; None if there is none."""
    kind = root
    for name in path:
        inside = item_kind(kind) if isinstance(name, int) else entry_kind(kind)
        if inside is not None:
            kind = inside
        elif is_section(kind) and name in fields_of(kind):
            kind = fields_of(kind)[str(name)]
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
