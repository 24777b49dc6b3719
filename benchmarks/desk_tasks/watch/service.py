"""When a help desk is open, and how long it has for an answer. The rules are in TASK.md."""


class Service:
    """The hours of a help desk, as its page tells them."""

    def __init__(self, page: str) -> None:
        raise NotImplementedError

    def is_open(self, moment: str) -> bool:
        """Whether somebody is there in this minute."""
        raise NotImplementedError

    def hours(self, day: str) -> str:
        """The hours of a calendar day (`2026-03-02`) in words."""
        raise NotImplementedError

    def due(self, moment: str, minutes: int) -> str:
        """When an answer is due that may take so many minutes of opening time."""
        raise NotImplementedError

    def late(self, due: str, answered: str) -> int:
        """How many minutes of opening time an answer came too late."""
        raise NotImplementedError
