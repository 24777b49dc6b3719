"""What is needed to call a test function without pytest."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from _pytest.junitxml import mangle_test_address

from .plain_fixtures import NotPlain, planned_fixtures

_SET_UP = (
    # The names that pytest calls by itself, also nose's and unittest's, which a plain class may have.
    "setUp setup setup_method teardown_method setup_class teardown_class setup_module teardown_module setUpModule"
    " tearDownModule setup_function teardown_function pytest_plugins pytestmark pytest_generate_tests"
).split()


def planned(item: Any, conftests: Collection[str]) -> dict[str, Any] | None:
    """What is needed to call a test function without pytest; None if it needs pytest."""
    marks = list(item.iter_markers())
    callspec = getattr(item, "callspec", None)
    direct = callspec.params if callspec is not None else {}
    indices = _indices(marks, direct)
    plain_class = item.cls is None or not any(hasattr(item.cls, name) for name in _SET_UP)
    if (
        type(item) is not pytest.Function  # not a subclass: plugins make items of their own
        or not plain_class
        or indices is None
        or any(mark.name != "parametrize" or mark.kwargs.get("indirect") for mark in marks)
        or any(hasattr(item.module, name) for name in _SET_UP)
        or not isinstance(item.function, types.FunctionType)
    ):
        return None
    try:
        fixtures = planned_fixtures(item, direct, conftests)
    except NotPlain:
        return None
    names = mangle_test_address(item.nodeid)
    return {
        "fixtures": fixtures,
        "arguments": list(item._fixtureinfo.argnames),
        "module": item.module.__name__,
        "class": item.cls.__qualname__ if item.cls is not None else "",
        "function": item.originalname,
        "indices": indices,
        "classname": ".".join(names[:-1]),
        "name": names[-1],
    }


def _indices(marks: Sequence[Any], values: Mapping[str, Any]) -> dict[str, int] | None:
    """Which of its sets of values each parametrisation takes, by its first name; None if that cannot be told."""
    found: dict[str, int] = {}
    for mark in marks:
        if mark.name != "parametrize" or len(mark.args) != 2 or not isinstance(mark.args[1], (list, tuple, range)):
            return None
        names = _names_of(mark)
        for number, each in enumerate(mark.args[1]):
            if all(
                # by identity, because equality may be the very thing that is broken
                values.get(name, found) is value
                for name, value in zip(names, _values_of(each, names), strict=False)
            ):
                found[names[0]] = number
                break
        else:
            return None
    return found


def _names_of(mark: Any) -> list[str]:
    """The arguments that a parametrisation gives."""
    names = mark.args[0]
    return [each.strip() for each in names.split(",") if each.strip()] if isinstance(names, str) else list(names)


def _values_of(each: Any, names: Sequence[str]) -> Sequence[Any]:
    """One set of its values."""
    if type(each).__name__ == "ParameterSet":
        return list(each.values)
    return [each] if len(names) == 1 else list(each)


def arguments_of(function: Any, indices: Mapping[str, int]) -> dict[str, Any]:
    """The arguments of one parametrised call."""
    found: dict[str, Any] = {}
    for mark in getattr(function, "pytestmark", []):
        names = _names_of(mark)
        found.update(zip(names, _values_of(mark.args[1][indices[names[0]]], names), strict=True))
    return found
