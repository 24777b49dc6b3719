"""Units in which a store counts, and numbers as it writes them."""

from decimal import Decimal, InvalidOperation

FACTORS = {"pc": ("pc", 1), "doz": ("pc", 12), "g": ("g", 1), "kg": ("g", 1000), "ml": ("ml", 1), "l": ("ml", 1000)}


def to_base(quantity: str) -> tuple[Decimal, str]:
    """`1.5 kg` as (1500, "g"); ValueError for an unknown unit or a number that is none."""
    number, _, unit = quantity.strip().partition(" ")
    if unit.strip() not in FACTORS:
        raise ValueError(f"unknown unit: {unit!r}")
    base, factor = FACTORS[unit.strip()]
    try:
        return Decimal(number) * factor, base
    except InvalidOperation:
        raise ValueError(f"no number: {number!r}") from None


def written(amount: Decimal, unit: str) -> str:
    """An amount in a base unit without needless zeros: `1500 g`."""
    return f"{amount.normalize():f} {unit}"
