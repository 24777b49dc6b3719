import pytest
from service import Service

OFFICE = """\
# hours
mo-fr 08:00-12:00 13:00-17:30   # with a break
sa    09:00-13:00
2026-12-24 09:00-12:00
2026-12-25..2026-12-28 closed
"""


def test_is_open():
    desk = Service(OFFICE)
    assert desk.is_open("2026-03-02 08:00")
    assert desk.is_open("2026-03-02 11:59")
    assert not desk.is_open("2026-03-02 12:00")
    assert not desk.is_open("2026-03-02 07:59")
    assert not desk.is_open("2026-03-01 10:00")


def test_hours():
    desk = Service(OFFICE)
    assert desk.hours("2026-03-02") == "08:00-12:00, 13:00-17:30"
    assert desk.hours("2026-03-07") == "09:00-13:00"
    assert desk.hours("2026-03-08") == "closed"


def test_dates_replace_weekdays():
    desk = Service(OFFICE)
    assert desk.hours("2026-12-24") == "09:00-12:00"
    assert [desk.hours(f"2026-12-{day}") for day in (25, 26, 28)] == ["closed"] * 3
    assert desk.hours("2026-12-29") == "08:00-12:00, 13:00-17:30"


def test_the_last_date_rule_holds():
    page = "mo 08:00-09:00\n2026-03-02 10:00-11:00\n2026-03-01..2026-03-03 12:00-13:00\n"
    assert Service(page).hours("2026-03-02") == "12:00-13:00"
    assert Service(page + "2026-03-02 closed").hours("2026-03-02") == "closed"
    assert Service("2026-03-02 closed\n" + page).hours("2026-03-03") == "12:00-13:00"


def test_weekday_rules_add_up():
    assert Service("mo-we 08:00-10:00\ntu 10:00-11:00 15:00-16:00").hours("2026-03-03") == "08:00-11:00, 15:00-16:00"


def test_ranges_over_the_end_of_the_week():
    desk = Service("FR-mo 10:00-11:00")
    days = [desk.hours(f"2026-03-0{day}") for day in range(2, 9)]
    assert days == ["10:00-11:00", "closed", "closed", "closed", "10:00-11:00", "10:00-11:00", "10:00-11:00"]


def test_a_range_of_one_day():
    desk = Service("we-we 10:00-11:00")
    assert [desk.hours(f"2026-03-0{day}") for day in (3, 4, 5)] == ["closed", "10:00-11:00", "closed"]


def test_over_midnight():
    desk = Service("fr 22:00-02:00")
    assert desk.hours("2026-03-06") == "22:00-24:00"
    assert desk.hours("2026-03-07") == "00:00-02:00"
    assert desk.is_open("2026-03-07 01:59")


def test_whole_days():
    assert Service("mo-su 00:00-24:00").hours("2026-03-02") == "00:00-24:00"
    desk = Service("mo 08:00-08:00")
    assert (desk.hours("2026-03-02"), desk.hours("2026-03-03")) == ("08:00-24:00", "00:00-08:00")


def test_what_begins_on_another_day_is_not_replaced():
    desk = Service("fr-sa 22:00-02:00\n2026-03-07 10:00-12:00")
    assert desk.hours("2026-03-07") == "00:00-02:00, 10:00-12:00"
    assert desk.hours("2026-03-08") == "closed"


def test_also():
    desk = Service("2026-03-07 also 12:30-13:30 23:00-01:00\n" + OFFICE)
    assert desk.hours("2026-03-07") == "09:00-13:30, 23:00-24:00"
    assert desk.hours("2026-03-08") == "00:00-01:00"
    assert Service("2026-03-07 also 10:00-11:00\n2026-03-07 closed").hours("2026-03-07") == "10:00-11:00"


def test_not():
    desk = Service("2026-03-02 not 10:00-10:30 17:00-18:00\n" + OFFICE)
    assert desk.hours("2026-03-02") == "08:00-10:00, 10:30-12:00, 13:00-17:00"


