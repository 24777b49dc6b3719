import pytest
from booking import Hall, NoRoom
from plan import Seat

SMALL = "....\n....\n"


def places(seats):
    return [(seat.row, seat.column) for seat in seats]


def row(number, *columns):
    return [(number, column) for column in columns]


def test_seats_are_told_in_order():
    assert Hall("...").book("Ann", 3) == [Seat(0, 0), Seat(0, 1), Seat(0, 2)]


@pytest.mark.parametrize("drawing", ["", "\n", "   \n  "])
def test_a_hall_needs_seats(drawing):
    with pytest.raises(ValueError):
        Hall(drawing)


def test_other_characters_are_refused():
    with pytest.raises(ValueError):
        Hall("..x")


def test_the_middle_is_best():
    assert places(Hall(".........").book("a", 1)) == row(0, 4)
    assert places(Hall(".........").book("a", 3)) == row(0, 3, 4, 5)


def test_of_equal_ones_the_left():
    assert places(Hall("..........").book("a", 2)) == row(0, 4, 5)
    assert places(Hall("..........").book("a", 3)) == row(0, 3, 4, 5)


def test_the_middle_is_that_of_the_widest_row():
    assert places(Hall(".....\n...............").book("a", 2, rows=range(1, 2))) == row(0, 3, 4)


def test_the_stage_counts_more_than_the_middle():
    hall = Hall("..... .\n.......")
    assert places(hall.book("a", 5)) == row(0, 0, 1, 2, 3, 4)
    assert places(hall.book("b", 1)) == row(0, 6)


def test_no_single_seat_is_left_where_it_can_be_helped():
    hall = Hall(SMALL)
    assert places(hall.book("a", 3)) == row(0, 0, 1, 2)
    assert places(Hall("....\n...").book("a", 3)) == row(1, 0, 1, 2)
    assert places(Hall("....").book("a", 2)) == row(0, 0, 1)


def test_a_single_seat_beside_taken_ones():
    hall = Hall("........")
    assert places(hall.book("a", 2)) == row(0, 3, 4)
    # 0 to 2 and 5 to 7 are left: two of three would leave one
    assert places(hall.book("b", 1)) == row(0, 2)
    assert places(hall.book("c", 2)) == row(0, 0, 1)


def test_single_seats_that_were_there_do_not_count():
    hall = Hall(". ...")
    assert places(hall.book("a", 3)) == row(0, 2, 3, 4)
    hall = Hall(". .....\n.......")
    assert places(hall.book("a", 2)) == row(0, 2, 3)


def test_blocks_end_at_aisles():
    hall = Hall("... ...\n......")
    assert places(hall.book("a", 4)) == row(1, 2, 3, 4, 5)


def test_wheelchairs():
    hall = Hall("..w..\nww...")  # whatever is taken leaves a single place
    assert places(hall.book("a", 2, wheelchairs=1)) == row(0, 1, 2)
    assert places(hall.book("b", 1, wheelchairs=1)) == row(1, 0)
    with pytest.raises(NoRoom):
        hall.book("c", 2, wheelchairs=2)


def test_nobody_else_gets_their_places():
    hall = Hall("www.\n.w.")
    assert places(hall.book("a", 1)) == row(0, 3)
    with pytest.raises(NoRoom):
        hall.book("b", 2)


def test_a_place_for_a_wheelchair_can_be_left_alone_too():
    # the two seats at the left would leave w alone, so the next row is better
    assert places(Hall("..w\n..").book("a", 2)) == row(1, 0, 1)


def test_two_rows():
    hall = Hall("...\n...\n...")
    assert places(hall.book("a", 4)) == row(0, 0, 1) + row(1, 0, 1)


def test_the_larger_half_sits_in_front():
    hall = Hall("....\n....\n")
    assert places(hall.book("a", 5)) == row(0, 0, 1, 2) + row(1, 0, 1)


def test_halves_touch():
    with pytest.raises(NoRoom):
        Hall("..\n   ..").book("a", 4)
    assert places(Hall("...\n  ..").book("a", 4)) == row(0, 1, 2) + row(1, 2, 3)


def test_the_pair_with_fewer_single_seats():
    hall = Hall("...\n..\n..")
    assert places(hall.book("a", 4)) == row(1, 0, 1) + row(2, 0, 1)


def test_groups_of_three_and_with_wheelchairs_are_not_split():
    with pytest.raises(NoRoom):
        Hall("..\n..").book("a", 3)
    with pytest.raises(NoRoom):
        Hall("w..\n...").book("a", 4, wheelchairs=1)


def test_rows_are_counted_from_one():
    hall = Hall("...\n...\n...\n...")
    assert places(hall.book("a", 3, rows=range(3, 10))) == row(2, 0, 1, 2)
    with pytest.raises(NoRoom):
        hall.book("b", 4, rows=range(2, 4))
    assert places(hall.book("b", 4, rows=range(1, 3))) == row(0, 0, 1) + row(1, 0, 1)


@pytest.mark.parametrize(("size", "wheelchairs"), [(0, 0), (-1, 0), (2, -1), (2, 3)])
def test_wrong_sizes(size, wheelchairs):
    with pytest.raises(ValueError):
        Hall(".").book("a", size, wheelchairs=wheelchairs)


@pytest.mark.parametrize("name", ["", " a"])
def test_wrong_names(name):
    with pytest.raises(ValueError):
        Hall(".").book(name, 9)


def test_no_room_changes_nothing():
    hall = Hall("..\n..")
    hall.book("a", 1)
    before = hall.drawing()
    with pytest.raises(NoRoom):
        hall.book("b", 4)
    assert hall.drawing() == before
    with pytest.raises(KeyError):
        hall.cancel("b")


def test_cancelling_takes_all_seats_of_a_name():
    hall = Hall("....")
    assert places(hall.book("a", 2)) == row(0, 0, 1)
    assert places(hall.book("a", 2)) == row(0, 2, 3)
    hall.cancel("a")
    assert hall.drawing() == "...."
    with pytest.raises(KeyError):
        hall.cancel("a")


def test_drawings():
    hall = Hall("\n.. ..w \n.....\n\n")
    hall.book("ann", 2)
    hall.book("9 friends", 5)
    hall.book("Émile", 1, wheelchairs=1)
    assert hall.drawing().split("\n") == ["AA ..É", "#####"]
