"""Lists the hours in worklog.csv.

Usage: worklog.py [--person NAME] [--by day|project|person] [--min-hours H]
"""

import argparse
import csv
from pathlib import Path

LOG = Path(__file__).with_name("worklog.csv")
GROUPS = ("day", "project", "person")


def minutes(clock):
    """Minutes since midnight of HH:MM."""
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


def load(path):
    """Return the entries as dicts, with their length in hours under `hours`."""
    with path.open(newline="", encoding="utf-8") as handle:
        entries = list(csv.DictReader(handle))
    for entry in entries:
        entry["hours"] = (minutes(entry["end"]) - minutes(entry["start"])) / 60
    return entries


def entry_line(entry):
    return f"{entry['day']} {entry['person']:<8}{entry['project']:<10}{entry['hours']:>6.2f} h"


def group_lines(entries, key, least):
    """Yield a line for each group of entries with the same value under `key`, the longest group first."""
    groups = {}
    for entry in entries:
        groups.setdefault(entry[key], []).append(entry["hours"])
    for name, hours in sorted(groups.items(), key=lambda item: (-sum(item[1]), item[0])):
        if sum(hours) >= least:
            yield f"{name:<12}{sum(hours):>6.2f} h ({len(hours)})"


def arguments():
    parser = argparse.ArgumentParser(description="List the hours in worklog.csv.")
    parser.add_argument("--person", help="only this person's entries")
    parser.add_argument("--by", choices=GROUPS, help="one line per group instead of the entries")
    parser.add_argument("--min-hours", type=float, default=0.0, metavar="H", help="leave out what is shorter")
    return parser.parse_args()


def main():
    options = arguments()
    entries = load(LOG)
    if options.person:
        entries = [entry for entry in entries if entry["person"] == options.person]
    if options.by:
        for line in group_lines(entries, options.by, options.min_hours):
            print(line)
    else:
        for entry in entries:
            if entry["hours"] >= options.min_hours:
                print(entry_line(entry))
    print(f"{'total':<12}{sum(entry['hours'] for entry in entries):>6.2f} h ({len(entries)})")


if __name__ == "__main__":
    main()
