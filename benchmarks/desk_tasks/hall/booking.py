"""Seats for groups. The rules are in TASK.md."""

from plan import Seat


class NoRoom(Exception):
    """A group cannot be seated."""


class Hall:
    """A hall whose seats are given to groups, one after the other."""

    def __init__(self, drawing: str) -> None:
        raise NotImplementedError

    def book(self, name: str, size: int, *, wheelchairs: int = 0, rows: range | None = None) -> list[Seat]:
        """Give seats to a group; they are told in their order."""
        raise NotImplementedError

    def cancel(self, name: str) -> None:
        """Take back the seats of a group."""
        raise NotImplementedError

    def drawing(self) -> str:
        """The hall as it is now."""
        raise NotImplementedError
