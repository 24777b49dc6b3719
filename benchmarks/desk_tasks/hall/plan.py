"""The plan of a hall: a drawing of its rows."""

from dataclasses import dataclass

SEAT, WHEELCHAIR, AISLE = ".", "w", " "


@dataclass(frozen=True, order=True)
class Seat:
    """A seat by its row (0 is the one at the stage) and its column in the drawing."""

    row: int
    column: int


def seats_of(drawing: str) -> dict[Seat, str]:
    """All seats of a drawing with their kinds, row by row from the left; ValueError for other characters."""
    found = {}
    for row, line in enumerate(drawing.strip("\n").split("\n")):
        for column, kind in enumerate(line):
            if kind not in (SEAT, WHEELCHAIR, AISLE):
                raise ValueError(f"row {row + 1}, column {column + 1}: {kind!r}")
            if kind != AISLE:
                found[Seat(row, column)] = kind
    return found
