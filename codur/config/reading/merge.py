"""Checked values laid over settings: sections and named entries merge by key, everything else is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from codur.config.reading import setting_types
from codur.config.reading.origin import At


def merge(value: Any, kind: Any, changes: Any, at: At) -> Any:
    """`value` (of kind `kind`) with `changes` laid over it; nothing is edited in place.

    Args:
        changes: what `values.check` returned for this kind.
        at: place of `changes`, for errors.

    Raises:
        ConfigError: a new entry lacks a key that has no default.
    """
    if setting_types.is_section(kind):
        inner = setting_types.fields_of(kind)
        return replace(
            value,
            **{name: merge(getattr(value, name), inner[name], new, at.child(name)) for name, new in changes.items()},
        )
    entry = setting_types.entry_kind(kind)
    if entry is None:
        return build(kind, changes, at)
    merged = dict(value)
    for name, new in changes.items():
        place = at.child(name)
        merged[name] = merge(merged[name], entry, new, place) if name in merged else build(entry, new, place)
    return merged


def build(kind: Any, values: Any, at: At) -> Any:
    """A new value of kind `kind` from checked values. Arguments and errors as for `merge`."""
    if setting_types.is_section(kind):
        return _build_section(kind, values, at)
    entry = setting_types.entry_kind(kind)
    if entry is not None:
        return {name: build(entry, new, at.child(name)) for name, new in values.items()}
    item = setting_types.item_kind(kind)
    if setting_types.is_section(item):
        return tuple(build(item, new, at.child(index)) for index, new in enumerate(values))
    return values


def _build_section(section: Any, values: Mapping[str, Any], at: At) -> Any:
    missing = [
        item.name
        for item in fields(section)
        if item.default is MISSING and item.default_factory is MISSING and item.name not in values
    ]
    if missing:
        keys = " and ".join(missing)
        raise at.error(f"a new entry needs {keys}", f"Add {keys}, or correct the entry's name.")
    inner = setting_types.fields_of(section)
    return section(**{name: build(inner[name], new, at.child(name)) for name, new in values.items()})
