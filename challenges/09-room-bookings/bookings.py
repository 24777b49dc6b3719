"""Bookings of one meeting room on one day, in minutes since midnight."""

from dataclasses import dataclass, field


class Refused(Exception):
    """A booking that the room cannot take; the text says why."""


@dataclass(frozen=True, order=True)
class Booking:
    start: int
    end: int
    who: str


def clock(minutes):
    """Minutes as HH:MM."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def overlap(one, other):
    """True if both bookings need the room at some moment; one may begin when the other ends."""
    return one.start < other.end or other.start < one.end


@dataclass
class Room:
    """A room that opens and closes at fixed times."""

    opens: int = 8 * 60
    closes: int = 18 * 60
    bookings: list = field(default_factory=list)

    def book(self, start, end, who):
        """Add a booking and return it; raises Refused."""
        wanted = Booking(start, end, who)
        if end <= start:
            raise Refused("ends before it begins")
        if start < self.opens or end > self.closes:
            raise Refused("room is closed")
        for booking in self.bookings:
            if overlap(booking, wanted):
                raise Refused(f"taken by {booking.who} until {clock(booking.end)}")
        self.bookings.append(wanted)
        self.bookings.sort()
        return wanted

    def gaps(self, at_least=30):
        """Free times as (start, end), each at least so many minutes long."""
        found = []
        free_from = self.opens
        for booking in self.bookings:
            if booking.start - free_from >= at_least:
                found.append((free_from, booking.start))
            free_from = booking.end
        if self.closes - free_from >= at_least:
            found.append((free_from, self.closes))
        return found

    def plan(self):
        """The day as lines of text."""
        return [f"{clock(item.start)}-{clock(item.end)} {item.who}" for item in self.bookings]
