"""Postage for the parcels of one day.

The price list reads: up to and including 1 kg 4.50, 2 kg 5.90, 5 kg 8.20, 10 kg 11.70, 31.5 kg 18.40.
Anything longer than 120 cm costs 6.00 more. Heavier parcels go by carrier and get no price here.
"""

from dataclasses import dataclass

BANDS = [(1.0, 450), (2.0, 590), (5.0, 820), (10.0, 1170), (31.5, 1840)]
OVERSIZE_CM = 120
OVERSIZE_CENTS = 600


@dataclass
class Parcel:
    number: str
    kg: float
    longest_cm: int


PARCELS = [
    Parcel("P-1001", 0.4, 30),
    Parcel("P-1002", 1.0, 45),
    Parcel("P-1003", 1.8, 120),
    Parcel("P-1004", 2.0, 121),
    Parcel("P-1005", 5.0, 60),
    Parcel("P-1006", 7.25, 150),
    Parcel("P-1007", 31.5, 110),
    Parcel("P-1008", 32.0, 80),
    Parcel("P-1009", 0.0, 20),
]


def base_price(kg):
    """Cents for a weight, or None if the parcel is too heavy for the post."""
    for limit, cents in BANDS:
        if kg <= limit:
            return cents
    return None


def postage(parcel):
    """Cents for a parcel with all surcharges, or None."""
    cents = base_price(parcel.kg)
    if cents is None:
        return None
    if parcel.longest_cm > OVERSIZE_CM:
        cents += OVERSIZE_CENTS
    return cents


def money(cents):
    """Write cents as an amount: 1234 becomes 12.34."""
    return f"{cents // 100}.{cents % 100:02d}"


def main():
    total = 0
    by_carrier = []
    for parcel in PARCELS:
        cents = postage(parcel)
        if cents is None:
            by_carrier.append(parcel.number)
            continue
        total += cents
        print(f"{parcel.number}  {parcel.kg:>5.2f} kg  {money(cents):>6}")
    print(f"Post total {money(total)}")
    print("By carrier: " + ", ".join(by_carrier))


if __name__ == "__main__":
    main()
