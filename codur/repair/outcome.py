"""What a search for a repair ends with."""

from collections.abc import Mapping

from codur.patches import Patch, RepairTier
from codur.structs import Struct
from codur.types import Verdict


class Repair(Struct):
    """A repair that passes the check: new text by path, and the patch that it is."""

    files: Mapping[str, str]
    patch: Patch


class RepairOutcome(Struct):
    """What a search ends with."""

    # those that pass and behave differently, the likely ones first; empty if no candidate passed
    repairs: tuple[Repair, ...] = ()
    # the first one's passing verdict, or that of the candidate which came furthest; None if none was judged
    verdict: Verdict | None = None
    reason: str = ""  # why there is none; empty if there is one
    tier: RepairTier = "guided"  # whether the first one clearly wins
    tried: int = 0  # candidates judged
    # others of about the first one's rank were judged, too; else the time was up, and one of them may pass as well
    compared: bool = True
    passing: int = 0  # candidates that passed, among those judged before the search stopped
    best_progress: float = 0.0  # the highest progress seen, the program as found included
    # whether every candidate was judged (else the budget ended the search, or it found a repair)
    exhausted: bool = False
    note: str = ""  # why candidates were judged in plain processes, or why the first repair was not run again in one
    hint: str = ""  # what was judged earlier because of a hint, in a few words

    @property
    def files(self) -> Mapping[str, str]:
        """New text by path of the files that the first repair changes."""
        return self.repairs[0].files if self.repairs else {}

    @property
    def explanation(self) -> str:
        """What was wrong, or why there is no repair."""
        return self.repairs[0].patch.explanation if self.repairs else self.reason

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators of the first repair."""
        return self.repairs[0].patch.operators if self.repairs else ()
