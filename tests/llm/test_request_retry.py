"""Waits in words."""

from __future__ import annotations

import pytest

from codur.llm.request_retry import spoken


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (45, "45 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3500, "59 min"),
        (3600, "1 h 0 min"),
        (11_100, "3 h 5 min"),
    ],
)
def test_a_wait_is_told_in_words(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
