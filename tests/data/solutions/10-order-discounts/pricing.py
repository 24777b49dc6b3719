"""Prices of lines and orders, in cents."""

from decimal import ROUND_UP

FREE_DELIVERY_FROM = 5000
DELIVERY = 495


def line_amount(line):
    """What a line costs, less its discount."""
    full = line.quantity * line.cents
    off = (full * line.discount / 100).to_integral_value(ROUND_UP)
    return full - int(off)


def goods_amount(lines):
    """What the goods of an order cost."""
    return sum(line_amount(line) for line in lines)


def delivery_amount(goods):
    """Delivery is free from a certain amount of goods."""
    return 0 if goods >= FREE_DELIVERY_FROM else DELIVERY


def total_amount(lines):
    """Goods and delivery together."""
    goods = goods_amount(lines)
    return goods + delivery_amount(goods)
