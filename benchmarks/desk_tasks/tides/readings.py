"""The printed tide table of the harbour, and the turns of the tide that it holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """High or low water: minutes since the beginning of the table's first day, and the height in centimetres."""

    minute: int
    height: int


def read_table(text: str) -> list[Turn]:
    """The turns of a table in their order; lines are `DAY HH:MM HEIGHT`, with days counted from 1."""
    turns = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        day, clock, height = line.split()
        hours, minutes = clock.split(":")
        turns.append(Turn((int(day) - 1) * 1440 + int(hours) * 60 + int(minutes), int(height)))
    return turns


def as_clock(minute: int) -> str:
    """The minute as the table writes it: `2 03:07`."""
    day, rest = divmod(minute, 1440)
    return f"{day + 1} {rest // 60:02}:{rest % 60:02}"
