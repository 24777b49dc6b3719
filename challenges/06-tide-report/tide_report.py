"""Tide report of one harbour: `tide_report.py --harbour NAME [--datum METRES]`."""

import argparse

from tide_log import LOG, read_log
from tide_stats import notable, span, surge


def arguments():
    parser = argparse.ArgumentParser(description="Tide report of one harbour.")
    parser.add_argument("--harbour", required=True)
    parser.add_argument("--datum", type=float, default=0.0, help="gauge zero above chart datum, in metres")
    return parser.parse_args()


def row(tide, datum):
    """One line of the table, heights above chart datum."""
    return f"{tide.time}  {tide.kind:<4}  {tide.measured + datum:>5.2f}  {surge(tide):>+6.2f}"


def main():
    options = arguments()
    tides = read_log(LOG)[options.harbour]
    print(f"{options.harbour}: {len(tides)} tides, datum {options.datum:.2f} m")
    print("time   kind  metres  surge")
    for tide in tides:
        print(row(tide, options.datum))
    print(f"span {span(tides):.2f} m")
    for tide in notable(tides):
        print(f"note: {tide.kind} water at {tide.time} off by {surge(tide):+.2f} m")


if __name__ == "__main__":
    main()
