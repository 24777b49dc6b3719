"""Times on the wall of the garage: no time zones, no summer time."""

from datetime import date, datetime, time

HOLIDAYS = {date(2026, 1, 1), date(2026, 4, 6), date(2026, 5, 1), date(2026, 12, 25)}
DAY_BEGINS, DAY_ENDS = time(7, 0), time(20, 0)


def parse(text: str) -> datetime:
    """`2026-03-02 14:05` as a datetime; ValueError for anything else."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M")


def is_quiet(day: date) -> bool:
    """Whether it is a Sunday or a holiday."""
    return day.weekday() == 6 or day in HOLIDAYS


def in_daytime(moment: datetime) -> bool:
    """Whether the clock shows 07:00 or later, and earlier than 20:00."""
    return DAY_BEGINS <= moment.time() < DAY_ENDS
