"""Less room for calls within calls, so that a tree need not be as deep to be deeper than functions can go."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEEPER = 300
"""Levels of a tree that is deeper than functions can go in `little_recursion`."""


@contextmanager
def little_recursion() -> Iterator[None]:
    """Python raises RecursionError sooner: fewer calls than `DEEPER` go within each other."""
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + DEEPER - 50)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
