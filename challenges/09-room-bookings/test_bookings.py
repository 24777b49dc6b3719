import pytest

from bookings import Booking, Refused, Room, clock, overlap


def at(hour, minute=0):
    return hour * 60 + minute


@pytest.fixture
def room():
    room = Room()
    room.book(at(10), at(11), "Sales")
    return room


def test_clock():
    assert clock(at(9, 5)) == "09:05"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (at(8), at(9), False),
        (at(9), at(10), False),
        (at(9), at(10, 1), True),
        (at(10, 15), at(10, 45), True),
        (at(9), at(12), True),
        (at(10, 59), at(12), True),
        (at(11), at(12), False),
        (at(15), at(16), False),
    ],
)
def test_overlap(start, end, expected):
    fixed = Booking(at(10), at(11), "Sales")
    assert overlap(fixed, Booking(start, end, "x")) is expected
    assert overlap(Booking(start, end, "x"), fixed) is expected


def test_afternoon_is_free(room):
    room.book(at(15), at(16), "Board")
    room.book(at(11), at(11, 45), "Design")
    assert room.plan() == ["10:00-11:00 Sales", "11:00-11:45 Design", "15:00-16:00 Board"]


def test_taken(room):
    with pytest.raises(Refused, match="taken by Sales until 11:00"):
        room.book(at(10, 30), at(12), "Board")
    assert room.plan() == ["10:00-11:00 Sales"]


@pytest.mark.parametrize(("start", "end"), [(at(7, 59), at(9)), (at(17), at(18, 1))])
def test_closed(room, start, end):
    with pytest.raises(Refused, match="closed"):
        room.book(start, end, "Board")


def test_gaps(room):
    room.book(at(11, 20), at(17, 45), "Training")
    assert room.gaps() == [(at(8), at(10))]
    assert room.gaps(at_least=15) == [(at(8), at(10)), (at(11), at(11, 20)), (at(17, 45), at(18))]