def test_not_comes_last():
    assert Service("2026-03-02 not 10:00-11:00\n2026-03-02 also 09:00-12:00").hours("2026-03-02") == (
        "09:00-10:00, 11:00-12:00"
    )


def test_not_takes_what_came_over_midnight_too():
    desk = Service("fr 22:00-04:00\n2026-03-07 not 01:00-02:00")
    assert desk.hours("2026-03-07") == "00:00-01:00, 02:00-04:00"
    desk = Service("sa 00:00-04:00\n2026-03-06 not 23:00-01:00")
    assert desk.hours("2026-03-07") == "01:00-04:00"


def test_due():
    desk = Service(OFFICE)
    assert desk.due("2026-03-02 08:00", 30) == "2026-03-02 08:30"
    assert desk.due("2026-03-02 08:00", 240) == "2026-03-02 12:00"
    assert desk.due("2026-03-02 08:00", 241) == "2026-03-02 13:01"
    assert desk.due("2026-03-02 06:00", 1) == "2026-03-02 08:01"
    assert desk.due("2026-03-07 12:50", 20) == "2026-03-09 08:10"


def test_due_over_closed_days():
    assert Service(OFFICE).due("2026-12-24 11:00", 61) == "2026-12-29 08:01"


def test_due_at_once():
    desk = Service(OFFICE)
    assert desk.due("2026-03-02 09:17", 0) == "2026-03-02 09:17"
    assert desk.due("2026-03-02 12:00", 0) == "2026-03-02 13:00"
    with pytest.raises(ValueError):
        desk.due("2026-03-02 12:00", -1)


def test_due_begins_within_what_came_over_midnight():
    assert Service("fr 22:00-02:00").due("2026-03-07 01:30", 45) == "2026-03-13 22:15"


def test_never_due():
    with pytest.raises(LookupError):
        Service("").due("2026-03-02 08:00", 0)
    with pytest.raises(LookupError):
        Service("2026-03-02 08:00-09:00").due("2026-03-02 08:30", 31)
    desk = Service("2026-03-02 00:00-01:00")
    # 400 days before: the first minutes of the opening time are just outside, or just inside
    with pytest.raises(LookupError):
        desk.due("2025-01-26 00:00", 1)
    assert desk.due("2025-01-26 00:10", 10) == "2026-03-02 00:10"
    with pytest.raises(LookupError):
        desk.due("2025-01-26 00:10", 11)


def test_late():
    desk = Service(OFFICE)
    assert desk.late("2026-03-02 12:00", "2026-03-02 13:10") == 10
    assert desk.late("2026-03-02 11:50", "2026-03-02 11:40") == 0
    assert desk.late("2026-03-06 17:00", "2026-03-09 08:30") == 30 + 240 + 30


@pytest.mark.parametrize(
    "rule",
    [
        "mon 08:00-09:00",
        "mo-xx 08:00-09:00",
        "mo",
        "mo 8:00-09:00",
        "mo 08:00-24:01",
        "mo 24:00-08:00",
        "mo 08:00-12:60",
        "mo 08:00",
        "mo closed",
        "mo also 08:00-09:00",
        "mo not 08:00-09:00",
        "2026-02-29 closed",
        "2026-03-02..2026-03-01 closed",
        "2026-03-02",
        "2026-03-02 also",
        "2026-03-02 also closed",
        "2026-03-02 closed 08:00-09:00",
    ],
)
def test_pages_that_are_wrong(rule):
    with pytest.raises(ValueError, match=r"line 3\b"):
        Service(f"mo 08:00-09:00\n\n{rule}\n")


@pytest.mark.parametrize("moment", ["2026-03-02", "2026-13-02 10:00", "now", ""])
def test_moments_that_are_wrong(moment):
    desk = Service(OFFICE)
    with pytest.raises(ValueError):
        desk.is_open(moment)
    with pytest.raises(ValueError):
        desk.hours("2026-03-02 10:00")
