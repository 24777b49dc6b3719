"""Response times of the support teams, taken from the ticket list of one day."""

TEAMS = ["Accounts", "Facilities", "Network", "Workplace"]

# number, team, opened, first answer (empty while nobody has answered)
TICKETS = [
    (501, "Network", "08:05", "08:17"),
    (502, "Accounts", "08:30", "09:45"),
    (503, "Network", "09:02", ""),
    (504, "Workplace", "09:10", "09:14"),
    (505, "Facilities", "09:40", ""),
    (506, "Network", "10:00", "10:55"),
    (507, "Workplace", "11:20", "12:01"),
    (508, "Facilities", "13:15", ""),
    (509, "Workplace", "14:00", "14:02"),
]


def minutes_between(start, end):
    """Minutes from one HH:MM to a later one of the same day."""
    start_hour, start_minute = map(int, start.split(":"))
    end_hour, end_minute = map(int, end.split(":"))
    return (end_hour - start_hour) * 60 + end_minute - start_minute


def waits(tickets, team):
    """Waiting times in minutes of the team's answered tickets."""
    return [
        minutes_between(opened, answered)
        for _, owner, opened, answered in tickets
        if owner == team and answered
    ]


def average(values):
    """Mean of the values."""
    if not values:
        return 0.0
    return sum(values) / len(values)


def open_numbers(tickets, team):
    """Numbers of the team's tickets that wait for an answer."""
    return [number for number, owner, _, answered in tickets if owner == team and not answered]


def main():
    print(f"{'team':<11}{'answered':>9}{'avg min':>9}{'open':>6}")
    for team in TEAMS:
        times = waits(TICKETS, team)
        waiting = open_numbers(TICKETS, team)
        print(f"{team:<11}{len(times):>9}{average(times):>9.1f}{len(waiting):>6}")
    overall = [time for team in TEAMS for time in waits(TICKETS, team)]
    print(f"{'all':<11}{len(overall):>9}{average(overall):>9.1f}")
    oldest = min(number for team in TEAMS for number in open_numbers(TICKETS, team))
    print(f"Oldest open ticket: {oldest}")


if __name__ == "__main__":
    main()
