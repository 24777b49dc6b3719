import unittest
from datetime import date, timedelta

from retention import days_to_keep, parse_name, to_delete


def run_of_days(first, count):
    return [date.fromisoformat(first) + timedelta(days=number) for number in range(count)]


def iso(days):
    return sorted(day.isoformat() for day in days)


class ParseName(unittest.TestCase):
    def test_names(self):
        self.assertEqual(parse_name("web-01-2024-02-29.tar"), ("web-01", date(2024, 2, 29)))
        self.assertIsNone(parse_name("notes.txt"))


class DaysToKeep(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(days_to_keep([], 3, 2, 1), set())
        self.assertEqual(days_to_keep(run_of_days("2024-05-01", 9), 0, 0, 0), set())

    def test_daily_counts_backups_and_not_days(self):
        days = run_of_days("2024-05-01", 2) + run_of_days("2024-05-20", 2)
        self.assertEqual(iso(days_to_keep(days, 3, 0, 0)), ["2024-05-02", "2024-05-20", "2024-05-21"])

    def test_weekly_keeps_the_newest_of_a_week(self):
        days = run_of_days("2024-05-06", 17)
        self.assertEqual(iso(days_to_keep(days[::-1], 0, 2, 0)), ["2024-05-19", "2024-05-22"])

    def test_weeks_across_the_new_year(self):
        days = run_of_days("2024-12-28", 6)
        self.assertEqual(iso(days_to_keep(days, 0, 3, 0)), ["2024-12-29", "2025-01-02"])

    def test_weeks_without_backups_do_not_count(self):
        days = [date(2024, 1, 3), date(2024, 3, 6), date(2024, 3, 7)]
        self.assertEqual(iso(days_to_keep(days, 0, 2, 0)), ["2024-01-03", "2024-03-07"])

    def test_monthly_keeps_the_oldest_of_a_month(self):
        days = run_of_days("2024-01-15", 60)
        self.assertEqual(iso(days_to_keep(days, 0, 0, 2)), ["2024-02-01", "2024-03-01"])

    def test_rules_add_up(self):
        days = run_of_days("2024-03-25", 16)
        self.assertEqual(
            iso(days_to_keep(days, 2, 3, 5)),
            ["2024-03-25", "2024-03-31", "2024-04-01", "2024-04-07", "2024-04-08", "2024-04-09"],
        )


class ToDelete(unittest.TestCase):
    def test_hosts_are_apart(self):
        names = ["db-2024-06-01.tar", "db-2024-06-02.tar", "db-2024-06-03.tar", "web-2024-05-01.tar", "README"]
        self.assertEqual(to_delete(names, daily=1, weekly=1, monthly=1), ["db-2024-06-02.tar"])


if __name__ == "__main__":
    unittest.main()
