"""Prints what the customers have to pay for the orders in orders.csv."""

from pathlib import Path

from loader import group_by_order, load_lines
from pricing import delivery_amount, goods_amount, line_amount, total_amount

ORDERS = Path(__file__).with_name("orders.csv")


def money(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def report(orders):
    """Yield the report line by line."""
    for number, lines in orders.items():
        yield f"Order {number}"
        for line in lines:
            yield f"  {line.quantity:>3} {line.article:<14}{money(line_amount(line)):>9}"
        goods = goods_amount(lines)
        yield f"  delivery          {money(delivery_amount(goods)):>9}"
        yield f"  to pay            {money(total_amount(lines)):>9}"
    everything = sum(total_amount(lines) for lines in orders.values())
    yield f"All orders {money(everything)}"


def main():
    for text in report(group_by_order(load_lines(ORDERS))):
        print(text)


if __name__ == "__main__":
    main()
