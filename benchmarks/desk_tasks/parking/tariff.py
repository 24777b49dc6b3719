"""What a stay in the garage costs. The rules are in TASK.md."""


def charge(arrival: str, departure: str, *, card: str | None = None, lost: bool = False) -> int:
    """The price of a stay, in cents."""
    raise NotImplementedError


def receipt(arrival: str, departure: str, *, card: str | None = None, lost: bool = False) -> list[str]:
    """The lines that are printed at the exit."""
    raise NotImplementedError
