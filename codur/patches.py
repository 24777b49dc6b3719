"""What an offline repair came to, as it travels, is kept and is shown."""

from collections.abc import Mapping
from typing import Literal

from codur.structs import Struct

RepairTier = Literal["deterministic", "guided"]
"""Whether one repair clearly wins, or several that pass differ (or nothing tells how sure the first one is)."""

ChosenBy = Literal["", "rank", "model", "user"]


class Distinction(Struct):
    """An input (a text, or a call) on which a repair answers otherwise than the first one; `!NAME` is an exception."""

    input: str
    first: str
    other: str


class Patch(Struct):
    """A repair that passes the check.

    Attributes:
        explanation: what was wrong, in a sentence for each edit.
        operators: names of the operators that made it, in order.
        distinction: None for the first one, and if no input was found on which it differs from that.
    """

    diff: str
    explanation: str
    operators: tuple[str, ...] = ()
    distinction: Distinction | None = None


class Suspect(Struct):
    """A line that the failure speaks against.

    Attributes:
        path, line: where it is; `text` is what stands there.
        score: 0 to 1, by what the failing tests executed, where exceptions passed and what the task names.
        values: samples of what its variables held just before it ran, as literals or `<TYPE>`.
    """

    path: str
    line: int
    score: float
    text: str = ""
    values: tuple[Mapping[str, str], ...] = ()


class RepairReport(Struct):
    """What a search for a repair came to.

    Attributes:
        patches: repairs that pass and behave differently, the likely ones first.
        chosen: the place among them of the one that was taken; -1 if none was.
        chosen_by: who took it.
        tried: candidates judged.
        passing: candidates that passed, among those judged before the search stopped.
        compared: others of about the rank of the first were judged, too (else the time was up; one of them may pass).
        complete: every candidate was judged (else the time was up, or a repair was found).
        best_progress: the highest share of the check that a candidate reached, 0 to 1.
        seconds: how long the search took.
        note: why candidates were judged in plain processes; empty if they were not.
        hint: what was tried first because of a hint, in a few words; empty if there was none, or nothing it fits.
        suspects: the most suspicious lines, where these are all that was asked for.
    """

    patches: tuple[Patch, ...] = ()
    chosen: int = -1
    chosen_by: ChosenBy = ""
    tier: RepairTier = "guided"
    tried: int = 0
    passing: int = 0
    compared: bool = True
    complete: bool = False
    best_progress: float = 0.0
    seconds: float = 0.0
    note: str = ""
    hint: str = ""
    suspects: tuple[Suspect, ...] = ()


class RepairRequest(Struct):
    """A task that is a search for a repair and nothing else.

    Attributes:
        files: workspace-relative paths to look in first; empty: those that the check runs.
        every: go on after the first repair, show all that pass, and change nothing.
        pick: take this one of the ranking (1 is the first).
        since: the revision of the repository from which on changes are suspected; empty: as the repository says.
        until: how far to go: what the check says, which lines it speaks against, or a repair.
    """

    files: tuple[str, ...] = ()
    every: bool = False
    pick: int = 1
    since: str = ""
    until: Literal["verdict", "suspects", "repair"] = "repair"

    @property
    def applies(self) -> bool:
        """Whether a repair that is found is to be written."""
        return self.until == "repair" and not self.every
