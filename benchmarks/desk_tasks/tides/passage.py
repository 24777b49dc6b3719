"""When a ship can pass the bar of the harbour. The rules are in TASK.md."""

from dataclasses import dataclass
from fractions import Fraction

from readings import Turn


@dataclass(frozen=True)
class Window:
    """Minutes in which the bar can be passed, the first and the last one included."""

    first: int
    last: int
    best: int


def height_at(turns: list[Turn], minute: int) -> Fraction:
    """The height of the water in centimetres."""
    raise NotImplementedError


def windows(turns: list[Turn], draught: int, depth: int, *, swell: int = 0) -> list[Window]:
    """When a ship of this draught can pass a bar of this depth, in their order."""
    raise NotImplementedError


def notice(table: str, draught: int, depth: int, *, swell: int = 0) -> str:
    """What is pinned to the board of the harbour."""
    raise NotImplementedError
