from fractions import Fraction

import pytest
from passage import Window, height_at, notice, windows
from readings import Turn

HALF_DAY = [Turn(0, 0), Turn(360, 120)]
TWO = [Turn(0, 0), Turn(360, 240), Turn(720, 60), Turn(1080, 300)]
TABLE = """\
# spring tide
1 00:00 0

1 06:00 240
1 12:00 60
1 18:00 300
"""


def test_twelfths():
    assert [height_at(HALF_DAY, minute) for minute in range(0, 361, 60)] == [0, 10, 30, 60, 90, 110, 120]


def test_inside_of_a_part_it_is_even():
    assert height_at(HALF_DAY, 30) == 5
    assert height_at(HALF_DAY, 61) == Fraction(31, 3)
    assert isinstance(height_at(HALF_DAY, 61), Fraction)


def test_falling_water():
    assert height_at(TWO, 420) == 225
    assert height_at(TWO, 540) == 150
    assert height_at(TWO, 720) == 60


def test_parts_need_not_be_whole_minutes():
    turns = [Turn(10, 0), Turn(20, 12), Turn(27, 0)]
    assert height_at(turns, 11) == Fraction(3, 5)
    assert height_at(turns, 12) == Fraction(7, 5)
    assert height_at(turns, 15) == 6
    assert height_at(turns, 21) == 12 - Fraction(6, 7)


@pytest.mark.parametrize("minute", [-1, 361])
def test_outside_of_the_table(minute):
    with pytest.raises(ValueError):
        height_at(HALF_DAY, minute)


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [Turn(0, 5)],
        [Turn(10, 0), Turn(0, 100)],
        [Turn(0, 0), Turn(0, 100)],
        [Turn(0, 0), Turn(360, 0)],
        [Turn(0, 0), Turn(360, 100), Turn(720, 200)],
        [Turn(0, 100), Turn(360, 0), Turn(720, 0)],
    ],
)
def test_tables_that_are_wrong(turns):
    with pytest.raises(ValueError):
        height_at(turns, 0)
    with pytest.raises(ValueError):
        windows(turns, 100, 0)


@pytest.mark.parametrize(("draught", "swell"), [(-1, 0), (100, -2)])
def test_negative_lengths(draught, swell):
    with pytest.raises(ValueError):
        windows(TWO, draught, 0, swell=swell)


def test_windows_with_the_least_clearance():
    # 150 and 30: the height has to be 180 or more
    assert windows(TWO, 150, 0) == [Window(240, 500, 360), Window(900, 1080, 1080)]


def test_equal_is_enough_and_a_tenth_is_exact():
    turns = [Turn(0, 300), Turn(60, 180)]
    assert windows(turns, 150, 0) == [Window(0, 60, 0)]
    assert windows([Turn(0, 370), Turn(120, 250)], 335, 0) == [Window(0, 3, 0)]


def test_clearance_of_deep_ships():
    # 300 needs 330, and the bar gives 150 of it
    assert windows(TWO, 300, 150) == windows(TWO, 150, 0)
    assert windows(TWO, 301, 150) != windows(TWO, 300, 150)


def test_half_of_the_swell():
    assert windows(TWO, 100, 0, swell=100) == windows(TWO, 150, 0)
    assert windows(TWO, 149, 0, swell=2) == windows(TWO, 150, 0)


def test_bars_that_fall_dry():
    assert windows(TWO, 110, -40) == windows(TWO, 150, 0)


def between(turns):
    """How many minutes near the middle turn have too little water for a need of 150."""
    return sum(height_at(turns, minute) < 150 for minute in range(90, 130))


def test_short_times_between_windows_are_waited_for():
    turns = [Turn(0, 0), Turn(100, 200), Turn(110, 100), Turn(120, 200), Turn(220, 0)]
    assert between(turns) == 9
    assert windows(turns, 120, 0) == [Window(67, 153, 100)]


def test_exactly_ten_minutes_stay_between():
    turns = [Turn(0, 0), Turn(100, 200), Turn(110, 100), Turn(121, 200), Turn(221, 0)]
    assert between(turns) == 10
    assert windows(turns, 120, 0) == [Window(67, 105, 100), Window(116, 154, 121)]


def test_short_windows_are_left_out():
    assert windows([Turn(0, 0), Turn(60, 100), Turn(120, 0)], 60, 0, swell=5) == []  # 19 minutes: 51 to 69
    assert windows([Turn(0, 0), Turn(60, 100), Turn(127, 0)], 60, 0, swell=5) == [Window(51, 70, 60)]


def test_short_windows_that_become_one_are_long_enough():
    turns = [Turn(0, 0), Turn(60, 100), Turn(66, 80), Turn(72, 100), Turn(132, 0)]
    assert windows(turns, 64, 0) == [Window(53, 79, 60)]


def test_a_short_window_at_the_edge_stays():
    assert windows([Turn(0, 100), Turn(120, 0)], 65, 0) == [Window(0, 12, 0)]
    assert windows([Turn(0, 0), Turn(120, 100)], 70, 0) == [Window(120, 120, 120)]


def test_the_earliest_of_equal_heights_is_best():
    turns = [Turn(0, 100), Turn(60, 50), Turn(120, 100)]
    assert windows(turns, 10, 0) == [Window(0, 120, 0)]


def test_a_notice():
    assert notice(TABLE, 150, 0) == (
        "draught 1.50 m, bar 0.00 m\n"
        "1 04:00 - 1 08:20 best 1 06:00 2.40 m over the bar\n"
        "1 15:00 - ... best 1 18:00 3.00 m over the bar\n"
    )


def test_a_notice_with_swell_and_a_dry_bar():
    assert notice("1 23:00 300\n2 01:00 0\n", 110, -40, swell=5) == (
        "draught 1.10 m, bar dry 0.40 m, swell 0.05 m\n... - 1 23:51 best 1 23:00 2.60 m over the bar\n"
    )


def test_a_notice_rounds_down():
    text = "1 00:00 0\n1 06:00 241\n1 12:00 60\n"
    assert notice(text, 150, -1).splitlines()[1].endswith("best 1 06:00 2.40 m over the bar")


def test_never_and_always():
    assert notice(TABLE, 900, 0) == "draught 9.00 m, bar 0.00 m\nno passage\n"
    assert notice(TABLE, 90, 200) == "draught 0.90 m, bar 2.00 m\nalways\n"
