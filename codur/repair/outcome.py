"""What a search for a repair ends with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from codur.types import Verdict

RepairTier = Literal["deterministic", "guided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An input on which an alternative answers otherwise than the chosen repair.

    Attributes:
        input: the text on standard input, or the call.
        chosen, other: the two answers, shortened; `!NAME` for an exception.
    """

    input: str
    chosen: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another repair that passes the check.

    Attributes:
        files: new text by path.
        diff: the change as a unified diff.
        explanation: what it does, in a sentence for each edit.
        distinguishing_input: None if no input was found on which it differs from the chosen one.
    """

    files: Mapping[str, str]
    diff: str
    explanation: str
    operators: tuple[str, ...] = ()
    distinguishing_input: Difference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOutcome:
    """What a search ends with.

    Attributes:
        files: new text by path of the files to change; empty if no candidate passed.
        verdict: the passing verdict, or that of the candidate which came furthest; None if none was judged.
        explanation: what the repair does, or why there is none.
        operators: names of the operators used, in order.
        tier: whether one repair clearly wins, or several that pass differ (or nothing tells how sure it is).
        alternatives: other repairs that pass, the likely ones first.
        tried: candidates judged.
        passing: candidates that passed, among those judged before the search stopped.
        best_progress: the highest progress seen, the program as found included.
        exhausted: whether every candidate was judged (else the budget ended the search, or it found a repair).
    """

    files: Mapping[str, str] = field(default_factory=dict)
    verdict: Verdict | None = None
    explanation: str = ""
    operators: tuple[str, ...] = ()
    tier: RepairTier = "guided"
    alternatives: tuple[Alternative, ...] = ()
    tried: int = 0
    passing: int = 0
    best_progress: float = 0.0
    exhausted: bool = False
