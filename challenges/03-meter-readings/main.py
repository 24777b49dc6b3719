"""Daily electricity use and its cost, from meter readings on standard input.

A reading is a line `YYYY-MM-DD kWh`; empty lines and lines that begin with # are passed over. The first 10 kWh
of a day cost 24 cents each, what is beyond them 32 cents.
"""

import sys

ALLOWANCE = 10.0
CHEAP = 0.24
DEAR = 0.32


def read(lines):
    """Return the readings as (day, kWh) in the order of the lines."""
    readings = []
    for line in lines:
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        day, value = line.split()
        readings.append((day, float(value)))
    return readings


def daily_use(readings):
    """Return (day, kWh used until the next reading) for every reading but the last."""
    return [
        (day, later - earlier)
        for (day, earlier), (_, later) in zip(readings, readings[1:])
    ]


def cost(kwh):
    """Price of one day's use."""
    cheap_part = max(kwh, ALLOWANCE)
    return cheap_part * CHEAP + (kwh - cheap_part) * DEAR


def average(use):
    """Mean use of a day in kWh."""
    return sum(kwh for _, kwh in use) / (len(use) - 1)


def busiest(use):
    """The day with the highest use."""
    return max(use, key=lambda item: item[1])


def main():
    use = daily_use(read(sys.stdin))
    for day, kwh in use:
        print(f"{day}  {kwh:6.1f} kWh  {cost(kwh):6.2f}")
    day, kwh = busiest(use)
    print(f"Days     {len(use)}")
    print(f"Total    {sum(kwh for _, kwh in use):.1f} kWh, {sum(cost(kwh) for _, kwh in use):.2f}")
    print(f"Busiest  {day} with {kwh:.1f} kWh")
    print(f"Average  {average(use):.2f} kWh")


if __name__ == "__main__":
    main()
