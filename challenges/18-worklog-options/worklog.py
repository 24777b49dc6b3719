"""Lists the hours in worklog.csv.

Usage: worklog.py [--person NAME]
"""

import argparse
import csv
from pathlib import Path

LOG = Path(__file__).with_name("worklog.csv")


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


def arguments():
    parser = argparse.ArgumentParser(description="List the hours in worklog.csv.")
    parser.add_argument("--person", help="only this person's entries")
    return parser.parse_args()


def main():
    options = arguments()
    entries = load(LOG)
    if options.person:
        entries = [entry for entry in entries if entry["person"] == options.person]
    for entry in entries:
        print(entry_line(entry))
    print(f"{'total':<12}{sum(entry['hours'] for entry in entries):>6.2f} h ({len(entries)})")


if __name__ == "__main__":
    main()
