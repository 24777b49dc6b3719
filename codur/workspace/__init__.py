"""The directory that a run works on: all reading and writing of the user's files goes through `workspace`."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.workspace import around

__all__ = ["around"]
__getattr__ = parts_of(__name__)
