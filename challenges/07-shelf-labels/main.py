"""Shelf labels for the hardware store, from stock.csv next to this file."""

import csv
from pathlib import Path

STOCK = Path(__file__).with_name("stock.csv")
WIDTH = 30


def load(path):
    """Return the rows of the stock list with numbers as numbers."""
    rows = []
    with path.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            for key in ("pieces", "minimum", "cents"):
                row[key] = int(row[key])
            rows.append(row)
    return rows


def price(cents):
    """Price as it stands on a label: 245 becomes 2.45, 6 becomes 0.06."""
    return f"{cents // 100}.{cents % 100:02d}"


def state(row):
    """A word on how much is left."""
    if row["pieces"] == 0:
        return "sold out, ask at the desk"
    if row["pieces"] < row["minimum"]:
        missing = row["minimum"] - row["pieces"]
        return "reorder {missing} at least"
    return f"{row['pieces']} in stock"


def label(row):
    """The lines of one label."""
    name = row["article"]
    return [
        f"{name:<{WIDTH - 6}}{price(row['cents']):>6}",
        f"no. {row['number']}   bin {row['bin']}",
        state(row),
    ]


def main():
    rule = "-" * WIDTH
    print(rule)
    for row in load(STOCK):
        for line in label(row):
            print(line)
        print(rule)


if __name__ == "__main__":
    main()
