"""Weights."""

GRAMS = {"g": 1.0, "kg": 1000.0, "oz": 28.35, "lb": 453.6}


def is_weight(unit):
    return unit in GRAMS


def grams(amount, unit):
    """Amount of a unit of weight in grams."""
    return amount * GRAMS[unit]
