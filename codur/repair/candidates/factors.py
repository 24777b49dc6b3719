"""How much earlier or later a candidate is judged: all factors of its priority but the priors of the operators.

A priority is suspicion × prior × weight of the proposal × these. What passes is ranked by it, too.

None was measured by itself: they were chosen for the order that they make, and what is recorded was run with all of
them together (`benchmarks/repair.py`, `benchmarks/real_bugs.py`). One below 1 puts candidates off and drops none. Who
changes one runs both, as the order of all candidates changes with it.
"""

MENDED = 10.0
"""The priority of a file that compiles again: nothing else can pass before."""
PER_EDIT = 0.95  # chosen: of equal offers the smaller one first, and no more than that
"""For each edit of a proposal but the first."""

DEFAULT = 0.3  # chosen: of the fixes of 70 bugs in real projects none changed one, and callers outside would notice
"""A change of what a parameter is by default."""

# --- a loop that did not end (hanging_loops.py) -----------------------------------------------------------------------
ENDING = 4.0  # chosen: above the broad operators, whose priors are larger
"""An operator that makes loops end, in a loop that was running when the time was up; the largest factor there."""
IN_TEST = 1.5  # chosen
"""A change of the test of such a `while`."""
ENDLESS = 0.1  # chosen; not 0, because the loop is read by its text
"""A change in a loop that cannot end by it."""

# --- what was done lately (history.py), times the suspicion of the lines ----------------------------------------------
UNDONE = 1.2  # chosen
"""Undoing what is not committed: an operator's offer is at most about as likely."""
PER_COMMIT, PER_LINE = 0.9, 0.98  # chosen: younger and smaller first; seven commits, or 35 lines, halve it
"""For each commit since, and for each line of the change."""
PART = 0.8  # chosen: after the whole, which is what somebody did
"""A part of a change."""
EARLIER = 0.7
"""A function as it was, and its earlier lines: what was done to it since is lost, too."""
TOGETHER = 0.6  # chosen: mostly one hunk is wrong, and it is tried alone
"""All that a commit did to a file."""
NEW = 0.3  # chosen
"""Lines that took the place of none: what uses them would miss them."""
