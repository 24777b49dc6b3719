"""Amounts in words."""


def tidy(amount, small, large):
    """Write an amount in the small unit, from 1000 on in the large one: (1500, "g", "kg") becomes "1.5 kg"."""
    if amount >= 1000:
        return f"{amount / 1000:.2f}".rstrip("0").rstrip(".") + f" {large}"
    return f"{amount:.0f} {small}"
