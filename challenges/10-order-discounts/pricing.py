"""Prices of lines and orders, in cents."""

FREE_DELIVERY_FROM = 5000
DELIVERY = 495


def line_amount(line):
    """What a line costs."""
    return line.quantity * line.cents


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
