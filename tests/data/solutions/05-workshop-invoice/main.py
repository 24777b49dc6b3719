"""Print the invoice of a bicycle workshop.

Rates of VAT are fractions (0.19), the customer's trade discount is a percentage (5 for five per cent).
"""

VAT = {"work": 0.19, "part": 0.19, "book": 0.07}
CUSTOMER = {"name": "Lindgren Courier Ltd", "discount": 5}

ITEMS = [
    ("Full service, cargo bike", "work", 2, 89.00),
    ("Chain, nine speed", "part", 3, 21.80),
    ("Brake pads, pair", "part", 4, 12.50),
    ("Tyre 20 x 2.15", "part", 2, 34.80),
    ("Repair manual", "book", 1, 29.80),
]


def net(quantity, price, discount):
    """Net amount of a line after the discount in per cent."""
    return quantity * price * (1 - discount / 100)


def vat_by_kind(items, discount):
    """Net amount and VAT for every rate that occurs: {rate: [net, vat]}."""
    sums = {}
    for _, kind, quantity, price in items:
        rate = VAT[kind]
        amount = net(quantity, price, discount)
        entry = sums.setdefault(rate, [0.0, 0.0])
        entry[0] += amount
        entry[1] += amount * rate
    return sums


def line_text(text, quantity, price, amount):
    """One line of the table."""
    return f"{text:<26}{quantity:>3} x {price:>7.2f} {amount:>9.2f}"


def main():
    discount = CUSTOMER["discount"]
    print(f"Invoice for {CUSTOMER['name']}")
    print(f"All prices less {discount} % trade discount")
    for text, _, quantity, price in ITEMS:
        print(line_text(text, quantity, price, net(quantity, price, discount)))
    sums = vat_by_kind(ITEMS, discount)
    total = 0.0
    for rate, (amount, vat) in sorted(sums.items()):
        print(f"VAT {rate * 100:.0f} % on {amount:.2f}: {vat:.2f}")
        total += amount + vat
    print(f"To pay: {total:.2f}")


if __name__ == "__main__":
    main()
