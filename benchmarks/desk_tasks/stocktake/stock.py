"""What happened between two stocktakes. The rules are in TASK.md."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Change:
    """One thing that happened: `kind` is moved, gained, lost or relabelled."""

    kind: str
    article: str
    lot: str
    amount: Decimal
    unit: str
    source: str = ""
    target: str = ""


def read(text: str) -> dict[tuple[str, str, str], tuple[Decimal, str]]:
    """A list of a stocktake: amount and unit by article, lot and place."""
    raise NotImplementedError


def compare(before: str, after: str) -> list[Change]:
    """What happened from one list to the other."""
    raise NotImplementedError


def report(changes: list[Change]) -> str:
    """The changes as a text."""
    raise NotImplementedError
