"""Diffs of file contents."""

from __future__ import annotations

import pytest

from codur.workspace.diff import line_counts


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (b"a\nb\n", b"a\nc\n", (1, 1)),
        (None, b"a\nb\n", (2, 0)),
        (b"a\nb\n", None, (0, 2)),
        (b"-- x\n", b"++ y\n", (1, 1)),
        (b"a\n", b"a\n", (0, 0)),
    ],
)
def test_line_counts(before: bytes | None, after: bytes | None, counts: tuple[int, int]) -> None:
    assert line_counts(before, after) == counts
