"""Weekend rota of a small veterinary practice.

Two people share a weekend: one leads, one assists. Whoever assists leads the next weekend that is open.
"""

from collections import Counter
from datetime import date, timedelta

STAFF = ["Amara", "Bo", "Chidi", "Dilan", "Eve"]
FIRST_SATURDAY = date(2024, 3, 2)
WEEKENDS = 9
CLOSED = {date(2024, 3, 30): "Easter"}


def weekends(first, count):
    """Yield number and Saturday of `count` weekends, numbered from 1."""
    for number in range(1, count + 1):
        yield number, first + timedelta(weeks=number - 1)


def plan(staff, first, count, closed):
    """Return rows of (number, Saturday, lead, assistant); a closed weekend has no people and uses up no turn."""
    rows = []
    turn = 0
    for number, saturday in weekends(first, count):
        if saturday in closed:
            rows.append((number, saturday, None, None))
            continue
        lead = staff[turn % len(staff)]
        assistant = staff[(turn + 1) % len(staff)]
        rows.append((number, saturday, lead, assistant))
        turn += 1
    return rows


def duties(rows):
    """Count how often each person is on duty, in either role."""
    count = Counter()
    for _, _, lead, assistant in rows:
        if lead is not None:
            count.update([lead, assistant])
    return count


def show(rows, closed):
    """Print one line a weekend."""
    for number, saturday, lead, assistant in rows:
        when = saturday.strftime("%d.%m.%Y")
        if lead is None:
            print(f"{number:>2}  {when}  closed ({closed[saturday]})")
        else:
            print(f"{number:>2}  {when}  {lead} with {assistant}")


def main():
    rows = plan(STAFF, FIRST_SATURDAY, WEEKENDS, CLOSED)
    print(f"Rota for {WEEKENDS} weekends from {FIRST_SATURDAY:%d.%m.%Y}")
    show(rows, CLOSED)
    print("Duties:")
    for name, times in sorted(duties(rows).items()):
        print(f"  {name:<6} {times}")


if __name__ == "__main__":
    main()
