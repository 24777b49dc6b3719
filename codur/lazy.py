"""What a run may not need is made when it is first used: imports, and regular expressions.

A package that says `__getattr__ = parts_of(__name__)` loads each of its modules when somebody first says
`package.module`. Beside it, under `TYPE_CHECKING`, it imports them plainly, for the type checker and the layer check.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module  # noqa: TID251 - of names that a plain import stands beside, see above
from typing import Any, AnyStr, Final, TypeVar, cast

T = TypeVar("T")

loaded: Final = import_module
"""Loads a module by its name: for tables of libraries of which a run needs one."""


def parts_of(package: str, **elsewhere: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562) that loads its modules on first use.

    Args:
        package: its name; a module that is loaded becomes its attribute, so each is asked for once.
        elsewhere: further names that it offers, and the module that each is from.
    """

    def load(name: str) -> Any:
        if name in elsewhere:
            return getattr(loaded(elsewhere[name]), name)
        try:
            if not name.startswith("_"):
                return loaded(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


def late(name: str) -> Any:
    """A module of Python's own that is loaded when something of it is first used.

    For those that messages, threads or a few workspaces need: difflib, tomllib and the like are a tenth of a start.
    """
    return _Late(name)


class _Late:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(loaded(self._name), attribute)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A regular expression that is compiled when it is first used: a settled request uses 40 of 280 (25 of 230 ms)."""
    return cast(re.Pattern[AnyStr], _Regex(text, flags))


class _Regex:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._given), name)
        setattr(self, name, value)  # so that each is asked for once
        return value


class Made(Mapping[str, T]):
    """Values by names, in their order, each made when it is first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], T]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._names and name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def once(make: Callable[[], T]) -> Callable[[], T]:
    """What gives the same value each time; the first who asks makes it, while others wait."""
    lock, made = threading.RLock(), list[T]()

    def value() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return value
