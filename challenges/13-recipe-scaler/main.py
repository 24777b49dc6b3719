"""Scales a recipe to the number of guests and writes all amounts in metric units."""

from units import kind_of, pretty, to_metric

SERVES = 4
GUESTS = 14

RECIPE = [
    (14, "oz", "red lentils"),
    (1, "lb", "carrots"),
    (2, "", "onions"),
    (3, "tbsp", "olive oil"),
    (1.5, "tsp", "cumin"),
    (4, "cup", "vegetable stock"),
    (120, "g", "yoghurt"),
    (1, "", "lemon"),
]


def scaled(amount, unit, factor):
    """Return the amount for the guests as text, with its unit if it has one."""
    amount *= factor
    kind = kind_of(unit)
    if kind is None:
        return f"{amount:g}"
    return pretty(to_metric(amount, unit), kind)


def main():
    factor = GUESTS / SERVES
    print(f"Lentil soup for {GUESTS} ({factor:g} times the recipe)")
    for amount, unit, what in RECIPE:
        print(f"{scaled(amount, unit, factor):>8}  {what}")


if __name__ == "__main__":
    main()
