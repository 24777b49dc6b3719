import pytest
from tariff import charge, receipt


def test_twenty_minutes_are_free():
    assert charge("2026-03-02 10:00", "2026-03-02 10:20") == 0
    assert charge("2026-03-02 10:00", "2026-03-02 10:00") == 0


def test_from_the_21st_minute_all_is_paid():
    assert charge("2026-03-02 10:00", "2026-03-02 10:21") == 140


def test_full_quarters_are_not_one_more():
    assert charge("2026-03-02 10:05", "2026-03-02 10:35") == 140


def test_a_quarter_has_the_price_of_its_beginning():
    assert charge("2026-03-02 19:50", "2026-03-02 20:20") == 70 + 20


def test_twenty_oclock_is_night_and_seven_is_day():
    assert charge("2026-03-02 20:00", "2026-03-02 20:30") == 40
    assert charge("2026-03-03 06:45", "2026-03-03 07:15") == 90


def test_quiet_days():
    assert charge("2026-03-01 12:00", "2026-03-01 13:00") == 120
    assert charge("2026-05-01 12:00", "2026-05-01 13:00") == 120
    assert charge("2026-05-01 20:00", "2026-05-01 21:00") == 80


def test_a_saturday_is_no_quiet_day():
    assert charge("2026-03-07 12:00", "2026-03-07 13:00") == 280


def test_a_night_has_a_limit_over_midnight():
    assert charge("2026-03-02 20:00", "2026-03-03 07:00") == 240
    assert charge("2026-03-02 22:00", "2026-03-03 06:00") == 240


def test_two_nights_on_one_calendar_day():
    # 00:00 to 07:00 is one night, from 20:00 on it is another one; in between a Sunday
    assert charge("2026-03-01 00:00", "2026-03-02 00:00") == 1500
    assert charge("2026-03-01 03:00", "2026-03-01 07:00") == 240


def test_a_day_has_a_limit():
    assert charge("2026-03-02 08:00", "2026-03-02 19:00") == 1500
    assert charge("2026-03-02 08:00", "2026-03-02 23:59") == 1500


def test_what_the_limit_of_the_day_took_does_not_count_for_the_night():
    # no room is left on Monday; the night's own limit is all left for Tuesday's part
    assert charge("2026-03-02 10:00", "2026-03-03 07:00") == 1500 + 240


def test_several_days():
    assert charge("2026-03-02 10:00", "2026-03-04 09:00") == 1500 + 1500 + 240 + 8 * 70


def test_residents():
    assert charge("2026-03-02 20:00", "2026-03-02 21:00", card="resident") == 60
    assert charge("2026-03-02 20:00", "2026-03-03 07:00", card="resident") == 150
    assert charge("2026-03-01 12:00", "2026-03-01 13:00", card="resident") == 100


def test_the_sum_is_rounded_once_and_down():
    assert charge("2026-03-02 20:00", "2026-03-02 20:45", card="resident") == 40
    assert charge("2026-03-01 19:00", "2026-03-01 20:45", card="resident") == 4 * 25 + 40
    assert charge("2026-03-01 19:45", "2026-03-01 20:15", card="resident") == 40


def test_season_cards():
    assert charge("2026-03-02 08:00", "2026-03-02 19:00", card="season") == 0
    assert charge("2026-03-07 08:00", "2026-03-07 09:00", card="season") == 280
    assert charge("2026-05-01 08:00", "2026-05-01 09:00", card="season") == 120
    assert charge("2026-03-02 19:30", "2026-03-02 20:30", card="season") == 40


@pytest.mark.parametrize("card", ["Season", "", "gold"])
def test_unknown_cards(card):
    with pytest.raises(ValueError):
        charge("2026-03-02 10:00", "2026-03-02 10:05", card=card)


@pytest.mark.parametrize(
    ("arrival", "departure"),
    [("2026-03-02 10:00", "2026-03-02 09:59"), ("2026-03-02", "2026-03-03"), ("2026-03-02 10:00", "later")],
)
def test_bad_stays(arrival, departure):
    with pytest.raises(ValueError):
        charge(arrival, departure)


def test_lost_tickets():
    assert charge("2026-03-02 10:00", "2026-03-02 10:10", lost=True) == 2500
    assert charge("2026-03-02 10:00", "2026-03-02 12:00", lost=True, card="season") == 2500
    assert charge("2026-03-02 10:00", "2026-03-04 09:00", lost=True) == 3800


def test_a_receipt():
    assert receipt("2026-03-02 10:00", "2026-03-02 15:10") == ["2026-03-02 Mon 21 x 14.70", "total 14.70"]


def test_a_receipt_of_two_days():
    assert receipt("2026-03-02 23:30", "2026-03-03 00:20", card="resident") == [
        "2026-03-02 Mon 2 x 0.30",
        "2026-03-03 Tue 2 x 0.30",
        "total 0.60",
    ]


def test_a_day_that_cost_nothing_has_a_line_too():
    assert receipt("2026-03-02 08:00", "2026-03-02 09:00", card="season") == ["2026-03-02 Mon 4 x 0.00", "total 0.00"]


def test_a_day_in_which_no_quarter_begins_has_none():
    assert receipt("2026-03-02 23:50", "2026-03-03 00:12") == [
        "2026-03-02 Mon 1 x 0.20",
        "2026-03-03 Tue 1 x 0.20",
        "total 0.40",
    ]
    assert receipt("2026-03-02 23:25", "2026-03-03 00:10") == ["2026-03-02 Mon 3 x 0.60", "total 0.60"]


def test_a_receipt_says_what_was_rounded():
    assert receipt("2026-03-02 20:00", "2026-03-02 20:45", card="resident") == [
        "2026-03-02 Mon 3 x 0.45",
        "rounded -0.05",
        "total 0.40",
    ]


def test_receipts_of_free_stays_and_lost_tickets():
    assert receipt("2026-03-02 10:00", "2026-03-02 10:20") == ["total 0.00"]
    assert receipt("2026-03-02 10:00", "2026-03-02 12:20", lost=True) == ["lost ticket 25.00", "total 25.00"]
    assert receipt("2026-03-02 10:00", "2026-03-04 09:00", lost=True)[-1] == "total 38.00"
    assert len(receipt("2026-03-02 10:00", "2026-03-04 09:00", lost=True)) == 4
