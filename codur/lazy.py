"""What a run may not need is loaded when it is first used: the one place where imports are put off.

A package that says `__getattr__ = parts_of(__name__)` loads each of its modules when somebody first says
`package.module`. Beside it, under `TYPE_CHECKING`, it imports them plainly, for the type checker and the layer check.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module  # noqa: TID251 - of names that a plain import stands beside, see above
from typing import Any, Final

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
