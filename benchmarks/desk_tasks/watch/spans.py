"""Spans of minutes, `(begin, end)` with the end outside, and moments as texts."""

from datetime import datetime, timedelta

EPOCH = datetime(2024, 1, 1)  # a Monday
DAY = 1440
NAMES = ("mo", "tu", "we", "th", "fr", "sa", "su")


def minute_of(text: str) -> int:
    """Minutes from EPOCH to a moment such as `2026-03-02 14:05`; ValueError for other texts."""
    return (datetime.strptime(text, "%Y-%m-%d %H:%M") - EPOCH) // timedelta(minutes=1)


def text_of(minute: int) -> str:
    """The moment so many minutes after EPOCH."""
    return (EPOCH + timedelta(minutes=minute)).strftime("%Y-%m-%d %H:%M")


def weekday_of(minute: int) -> int:
    """0 for a Monday, as in NAMES."""
    return minute // DAY % 7


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same minutes in order, without overlaps; spans that touch are one."""
    out: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if begin >= end:
            continue
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return out
