"""The table of cases is whole, and what it names is there."""

from __future__ import annotations

from tests.adversarial.ids import ALL_IDS, faults


def test_every_case_is_shown_or_says_why_not() -> None:
    assert len(ALL_IDS) == 174
    assert faults() == []
