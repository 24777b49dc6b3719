"""Offline repair: searches for the smallest edit that makes the check pass, without a model.

`nodes` imports `engine` and `outcome`.
"""

import sys


class _Codur(type(sys)):  # type: ignore[misc]  # the type of modules
    def __setattr__(self, name: str, value: object) -> None:
        """The import system sets each package in the one above it: there `repair` stays the public function."""
        if not (name == "repair" and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules["codur"].__class__ = _Codur
