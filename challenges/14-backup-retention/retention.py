"""Which of the nightly backups are kept, and which may go.

Backups are files named `<host>-YYYY-MM-DD.tar`, at most one a day and host.
"""

import re
from datetime import date

NAME = re.compile(r"(?P<host>[a-z0-9-]+?)-(?P<day>\d{4}-\d{2}-\d{2})\.tar")


def parse_name(name):
    """Return (host, day) of a backup's file name, or None for any other file."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    return match["host"], date.fromisoformat(match["day"])


def days_to_keep(days, daily, weekly, monthly):
    """Choose the days whose backups are kept.

    Args:
        days: days for which there is a backup of one host, in any order.
        daily: the newest so many backups are kept, whatever their day.
        weekly: besides, of each of the newest so many ISO weeks that have a backup, the newest backup.
        monthly: besides, of each of the newest so many calendar months that have a backup, the OLDEST backup.

    Returns:
        A set of days. A backup kept for one reason also counts for the others: the weeks and months are counted
        over all the days given, not only over those that the earlier rules left.
    """
    raise NotImplementedError


def to_delete(names, daily=7, weekly=4, monthly=6):
    """Return the names of the backups that may go, sorted; files that are no backups are never among them."""
    hosts = {}
    for name in names:
        parsed = parse_name(name)
        if parsed is not None:
            host, day = parsed
            hosts.setdefault(host, {})[day] = name
    gone = []
    for backups in hosts.values():
        kept = days_to_keep(backups, daily, weekly, monthly)
        gone += [name for day, name in backups.items() if day not in kept]
    return sorted(gone)
