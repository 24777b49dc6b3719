"""Volumes."""

MILLILITRES = {"ml": 1.0, "l": 1000.0, "tsp": 5.0, "tbsp": 15.0, "cup": 240.0}


def is_volume(unit):
    return unit in MILLILITRES


def millilitres(amount, unit):
    """Amount of a unit of volume in millilitres."""
    return amount * MILLILITRES[unit]
