"""Plain fixtures of tests that are called one by one: functions of a test module or a `conftest.py`, for each test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

_END = object()


class NotPlain(Exception):
    """Only pytest can make a fixture, or finish it."""


def planned_fixtures(item: Any, given: Collection[str], conftests: Collection[str]) -> list[dict[str, Any]]:
    """The fixtures of a test, each after those that it needs: its name, its function, and that one's arguments.

    Args:
        item: the test, as pytest has collected it.
        given: names of arguments that parametrisation gives.
        conftests: the `conftest.py` files that stay as they are.

    Raises:
        NotPlain: one of them has parameters, another scope, or is not of these files.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in item.fixturenames:
        _add(name, item, given, conftests, found)
    return list(found.values())


def _add(name: str, item: Any, given: Collection[str], conftests: Collection[str], found: dict[str, Any]) -> None:
    if name in given or name in found:
        return
    definitions: Sequence[Any] = item._fixtureinfo.name2fixturedefs.get(name) or ()
    if len(definitions) != 1:
        raise NotPlain(name)
    function, path = definitions[0].func, definitions[0].func.__globals__.get("__file__", "")
    if (
        definitions[0].scope != "function"
        or definitions[0].params
        or not inspect.isfunction(function)
        # A method or a local function: it needs an object, or the values around it.
        or "." in function.__qualname__
        or inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or not (function.__globals__ is item.module.__dict__ or path in conftests)
    ):
        raise NotPlain(name)
    for each in definitions[0].argnames:
        _add(each, item, given, conftests, found)
    found[name] = {
        "name": name,
        "conftest": "" if function.__globals__ is item.module.__dict__ else path,
        "function": function.__name__,
        "arguments": list(definitions[0].argnames),
    }


class Made:
    """The fixtures of one test.

    Args:
        values: by name, those of its arguments that parametrisation gives; fixtures are added.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.open: list[Iterator[Any]] = []

    def make(self, fixtures: Sequence[Mapping[str, Any]], owner_of: Callable[[str], Any]) -> None:
        """Make them in their order. `owner_of`: the module of a `conftest.py`, or the test module for an empty path."""
        for each in fixtures:
            function = _function(getattr(owner_of(each["conftest"]), each["function"]))
            made = function(**{name: self.values[name] for name in each["arguments"]})
            if inspect.isgeneratorfunction(function):
                self.open.append(made)
                made = next(made)
            self.values[each["name"]] = made

    def finish(self) -> None:
        """Go on with those that have something to do after the test. Raises NotPlain: one gives a second value."""
        while self.open:
            if next(self.open.pop(), _END) is not _END:  # the last one made is finished first, as by pytest
                raise NotPlain("it yields twice")


def _function(definition: Any) -> Any:
    """What a decorated function was before it was one."""
    if hasattr(definition, "_get_wrapped_function"):  # pytest 8.4 and newer; the attribute below before that
        return definition._get_wrapped_function()
    wrapped = getattr(definition, "__pytest_wrapped__", None)
    if wrapped is None:
        raise NotPlain("it is not known how to call it")
    return wrapped.obj
