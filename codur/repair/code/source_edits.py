"""Edits: replaced spans of text, so that everything around them (comments, formatting) stays."""

from collections.abc import Callable, Iterable
from itertools import pairwise

from codur.structs import Struct


class Edit(Struct):
    """The text between two offsets of a file gives way to another; equal offsets insert."""

    path: str  # workspace-relative path of the file
    # start, end: offsets in characters of its text, `start` inclusive and `end` exclusive
    start: int
    end: int
    text: str  # what stands there afterwards


class Proposal(Struct):
    """One change that an operator offers."""

    edits: tuple[Edit, ...]  # what changes; the spans do not overlap
    says: str = ""  # predicate of the explaining sentence, e.g. "stops one short of `end`"; empty: "should be `NEW`".
    weight: float = 1.0  # how likely it is among the offers of its operator, 0 to 1


def overlap(edits: Iterable[Edit]) -> bool:
    """Whether two of the edits touch the same characters, or insert at the same place."""
    ordered = sorted(edits, key=lambda edit: (edit.path, edit.start, edit.end))
    return any(
        first.path == second.path and (first.end > second.start or first.start == second.start)
        for first, second in pairwise(ordered)
    )


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits (all of one file, in any order) made. Raises ValueError if they overlap."""
    ordered = sorted(edits, key=lambda edit: edit.start, reverse=True)
    if overlap(ordered):
        raise ValueError("the edits overlap")
    for edit in ordered:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def replacement(old: str, new: str) -> tuple[int, int, str]:
    """What makes one text of another: start and end of what is replaced, and what stands there then."""
    start = _same(len(old), len(new), lambda size: old[:size] == new[:size])
    rest = min(len(old), len(new)) - start
    tail = _same(rest, rest, lambda size: old[len(old) - size :] == new[len(new) - size :])
    return start, len(old) - tail, new[start : len(new) - tail]


def _same(one: int, other: int, equal: Callable[[int], bool]) -> int:
    """The largest size up to which two texts are equal; found by halving, as comparing in one piece is quick."""
    low, high = 0, min(one, other)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if equal(middle) else (low, middle - 1)
    return low
