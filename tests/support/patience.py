"""Limits of time that are reached on purpose: small where the machine is quick, larger where it is busy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LARGER = (1.0, 8.0, 64.0)


def until_begun(attempt: Callable[[float], T], begun: Callable[[T], bool], limit_s: float) -> T:
    """What an attempt within a limit gives; with a larger one if what runs into it had not even begun.

    Args:
        attempt: does it, within so many seconds.
        begun: whether the program that is stopped had come as far as it comes.
        limit_s: the first limit.
    """
    for factor in _LARGER:
        result = attempt(limit_s * factor)
        if begun(result):
            break
    return result
