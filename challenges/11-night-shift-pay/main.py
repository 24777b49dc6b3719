"""Pay of the night porters: hours worked, and how many of them carry the night bonus.

Night is from 20:00 to 06:00. An hour is paid 14.40, a night hour a quarter more. Shifts are planned in
quarter hours and may run past midnight.
"""

RATE = 14.40
NIGHT_BONUS = 0.25
NIGHT_BEGINS = 20 * 60
NIGHT_ENDS = 6 * 60

SHIFTS = [
    ("Ruth", "14:00", "19:30"),
    ("Ruth", "22:00", "06:00"),
    ("Tomasz", "21:15", "07:45"),
    ("Ruth", "00:00", "04:30"),
    ("Yusuf", "16:30", "00:00"),
    ("Yusuf", "05:00", "09:00"),
]


def minute_of_day(clock):
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def shift_minutes(begin, end):
    """Every minute of a shift as minutes since midnight of the day on which it begins."""
    return range(minute_of_day(begin), minute_of_day(end))


def is_night(minute):
    """True if the minute carries the bonus."""
    return minute >= NIGHT_BEGINS or minute < NIGHT_ENDS


def pay(minutes):
    """Pay for the given minutes."""
    night = sum(1 for minute in minutes if is_night(minute))
    return (len(minutes) + night * NIGHT_BONUS) / 60 * RATE


def main():
    totals = {}
    for name, begin, end in SHIFTS:
        minutes = shift_minutes(begin, end)
        night = sum(1 for minute in minutes if is_night(minute))
        print(f"{name:<7}{begin}-{end} {len(minutes) / 60:5.2f} h {night / 60:5.2f} night {pay(minutes):7.2f}")
        totals[name] = totals.get(name, 0.0) + pay(minutes)
    for name in sorted(totals):
        print(f"{name}: {totals[name]:.2f}")


if __name__ == "__main__":
    main()
