"""How much earlier or later a candidate is judged: all factors of its priority but the priors of the operators.

A priority is suspicion × prior × weight of the proposal × these. What passes is ranked by it, too.
"""

from __future__ import annotations

MENDED = 10.0
"""The priority of a file that compiles again: nothing else can pass before."""
PER_EDIT = 0.95
"""For each edit of a proposal but the first."""

# --- what the recorded run shows (equivalence.py): how far a value counts that is not new in any sample ---------------
AS_BEFORE = 0.35
"""It is the value that stands there now: the very run that failed."""
AGAIN = 0.6
"""Another candidate for the place has it already."""
MOST_SAMPLES = 16

# --- what judged programs show (angelic.py) ---------------------------------------------------------------------------
LEAST_WAITING = 6
"""So many conditions must wait at a place before it is worth a probe with the condition forced to one truth."""
HOPELESS = 0.05
"""A condition made truer, or less true, where the probe failed as the program did before."""
ENOUGH, ENOUGH_HANGS, IDLE = 4, 2, 0.3
"""After so many candidates for an expression that all failed as the program did, the others count that much."""
HELPED = 1.5
"""The lines on which a candidate brought the check further."""

# --- a loop that did not end (hanging_loops.py) -----------------------------------------------------------------------
ENDING = 4.0
"""An operator that makes loops end, in a loop that was running when the time was up; the largest factor there."""
IN_TEST = 1.5
"""A change of the test of such a `while`."""
ENDLESS = 0.1
"""A change in a loop that cannot end by it."""

# --- what was done lately (history.py), times the suspicion of the lines ----------------------------------------------
UNDONE = 1.2
"""Undoing what is not committed: an operator's offer is at most about as likely."""
PER_COMMIT, PER_LINE = 0.9, 0.98
"""For each commit since, and for each line of the change."""
PART = 0.8
"""A part of a change."""
EARLIER = 0.7
"""A function as it was, and its earlier lines: what was done to it since is lost, too."""
TOGETHER = 0.6
"""All that a commit did to a file."""
NEW = 0.3
"""Lines that took the place of none: what uses them would miss them."""
