"""Edits: replaced spans of text, so that everything around them (comments, formatting) stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The text between two offsets of a file gives way to another; equal offsets insert.

    Attributes:
        path: workspace-relative path of the file.
        start, end: offsets in characters of its text, `start` inclusive and `end` exclusive.
        text: what stands there afterwards.
    """

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change that an operator offers.

    Attributes:
        edits: what changes; the spans do not overlap.
        says: predicate of the explaining sentence, e.g. "stops one short of `end`"; empty: "should be `NEW`".
        weight: how likely it is among the offers of its operator, 0 to 1.
    """

    edits: tuple[Edit, ...]
    says: str = ""
    weight: float = 1.0


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
