"""Expense sheet of a trip: who paid what, converted, and what everybody owes.

Standard input has a line `name;what;amount;rate` for every expense: an amount in foreign money and what one unit
of it is worth in ours. All amounts shown are in our money with two digits.
"""

import sys
from decimal import ROUND_HALF_UP, Decimal

FEE_PERCENT = Decimal("2.5")
CENT = Decimal("0.01")


def rounded(amount):
    """The amount in whole cents."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def read(lines):
    """Return the expenses as (name, what, amount in our money)."""
    expenses = []
    for line in lines:
        name, what, amount, rate = line.strip().split(";")
        expenses.append((name, what, rounded(Decimal(amount) * Decimal(rate))))
    return expenses


def fee(amount):
    """What the bank takes for an expense abroad."""
    return rounded(amount * FEE_PERCENT / 100)


def balances(expenses):
    """Return {name: paid minus share}; the share of everybody is the same."""
    paid = {}
    for name, _, amount in expenses:
        paid[name] = paid.get(name, 0) + amount + fee(amount)
    share = rounded(sum(paid.values()) / len(paid))
    return {name: amount - share for name, amount in paid.items()}


def main():
    expenses = read(sys.stdin)
    for name, what, amount in expenses:
        print(f"{name:<6}{what:<12}{amount:>8.2f} fee {fee(amount):.2f}")
    for name, balance in sorted(balances(expenses).items()):
        verb = "gets" if balance > 0 else "owes"
        print(f"{name} {verb} {abs(balance):.2f}")


if __name__ == "__main__":
    main()
