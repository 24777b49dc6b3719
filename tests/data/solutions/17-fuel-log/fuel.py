"""Distance and fuel consumption of the vans, from refuelling notes on standard input."""

import sys
from typing import NamedTuple


class Stop(NamedTuple):
    date: str
    km: int
    litres: float


def read(lines):
    """Return {van: its stops by rising odometer}."""
    vans = {}
    for line in lines:
        note = line.split("#")[0].split()
        if note:
            date, van, km, litres = note
            vans.setdefault(van, []).append(Stop(date, int(km), float(litres)))
    for stops in vans.values():
        stops.sort(key=lambda stop: stop.km)
    return vans


def distance(stops):
    return stops[-1].km - stops[0].km


def litres_used(stops):
    return sum(stop.litres for stop in stops[1:])


def describe(van, stops):
    """Yield the lines about one van."""
    km, litres = distance(stops), litres_used(stops)
    consumption = f"{litres / km * 100:.2f}" if len(stops) > 1 else "-"
    yield f"{van}: {len(stops)} stops, {km} km, {litres:.1f} litres, {consumption} l/100km"
    for earlier, later in zip(stops, stops[1:]):
        if later.date < earlier.date:
            yield f"{van}: check {later.date}"


def main():
    vans = read(sys.stdin)
    for van in sorted(vans):
        for line in describe(van, vans[van]):
            print(line)
    km = sum(distance(stops) for stops in vans.values())
    litres = sum(litres_used(stops) for stops in vans.values())
    print(f"Fleet: {km} km, {litres:.1f} litres")


if __name__ == "__main__":
    main()
