"""Reads the order export of the shop."""

import csv
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Line:
    order: str
    article: str
    quantity: int
    cents: int
    discount: Decimal = Decimal(0)


def load_lines(path):
    """Return the lines of the file in their order."""
    with open(path, newline="", encoding="utf-8") as handle:
        return [
            Line(
                row["order"],
                row["article"],
                int(row["quantity"]),
                int(row["cents"]),
                Decimal(row["discount"] or 0),
            )
            for row in csv.DictReader(handle)
        ]


def group_by_order(lines):
    """Return {order number: its lines} in the order of the file."""
    orders = {}
    for line in lines:
        orders.setdefault(line.order, []).append(line)
    return orders
